// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/run_table.h"

#include "engine/runs/node_match.h"

#include <algorithm>

namespace qs {

namespace {

using Kind = RunColumn::Kind;
using State = RunRow::State;

/// True for operators, and for parameters and inputs with errors.
bool isShown(const RunNode& node)
{
    return node.isOperator()
        || std::any_of(kErrorTerms.begin(), kErrorTerms.end(),
                       [&](ErrorTerm term) { return node.errors.term(term).has_value(); });
}

bool isDecidedOtherwise(const RunNode& a, const RunNode& b)
{
    if (a.verdict.empty() || b.verdict.empty()) // from another program
        return false;
    return a.verdict != b.verdict || a.qconfig != b.qconfig || a.dtype != b.dtype;
}

std::string words(ErrorTerm term)
{
    std::string text(errorTermName(term));
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

std::string joinedLetters(const std::vector<std::size_t>& runs)
{
    std::string text;
    for (std::size_t i = 0; i < runs.size(); ++i)
        text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runLetter(runs[i]);
    return text;
}

/// Returns a row's identity for a file: its name there, else the first run's.
const NodeIdentity* identityFor(const RunRow& row, const std::string& file)
{
    const NodeIdentity* best = nullptr;
    for (const RunNode* node : row.nodes)
        if (node && (!best || node->file == file))
            best = node;
    return best;
}

} // namespace

RecordedTitles titlesOf(const RunRecord& run)
{
    std::vector<const NodeIdentity*> nodes;
    for (const RunNode& node : run.nodes)
        nodes.push_back(&node);
    return RecordedTitles(nodes);
}

std::string runLetter(std::size_t run)
{
    return {char('A' + run)};
}

std::string_view runStateName(State state)
{
    static constexpr std::string_view kNames[] = {"same", "changed", "added", "removed"};
    return kNames[int(state)];
}

Result<RunTable> matchRuns(std::vector<RunRecordPtr> runs)
{
    if (runs.size() < kLeastRuns || runs.size() > kMostRuns)
        return fail(ErrorCode::Usage, "two to four runs can be shown side by side");
    RunTable table;
    table.m_runs = std::move(runs);
    for (std::size_t run = 0; run < table.m_runs.size(); ++run)
        table.addRun(run);
    std::erase_if(table.m_rows, [](const RunRow& row) {
        return std::none_of(row.nodes.begin(), row.nodes.end(),
                            [](const RunNode* node) { return node && isShown(*node); });
    });
    table.decideStates();
    table.giveTitles();
    table.addColumns();
    return table;
}

std::vector<NodeId> rowNodes(const RunTable& table, const Graph& model)
{
    const std::vector<NodeIdentity> identities = identitiesOf(model);
    std::vector<const NodeIdentity*> own, known;
    for (const NodeIdentity& identity : identities)
        own.push_back(&identity);
    for (const RunRow& row : table.rows())
        known.push_back(identityFor(row, model.info().sha256));
    std::vector<NodeId> out;
    for (const int place : matchNodes(own, known))
        out.push_back(place < 0 ? NodeId() : model.tryFind(own[std::size_t(place)]->name)->id);
    return out;
}

/// Matches a run's nodes to rows by the names in any run and by the identity in the row's first
/// run.
void RunTable::addRun(std::size_t run)
{
    std::vector<const NodeIdentity*> known, own;
    for (const RunRow& row : m_rows)
        known.push_back(identityFor(row, m_runs[run]->modelSha256));
    for (const RunNode& node : m_runs[run]->nodes)
        own.push_back(&node);
    const std::vector<int> places = matchNodes(known, own);
    // New nodes get a row after that of the preceding node.
    std::vector<std::vector<RunRow>> after(m_rows.size() + 1);
    std::size_t last = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const RunNode& node = m_runs[run]->nodes[i];
        if (places[i] >= 0) {
            last = std::size_t(places[i]) + 1;
            RunRow& row = m_rows[last - 1];
            row.nodes[run] = &node;
            if (row.op.empty() && !node.op.empty()) {
                row.op = node.op;
                row.module = node.module;
                row.callIndex = node.callIndex;
            }
            continue;
        }
        RunRow row;
        row.name = node.name;
        row.op = node.op;
        row.module = node.module;
        row.callIndex = node.callIndex;
        row.nodes.resize(m_runs.size());
        row.nodes[run] = &node;
        after[last].push_back(std::move(row));
    }
    std::vector<RunRow> all;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (i > 0)
            all.push_back(std::move(m_rows[i - 1]));
        std::move(after[i].begin(), after[i].end(), std::back_inserter(all));
    }
    m_rows = std::move(all);
}

void RunTable::decideStates()
{
    for (RunRow& row : m_rows) {
        row.isMissing.resize(m_runs.size());
        for (std::size_t run = 0; run < m_runs.size(); ++run) {
            const RunNode* node = row.nodes[run];
            // A foreign file's document lists nodes without counterpart.
            row.isMissing[run] = node ? node->isMissing : !m_runs[run]->isForeign();
            if (!node && m_runs[run]->isForeign())
                row.isMissing[run]
                    = std::none_of(row.nodes.begin(), row.nodes.end(), [&](const RunNode* other) {
                          return other && other->file == m_runs[run]->modelSha256;
                      });
            if (row.isMissing[run])
                row.nodes[run] = nullptr;
        }
        const auto isGone = [&](std::size_t run) { return bool(row.isMissing[run]); };
        const RunNode* first = row.nodes.front();
        for (std::size_t run = 1; run < m_runs.size(); ++run) {
            if (isGone(run))
                row.state = State::Removed;
            else if (row.state == State::Same && first && row.nodes[run]
                     && isDecidedOtherwise(*first, *row.nodes[run]))
                row.state = State::Changed;
        }
        if (isGone(0))
            row.state = State::Added;
    }
    // Remove rows of nodes that no run has any more.
    std::erase_if(m_rows, [](const RunRow& row) {
        return std::none_of(row.nodes.begin(), row.nodes.end(),
                            [](const RunNode* node) { return node != nullptr; });
    });
}

void RunTable::giveTitles()
{
    for (RunRow& row : m_rows)
        row.title = row.name;
    // The first run last, so that its titles take precedence.
    for (std::size_t run = m_runs.size(); run-- > 0;) {
        const RecordedTitles titles = titlesOf(*m_runs[run]);
        for (RunRow& row : m_rows)
            if (const RunNode* node = row.nodes[run])
                row.title = titles.of(node->name);
    }
}

void RunTable::addColumns()
{
    const auto add = [this](Kind kind, std::size_t run, std::string key, std::string title,
                            ErrorTerm term = {}, std::size_t metric = 0) {
        m_columns.push_back({kind, run, term, metric, std::move(key), std::move(title)});
    };
    add(Kind::State, 0, "state", "state");
    add(Kind::Node, 0, "node", "node");
    add(Kind::Operator, 0, "operator", "operator");
    add(Kind::Module, 0, "module", "module");
    for (std::size_t run = 0; run < m_runs.size(); ++run) {
        const std::string letter = runLetter(run);
        add(Kind::Verdict, run, letter + ".verdict", letter + " verdict");
        add(Kind::QConfig, run, letter + ".qconfig", letter + " qconfig");
        add(Kind::DType, run, letter + ".dtype", letter + " dtype");
    }
    static constexpr const char* kWords[] = {"dB", "cosine", "MSE", "max"};
    for (const ErrorTerm term : kErrorTerms)
        for (std::size_t metric = 0; metric < kRunMetrics.size(); ++metric) {
            const std::string key
                = '.' + std::string(errorTermName(term)) + '.' + std::string(kRunMetrics[metric]);
            const std::string title = ' ' + words(term) + ' ' + kWords[metric];
            for (std::size_t run = 0; run < m_runs.size(); ++run)
                add(Kind::Metric, run, runLetter(run) + key, runLetter(run) + title, term, metric);
            for (std::size_t run = 1; run < m_runs.size(); ++run)
                add(Kind::Difference, run, runLetter(run) + "-A" + key,
                    runLetter(run) + " − A" + title, term, metric);
        }
}

std::vector<std::string> RunTable::recipeLines(std::size_t run) const
{
    const RunRecord &first = *m_runs.front(), &other = *m_runs[run];
    for (const std::size_t side : {std::size_t(0), run})
        if (!m_runs[side]->recipe)
            return {runLetter(side)
                    + (m_runs[side]->isForeign() ? " has no recipe: another program quantized it"
                                                 : " has no recipe beside it")};
    std::vector<std::string> lines;
    for (const RecipeDifference& difference :
         diffRecipes(*first.recipe, *other.recipe, titlesOf(other)))
        lines.push_back(difference.text());
    return lines;
}

std::string RunTable::stateText(const RunRow& row) const
{
    std::vector<std::size_t> here, gone;
    for (std::size_t run = 0; run < m_runs.size(); ++run)
        (row.isMissing[run] ? gone : here).push_back(run);
    if (gone.empty())
        return std::string(runStateName(row.state));
    return here.size() == 1 ? "only in " + joinedLetters(here)
                            : "in " + joinedLetters(here) + ", not in " + joinedLetters(gone);
}

std::string RunTable::word(std::size_t place, const RunColumn& column) const
{
    const RunRow& row = m_rows[place];
    const RunNode* node = row.nodes[column.run];
    switch (column.kind) {
    case Kind::State:
        return stateText(row);
    case Kind::Node:
        return row.name;
    case Kind::Operator:
        return row.op;
    case Kind::Module:
        return row.module;
    case Kind::Verdict:
        return node ? node->verdict : std::string();
    case Kind::QConfig:
        return node ? node->qconfig : std::string();
    case Kind::DType:
        return node ? node->dtype : std::string();
    default:
        return {};
    }
}

std::optional<double> RunTable::number(std::size_t place, const RunColumn& column) const
{
    const auto of = [&](std::size_t run) -> std::optional<double> {
        const RunNode* node = m_rows[place].nodes[run];
        if (!node || !node->errors.term(column.term))
            return std::nullopt;
        return metricOf(*node->errors.term(column.term), column.metric);
    };
    if (!column.isNumber())
        return std::nullopt;
    const auto own = of(column.run);
    if (column.kind == Kind::Metric || !own)
        return own;
    const auto first = of(0);
    return first ? std::optional(*own - *first) : std::nullopt;
}

const RunColumn* RunTable::tryColumn(std::string_view key) const
{
    const auto it = std::find_if(m_columns.begin(), m_columns.end(),
                                 [&](const RunColumn& column) { return column.key == key; });
    return it == m_columns.end() ? nullptr : &*it;
}

std::vector<std::size_t> RunTable::sortedBy(const RunColumn& column, bool descending) const
{
    std::vector<std::size_t> order(m_rows.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (!column.isNumber()) {
            const std::string left = word(a, column), right = word(b, column);
            if (left.empty() != right.empty())
                return right.empty();
            return descending ? right < left : left < right;
        }
        const auto left = number(a, column), right = number(b, column);
        if (!left || !right)
            return left.has_value() && !right;
        return descending ? *right < *left : *left < *right;
    });
    return order;
}

std::vector<std::size_t> RunTable::worstFirst() const
{
    std::vector<std::optional<double>> least(m_rows.size());
    for (const RunColumn& column : m_columns)
        if (column.kind == Kind::Difference && column.term == ErrorTerm::Cumulative
            && column.metric == 0)
            for (std::size_t row = 0; row < m_rows.size(); ++row)
                if (const auto value = number(row, column))
                    least[row] = std::min(least[row].value_or(*value), *value);
    std::vector<std::size_t> order(m_rows.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (!least[a] || !least[b])
            return least[a].has_value() && !least[b];
        return *least[a] < *least[b];
    });
    return order;
}

} // namespace qs
