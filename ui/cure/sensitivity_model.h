// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/blame/diagnosis.h"
#endif

#include "ui/models/table_model.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace qs {

class Workspace;

/// What a unit costs the outputs, and what it would cost to keep it float. A value.
struct UnitSensitivity
{
    UnitNoise noise;
    double gainDb = 0; ///< predicted, if this unit alone were float
    double macs = 0; ///< its share of the model's multiplications
    QString state; ///< whether the plan quantizes it now
};

/// The units of the document's diagnosis with their noise, gain and multiplications; numbers under
/// Qt::UserRole. Chosen rows are the selection. GUI thread only.
class SensitivityModel : public TableModel
{
    Q_OBJECT

public:
    enum Column
    {
        UnitColumn,
        NoiseColumn,
        GainColumn,
        MacsColumn,
        StateColumn
    };
    static constexpr int kColumns = StateColumn + 1;
    enum class State
    {
        NoModel,
        Uncalibrated,
        NotSearched,
        Searching,
        Empty, ///< nothing is quantized
        Found
    };

    explicit SensitivityModel(Workspace& workspace, QObject* parent = nullptr);

    State state() const;
    /// One sentence on the state; empty if there are rows to show.
    QString stateText() const;
    /// Why the rows belong to other decisions; empty if they are current.
    QString staleReason() const;
    const std::vector<UnitSensitivity>& units() const { return m_units; }
    QString titleOf(int row) const;
    /// The node under "12.5 ± 0.8 % of the noise, 3.1 % of the multiplications".
    QString describe(int row) const;
    /// Selects the units of these rows.
    void choose(const std::vector<int>& rows);
    /// Rows whose node is selected, in order.
    std::vector<int> selectedRows() const;

    QVariant data(const QModelIndex& index, int role) const override;

Q_SIGNALS:
    /// Rows, cells or state changed.
    void changed();
    /// Nodes were selected: bring them into view.
    void revealWanted();

protected:
    std::size_t rows() const override { return m_units.size(); }
    QVariant cell(int row, int column) const override;

private:
    static TableColumns columnsOf();
    void refresh();
    std::vector<UnitSensitivity> unitsNow();
    QString stateOf(NodeId node) const;

    Workspace& m_workspace;
    DiagnosisPtr m_diagnosis; ///< of the rows
    GraphPtr m_model; ///< of the rows
    std::unordered_map<NodeId, std::int64_t>
        m_macs; ///< of the model; counted with the first diagnosis
    std::vector<UnitSensitivity> m_units;
};

} // namespace qs
