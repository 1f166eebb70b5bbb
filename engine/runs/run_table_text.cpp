// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_reader.h"
#include "engine/export/documents/node_json.h"
#include "engine/export/report/csv_report.h"
#include "engine/runs/run_table.h"

namespace qs {

namespace {

template<class T>
Json orNull(const std::optional<T>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json headlineJson(const ResultFigures& headline)
{
    Json outputs = Json::array();
    for (const OutputError& output : headline.outputs)
        outputs.push_back({{"name", output.name},
                           {"cumulative", metricsJson(output.cumulative)},
                           {"lowered", metricsJson(output.lowered)}});
    return {{"outputs", std::move(outputs)},
            {"output_db", orNull(headline.outputDb())},
            {"float_top1", orNull(headline.floatTop1)},
            {"int8_top1", orNull(headline.int8Top1)},
            {"agreement", headline.agreement ? Json(headline.agreement->top1) : Json(nullptr)},
            {"metric", headline.evaluation ? evaluationJson(*headline.evaluation) : Json(nullptr)},
            {"quantized", orNull(headline.quantizedOps)},
            {"eligible", orNull(headline.eligibleOps)},
            {"total", orNull(headline.totalOps)},
            {"float_bytes", orNull(headline.floatBytes)},
            {"int8_bytes", orNull(headline.int8Bytes)},
            {"samples", headline.samples}};
}

Json runJson(const RunRecord& run, std::size_t place)
{
    Json json
        = {{"letter", runLetter(place)},
           {"name", run.label.name},
           {"created", run.label.created},
           {"note", run.label.note},
           {"source", run.label.source},
           {"model",
            {{"path", run.modelPath}, {"sha256", run.modelSha256}, {"edited", run.isEdited()}}}};
    json["compared"] = run.isForeign()
        ? Json {{"path", run.foreignPath}, {"sha256", run.foreignSha256}}
        : Json(nullptr);
    json["data"] = run.data;
    json["device"] = run.device;
    json["decisions"] = run.recipe ? Json(recipeInWords(*run.recipe)) : Json(nullptr);
    json["remarks"] = run.remarks;
    json["headline"] = headlineJson(run.headline);
    return json;
}

Json cellJson(const RunNode* node, bool isMissing)
{
    if (!node)
        return {{"missing", isMissing ? "no counterpart" : "not compared"}};
    Json error = Json::object();
    for (const ErrorTerm term : kErrorTerms)
        error[std::string(errorTermName(term))] = metricsJson(node->errors.term(term));
    if (node->errors.kl)
        error["cumulative"]["kl"] = *node->errors.kl;
    return {{"name", node->name},       {"module", node->module}, {"verdict", node->verdict},
            {"qconfig", node->qconfig}, {"rule", node->rule},     {"dtype", node->dtype},
            {"error", std::move(error)}};
}

Json rowJson(const RunTable& table, std::size_t place)
{
    const RunRow& row = table.rows()[place];
    Json cells = Json::array(), differences = Json::object();
    for (std::size_t run = 0; run < row.nodes.size(); ++run)
        cells.push_back(cellJson(row.nodes[run], row.isMissing[run]));
    for (const RunColumn& column : table.columns())
        if (column.kind == RunColumn::Kind::Difference)
            if (const auto value = table.number(place, column))
                differences[column.key] = *value;
    return {{"node", row.name},
            {"title", row.title},
            {"op", row.op},
            {"module", row.module},
            {"call_index", row.callIndex},
            {"state", runStateName(row.state)},
            {"where", table.stateText(row)},
            {"runs", std::move(cells)},
            {"differences", std::move(differences)}};
}

} // namespace

std::string runTableJson(const RunTable& table, const std::vector<std::size_t>& rows)
{
    Json runs = Json::array(), recipes = Json::array(), nodes = Json::array();
    for (std::size_t run = 0; run < table.runs().size(); ++run) {
        runs.push_back(runJson(*table.runs()[run], run));
        if (run > 0)
            recipes.push_back({{"run", runLetter(run)}, {"lines", table.recipeLines(run)}});
    }
    for (const std::size_t row : rows)
        nodes.push_back(rowJson(table, row));
    const Json json = {{"format", "quantscope.diff"},
                       {"version", 1},
                       {"runs", std::move(runs)},
                       {"recipes", std::move(recipes)},
                       {"nodes", std::move(nodes)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string runTableCsv(const RunTable& table, const std::vector<std::size_t>& rows)
{
    std::vector<std::string> cells;
    for (const RunColumn& column : table.columns())
        cells.push_back(column.title);
    std::string text = csvLine(cells);
    for (const std::size_t row : rows) {
        cells.clear();
        for (const RunColumn& column : table.columns()) {
            const auto value = table.number(row, column);
            cells.push_back(column.isNumber() ? value ? Json(*value).dump() : std::string()
                                              : table.word(row, column));
        }
        text += csvLine(cells);
    }
    return text;
}

} // namespace qs
