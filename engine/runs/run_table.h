// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/recipe_diff.h"
#include "engine/runs/run_record.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

inline constexpr std::size_t kLeastRuns = 2, kMostRuns = 4;
/// Titles of a run's nodes.
RecordedTitles titlesOf(const RunRecord& run);
/// "A" for the first run.
std::string runLetter(std::size_t run);

/// One node in the runs that have it.
struct RunRow
{
    /// Against the first run. A node is changed where its verdict, qconfig or dtype is another;
    /// numbers alone change nothing.
    enum class State
    {
        Same,
        Changed,
        Added, ///< the first run has no counterpart
        Removed ///< a later run has none
    };
    State state = State::Same;
    std::string name, op, module; ///< of the first run that has it
    std::string title; ///< what readers call it (`RecordedTitles`)
    int callIndex = 0;
    /// By run; null where it has no counterpart, or where a foreign file was not compared there.
    std::vector<const RunNode*> nodes;
    /// By run: the run says that the node has no counterpart in it.
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
        Difference ///< of `run` less the first run
    };
    Kind kind = Kind::State;
    std::size_t run = 0;
    ErrorTerm term = ErrorTerm::BornHere;
    std::size_t metric = 0; ///< of `kRunMetrics`
    /// By which a command line names it: "node", "B.qconfig", "A.born_here.sqnr_db",
    /// "B-A.cumulative.sqnr_db".
    std::string key;
    std::string title; ///< "B born here dB"
    bool isNumber() const { return kind == Kind::Metric || kind == Kind::Difference; }
};

/// Two to four runs side by side: one row a node, in graph order; nodes that the first run lacks
/// come after their predecessor. A value; shares the runs.
class RunTable
{
public:
    const std::vector<RunRecordPtr>& runs() const { return m_runs; }
    const std::vector<RunRow>& rows() const { return m_rows; }
    const std::vector<RunColumn>& columns() const { return m_columns; }
    /// The recipe of a later run against the first one's; one line in words where one of them has
    /// none.
    std::vector<std::string> recipeLines(std::size_t run) const;

    /// A cell that is a word; "" if it is empty.
    std::string word(std::size_t row, const RunColumn& column) const;
    /// A cell that is a number; nothing where a run has none.
    std::optional<double> number(std::size_t row, const RunColumn& column) const;
    /// "same", "changed", "only in A", "in A and C, not in B".
    std::string stateText(const RunRow& row) const;
    /// Null where no column has that key.
    const RunColumn* tryColumn(std::string_view key) const;

    /// Row numbers, sorted by a column; cells without a value last, else in graph order.
    std::vector<std::size_t> sortedBy(const RunColumn& column, bool descending = false) const;
    /// Those that lost most against the first run, cumulative in any later run, first.
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

/// Errors (Usage): fewer than two runs or more than four.
Result<RunTable> matchRuns(std::vector<RunRecordPtr> runs);

/// For each row the same node of a graph; invalid if it lacks it.
std::vector<NodeId> rowNodes(const RunTable& table, const Graph& model);

/// The whole table as `diff --json` prints it: runs with their headlines, recipe differences, rows.
std::string runTableJson(const RunTable& table, const std::vector<std::size_t>& rows);
/// The rows with every column (RFC 4180), numbers in full.
std::string runTableCsv(const RunTable& table, const std::vector<std::size_t>& rows);

} // namespace qs
