// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/recipe_diff.h"
#include "engine/runs/run_record.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

inline constexpr std::size_t kLeastRuns = 2, kMostRuns = 4;
/// Returns the titles of a run's nodes.
RecordedTitles titlesOf(const RunRecord& run);
/// Returns the letter of a run: "A" for the first.
std::string runLetter(std::size_t run);

/// One node with its counterparts in the runs.
struct RunRow
{
    /// State compared with the first run. A node is changed if its verdict, qconfig or dtype
    /// differs; numbers are not considered.
    enum class State
    {
        Same,
        Changed,
        Added, ///< the first run has no counterpart
        Removed ///< a later run has no counterpart
    };
    State state = State::Same;
    std::string name, op, module; ///< from the first run that has the node
    std::string title; ///< title for users (`RecordedTitles`)
    int callIndex = 0;
    /// By run; null if it has no counterpart, or if a foreign file was not compared there.
    std::vector<const RunNode*> nodes;
    /// By run: true if the run states that the node has no counterpart.
    std::vector<bool> isMissing;
};
std::string_view runStateName(RunRow::State state);

/// Content of one column of the table.
struct RunColumn
{
    enum class Kind
    {
        State,
        Node,
        Operator,
        Module,
        Verdict,
        QConfig,
        DType,
        Metric, ///< of `run`
        Difference ///< `run` minus the first run
    };
    Kind kind = Kind::State;
    std::size_t run = 0;
    ErrorTerm term = ErrorTerm::BornHere;
    std::size_t metric = 0; ///< index into `kRunMetrics`
    /// Name on the command line: "node", "B.qconfig", "A.born_here.sqnr_db",
    /// "B-A.cumulative.sqnr_db".
    std::string key;
    std::string title; ///< "B born here dB"
    bool isNumber() const { return kind == Kind::Metric || kind == Kind::Difference; }
};

/// Two to four runs side by side: one row per node, in graph order; nodes missing in the first run
/// follow their predecessor. A value type; shares the runs.
class RunTable
{
public:
    const std::vector<RunRecordPtr>& runs() const { return m_runs; }
    const std::vector<RunRow>& rows() const { return m_rows; }
    const std::vector<RunColumn>& columns() const { return m_columns; }
    /// Returns the differences of a later run's recipe from the first one's; a single explanatory
    /// line if one of them has no recipe.
    std::vector<std::string> recipeLines(std::size_t run) const;

    /// Returns a text cell; "" if empty.
    std::string word(std::size_t row, const RunColumn& column) const;
    /// Returns a number cell; nullopt if a run has none.
    std::optional<double> number(std::size_t row, const RunColumn& column) const;
    /// "same", "changed", "only in A", "in A and C, not in B".
    std::string stateText(const RunRow& row) const;
    /// Null if no column has that key.
    const RunColumn* tryColumn(std::string_view key) const;

    /// Returns row numbers sorted by a column; cells without a value last; ties in graph order.
    std::vector<std::size_t> sortedBy(const RunColumn& column, bool descending = false) const;
    /// Returns row numbers by the largest cumulative loss of any later run against the first run,
    /// worst first.
    std::vector<std::size_t> worstFirst() const;

private:
    friend Result<RunTable> matchRuns(std::vector<RunRecordPtr> runs);
    void addRun(std::size_t run);
    void addColumns();
    void decideStates();
    void giveTitles();

    std::vector<RunRecordPtr> m_runs;
    std::vector<RunRow> m_rows;
    std::vector<RunColumn> m_columns;
};

/// Matches the runs' nodes. Fails (Usage) for fewer than two or more than four runs.
Result<RunTable> matchRuns(std::vector<RunRecordPtr> runs);

/// Returns, for each row, the same node of a graph; invalid if the graph lacks it.
std::vector<NodeId> rowNodes(const RunTable& table, const Graph& model);

/// Returns the table in the format of `diff --json`: runs with their headlines, recipe differences,
/// rows.
std::string runTableJson(const RunTable& table, const std::vector<std::size_t>& rows);
/// Returns the rows with all columns as CSV (RFC 4180), numbers with full precision.
std::string runTableCsv(const RunTable& table, const std::vector<std::size_t>& rows);

} // namespace qs
