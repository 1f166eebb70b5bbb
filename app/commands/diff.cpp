// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/options/run_argument.h"
#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/files/atomic_file.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/runs/run_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

using State = RunRow::State;

struct DiffOptions
{
    std::vector<std::string> runs;
    std::string csv, sort;
    bool json = false, changed = false, descending = false;
};

std::string signedText(const std::optional<double>& value)
{
    if (!value)
        return "";
    return (*value > 0 ? "+" : "") + fixedText(*value, 2);
}

std::string percent(const std::optional<double>& part)
{
    return part ? fixedText(100 * *part, 2) + " %" : "-";
}

std::string headlineText(const RunTable& table)
{
    TextTable text({"run", "name", "made", "model", "decisions", ">output dB", ">reference dB",
                    ">top-1", ">agreement", ">int8 ops", ">weights"});
    for (std::size_t i = 0; i < table.runs().size(); ++i) {
        const RunRecord& run = *table.runs()[i];
        const ResultFigures& head = run.headline;
        const auto agreement = head.agreement ? std::optional(head.agreement->top1) : std::nullopt;
        text.add({runLetter(i), run.label.name, run.label.created,
                  run.modelSha256.substr(0, 8) + (run.isEdited() ? ", edited" : ""),
                  run.recipe            ? recipeInWords(*run.recipe)
                      : run.isForeign() ? "another program's"
                                        : "-",
                  sqnrCell(head.outputDb()), sqnrCell(head.referenceDb()), percent(head.int8Top1),
                  percent(agreement),
                  head.quantizedOps ? std::to_string(*head.quantizedOps) + " of "
                          + std::to_string(head.eligibleOps.value_or(0))
                                    : "-",
                  head.int8Bytes ? bytesText(double(*head.int8Bytes)) : "-"});
    }
    return text.text();
}

std::string recipesText(const RunTable& table)
{
    std::string text;
    for (std::size_t run = 1; run < table.runs().size(); ++run) {
        const auto lines = table.recipeLines(run);
        text += "\nDecisions of A ► " + runLetter(run) + (lines.empty() ? ": the same\n" : ":\n");
        for (const std::string& line : lines)
            text += "  " + line + "\n";
    }
    return text;
}

/// Returns a node's decision in each run, "x86 ► float"; once if all are equal.
std::string decisionText(const RunRow& row)
{
    std::string text, last;
    for (const RunNode* node : row.nodes) {
        if (!node || node->verdict.empty())
            continue;
        const std::string own = node->qconfig + (node->dtype.empty() ? "" : " " + node->dtype);
        if (own != last)
            text += (text.empty() ? "" : " ► ") + own;
        last = own;
    }
    return text;
}

bool isEverywhere(const RunRow& row)
{
    return row.state == State::Same || row.state == State::Changed;
}

std::string rowsText(const RunTable& table, const std::vector<std::size_t>& order)
{
    std::vector<const RunColumn*> shown;
    std::vector<std::string> titles {"state", "layer", "decision"};
    for (const ErrorTerm term : {ErrorTerm::BornHere, ErrorTerm::Cumulative})
        for (const RunColumn& column : table.columns())
            if (column.isNumber() && column.term == term && column.metric == 0) {
                shown.push_back(&column);
                titles.push_back('>' + column.title);
            }
    TextTable text(titles);
    std::string alone;
    for (const std::size_t place : order) {
        const RunRow& row = table.rows()[place];
        if (!isEverywhere(row)) {
            const bool isBare = row.title == row.name && !row.op.empty();
            alone += "  " + row.title + (isBare ? " (" + row.op + ")" : "") + ": "
                + table.stateText(row) + "\n";
            continue;
        }
        std::vector<std::string> cells {table.stateText(row), row.title, decisionText(row)};
        for (const RunColumn* column : shown) {
            const auto value = table.number(place, *column);
            cells.push_back(column->kind == RunColumn::Kind::Difference ? signedText(value)
                                                                        : sqnrCell(value));
        }
        text.add(std::move(cells));
    }
    std::string out = "\n" + (text.empty() ? "no node to show\n" : text.text());
    return alone.empty() ? out : out + "\nWithout a counterpart:\n" + alone;
}

Result<std::vector<std::size_t>> orderOf(const RunTable& table, const DiffOptions& options)
{
    std::vector<std::size_t> order = table.worstFirst();
    if (!options.sort.empty()) {
        const RunColumn* column = table.tryColumn(options.sort);
        if (!column) {
            std::vector<std::string> keys;
            for (const RunColumn& known : table.columns())
                keys.push_back(known.key);
            return fail(
                makeError(ErrorCode::Usage, "--sort: there is no column " + inQuotes(options.sort))
                    .withHint(suggestName(options.sort, keys)));
        }
        order = table.sortedBy(*column, options.descending);
    }
    if (options.changed)
        std::erase_if(order,
                      [&](std::size_t row) { return table.rows()[row].state == State::Same; });
    return order;
}

Result<void> runDiff(const DiffOptions& options)
{
    std::vector<RunRecordPtr> runs;
    for (const std::string& word : options.runs) {
        QS_TRY(RunRecordPtr run, runArgument(word));
        runs.push_back(std::move(run));
    }
    QS_TRY(const RunTable table, matchRuns(std::move(runs)));
    QS_TRY(const std::vector<std::size_t> order, orderOf(table, options));
    if (!options.csv.empty())
        QS_CHECK(writeFileAtomically(options.csv, runTableCsv(table, order)));
    return printOut(options.json
                        ? runTableJson(table, order)
                        : headlineText(table) + recipesText(table) + rowsText(table, order));
}

} // namespace

void addDiffCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<DiffOptions>();
    CLI::App* verb = app.add_subcommand(
        "diff", "Puts two to four results side by side: decisions, figures, node by node");
    verb->add_option("RUN", options->runs,
                     "a result folder, a project, PROJECT:NAME of a run that it keeps, or what "
                     "'compare --json' printed of a quantized file")
        ->required()
        ->expected(int(kLeastRuns), int(kMostRuns))
        ->type_name("(two to four)");
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->add_option("--csv", options->csv, "write the rows with all columns as a table");
    verb->add_option("--sort", options->sort,
                     "a column: node, state, B.qconfig, A.born_here.sqnr_db, "
                     "B-A.cumulative.mse ...; else what lost most comes first");
    verb->add_flag("--descending", options->descending, "with --sort: the greatest first");
    verb->add_flag("--changed", options->changed,
                   "only nodes that were decided otherwise, or have no counterpart");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun&) { return runDiff(*options); };
    });
}

} // namespace qs
