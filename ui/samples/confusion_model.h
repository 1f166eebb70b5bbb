// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/compare/metrics/sample_errors.h"
#endif

#include <QAbstractTableModel>

#include <vector>

namespace qs {

/// Counts of samples by class: a row for each class of the float model, or for each label; a column
/// for each class of the int8 model. With more than `kMostClasses` only those with the most samples
/// off the diagonal. GUI thread only.
class ConfusionModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    static constexpr std::size_t kMostClasses = 40;
    /// The count divided by the greatest off the diagonal, a double; invalid on the diagonal and
    /// without samples.
    static constexpr int kShareRole = Qt::UserRole + 1;

    using QAbstractTableModel::QAbstractTableModel;

    /// Shows counts by label or by class of the float model; null: nothing.
    void show(const ClassCounts* counts, bool ofLabels);

    bool isOfLabels() const { return m_isOfLabels; }
    std::int64_t rowClass(int row) const { return m_rows[std::size_t(row)]; }
    std::int64_t columnClass(int column) const { return m_columns[std::size_t(column)]; }
    std::int64_t count(int row, int column) const;
    /// "label 3, int8 5: 2 samples"
    QString describe(int row, int column) const;
    /// Which classes are shown, and how many samples are off the diagonal: "1 of 360 changed".
    QString note() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void chooseClasses(std::int64_t classes);

    PairCounts m_counts;
    std::vector<std::int64_t> m_rows, m_columns; ///< classes, ascending
    std::int64_t m_most = 0; ///< the greatest count off the diagonal
    std::int64_t m_classes = 0;
    std::size_t m_differing = 0; ///< classes with samples off the diagonal
    bool m_isOfLabels = false;
    bool m_isWhole = true; ///< all classes are shown
};

} // namespace qs
