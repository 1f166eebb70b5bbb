// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/compare/metrics/sample_errors.h"
#include "engine/pipeline/stages.h"
#endif
#include "ui/models/table_model.h"

#include <optional>

namespace qs {

class SamplePictures;
class Workspace;

/// A cell of the confusion matrix: the samples with both classes. A value.
struct ClassPair
{
    bool isOfLabels = false; ///< the row is a label, else a class of the float model
    std::int64_t row = 0, int8Class = 0;
    bool holds(const SampleRecord& record) const;
    friend bool operator==(const ClassPair&, const ClassPair&) = default;
};

/// The worst samples of the shown comparison. GUI thread only.
class SampleTable : public TableModel
{
    Q_OBJECT

public:
    enum Column
    {
        PictureColumn, ///< painted by the view
        SampleColumn,
        ErrorColumn,
        LabelColumn,
        FloatColumn,
        ChangeColumn, ///< a mark between the classes that differ
        Int8Column
    };
    static constexpr int kColumns = Int8Column + 1;
    enum class State
    {
        NoModel,
        Uncalibrated, ///< or without data
        Uncompared,
        Empty, ///< the comparison has no samples
        Found
    };

    explicit SampleTable(Workspace& workspace, QObject* parent = nullptr);

    State state() const;
    /// Text in place of the samples; empty if there are any.
    QString stateText() const;
    /// What the samples are of, if not of the current result: "out of date, recipe changed", or the
    /// run that is shown.
    QString remark() const;
    bool isStale() const;

    /// Null without any.
    const SampleErrorsPtr& errors() const { return m_errors; }
    /// Of the comparison.
    std::int64_t samples() const { return m_samples; }
    const SampleRecord& record(int row) const { return m_errors->worst[std::size_t(row)]; }
    bool hasClasses() const { return m_errors && m_errors->classes; }
    bool hasLabels() const { return hasClasses() && !m_errors->classes->labelFloat.empty(); }
    /// "sample 17: 12.3 dB, label 3, float 3, int8 5"
    QString describe(int row) const;
    /// Model and data that the samples are of; no model if they are not of the open one.
    SampleInputsRequest source() const;
    /// True if they are samples of the data that the window inspects values on.
    bool isOfDocument() const;

    QVariant data(const QModelIndex& index, int role) const override;

Q_SIGNALS:
    /// Samples, state or remark changed.
    void changed();

protected:
    std::size_t rows() const override { return m_errors ? m_errors->worst.size() : 0; }
    QVariant cell(int row, int column) const override;

private:
    static TableColumns columnsOf();
    void refresh();

    Workspace& m_workspace;
    SampleErrorsPtr m_errors;
    std::int64_t m_samples = 0;
};

} // namespace qs
