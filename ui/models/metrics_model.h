// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/compare/unit_latency.h"
#include "ui/session/facts.h"
#endif

#include "ui/models/table_model.h"

#include <map>
#include <optional>
#include <vector>

namespace qs {

class Workspace;

/// Every measured node with all its metrics, in graph order; numbers under Qt::UserRole. GUI thread
/// only.
class MetricsModel : public TableModel
{
    Q_OBJECT

public:
    enum Column
    {
        NodeColumn,
        OperatorColumn,
        ModuleColumn,
        QConfigColumn,
        StepColumn,
        FirstMetric ///< four terms, each with four metrics
    };
    static constexpr int kMetrics = 4;
    static constexpr int kKlColumn = FirstMetric + 4 * kMetrics;
    /// Largest difference in steps between the lowered and the reference form, each run as a whole.
    static constexpr int kStepsApartColumn = kKlColumn + 1;
    /// The unit's share of the outputs' noise, after the user searched for causes.
    static constexpr int kNoiseColumn = kStepsApartColumn + 1;
    /// Milliseconds per batch (`unitLatencies`).
    static constexpr int kFloatTimeColumn = kNoiseColumn + 1;
    static constexpr int kInt8TimeColumn = kFloatTimeColumn + 1;
    static constexpr int kConversionTimeColumn = kInt8TimeColumn + 1;
    static constexpr int kColumns = kConversionTimeColumn + 1;

    explicit MetricsModel(Workspace& workspace, QObject* parent = nullptr);

    /// Updates to the comparison that the workspace shows.
    void refresh();
    NodeId nodeOf(int row) const { return m_rows[std::size_t(row)]; }
    /// The exact number of a cell; empty for a text or an empty cell.
    std::optional<double> number(int row, int column) const;

    QVariant data(const QModelIndex& index, int role) const override;

protected:
    std::size_t rows() const override { return m_rows.size(); }
    QVariant cell(int row, int column) const override;

private:
    static TableColumns columnsOf();
    /// The text of a cell. `shown`: displayed form, else the form of the command line's table.
    QString word(int row, int column, bool shown) const;
    QString noiseText(int row) const;
    QString sampledText(int row, int column, int role) const;
    /// Updates the times from the current result; a shown run has none.
    void takeTimes();
    std::optional<double> milliseconds(NodeId node, int column) const;

    Workspace& m_workspace;
    ComparisonPtr m_comparison; ///< of the rows
    std::vector<NodeId> m_rows;
    std::map<NodeId, double> m_stepsApart; ///< the largest, by node
    ComparisonPtr m_timed; ///< of the latencies; null without any
    std::map<NodeId, UnitLatency> m_latencies;
};

} // namespace qs
