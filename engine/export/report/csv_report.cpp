// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/csv_report.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/text.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace qs {

namespace {

using Json = ResultDocument::Json;

constexpr const char* kFields[]
    = {"name", "op", "module", "module_class", "call_index", "verdict", "quantized", "qconfig"};
constexpr const char* kQuantization[]
    = {"dtype", "qscheme", "quant_min", "quant_max", "observer", "shared_with"};
constexpr const char* kRanges[] = {"scale", "scale_min", "scale_max", "zero_point", "min", "max"};
constexpr const char* kMetrics[] = {"sqnr_db", "cosine", "mse", "max_abs"};

/// Figures of the error terms, in the order of their columns.
std::vector<std::pair<ErrorTerm, const char*>> termFigures()
{
    std::vector<std::pair<ErrorTerm, const char*>> out;
    for (const ErrorTerm term : kTableTerms) {
        for (const char* metric : kMetrics)
            out.emplace_back(term, metric);
        if (term == ErrorTerm::Cumulative)
            out.emplace_back(term, "kl");
        else
            for (const char* metric : {"samples", "standard_error_db"})
                out.emplace_back(term, metric);
    }
    return out;
}

/// Whether a spreadsheet would evaluate the text as a formula; a signed number is not a formula.
bool isFormula(const std::string& text)
{
    if (text.size() < 2 || std::string_view("=+-@").find(text.front()) == std::string_view::npos)
        return false;
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return *end != '\0';
}

std::string cell(std::string text)
{
    text = printable(std::move(text));
    if (isFormula(text))
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

/// Operator names of the node's matched pattern in forward order, joined by " + "; "" without one.
std::string patternText(const Json& node)
{
    std::string out;
    if (const auto pattern = node.find("pattern"); pattern != node.end() && pattern->is_array())
        for (const Json& name : *pattern)
            out += (out.empty() ? "" : " + ") + name.get<std::string>();
    return out;
}

/// For `min`, `max`, `scale_min` and `scale_max`: the least or greatest value of all channels. For
/// `scale` and `zero_point`: the common value; empty if the channels differ.
std::string rangeText(const Json& entry, const std::string& key)
{
    const bool ofScales = key.starts_with("scale_");
    const auto values = entry.find(ofScales ? "scale" : key);
    if (values == entry.end() || values->empty())
        return {};
    const auto [least, greatest] = std::minmax_element(values->begin(), values->end());
    const bool wantsGreatest = key == "max" || key == "scale_max";
    if (!ofScales && key != "min" && key != "max" && *least != *greatest)
        return {};
    return (wantsGreatest ? greatest : least)->dump();
}

void addQuantization(std::vector<std::string>& cells, const Json& node, const char* place)
{
    const auto found = node.find(place);
    const Json none = Json::object();
    const Json& entry = found != node.end() && found->is_object() ? *found : none;
    for (const char* key : kQuantization)
        cells.push_back(fieldText(entry, key));
    const auto scales = entry.find("scale");
    const std::size_t channels = scales == entry.end() ? 0 : scales->size();
    cells.push_back(channels > 1 ? std::to_string(channels) : std::string());
    for (const char* key : kRanges)
        cells.push_back(rangeText(entry, key));
}

std::vector<std::string> titles()
{
    std::vector<std::string> out(std::begin(kFields), std::end(kFields));
    out.emplace_back("pattern");
    for (const std::string place : {"output_", "weight_"}) {
        for (const char* key : kQuantization)
            out.push_back(place + key);
        out.push_back(place + "channels");
        for (const char* key : kRanges)
            out.push_back(place + key);
    }
    for (const auto& [term, metric] : termFigures())
        out.push_back(std::string(errorTermName(term)) + "_" + metric);
    out.emplace_back("reason");
    out.emplace_back("reason_code");
    return out;
}

std::string table(const Json& result)
{
    std::string text = csvLine(titles());
    for (const Json& node : result.at("nodes")) {
        std::vector<std::string> cells;
        for (const char* key : kFields)
            cells.push_back(fieldText(node, key));
        cells.push_back(patternText(node));
        for (const char* place : {"output", "weight"})
            addQuantization(cells, node, place);
        for (const auto& [term, metric] : termFigures()) {
            const auto value = errorTerm(node, term, metric);
            cells.push_back(value ? Json(*value).dump() : std::string());
        }
        cells.push_back(fieldText(node, "reason"));
        cells.push_back(fieldText(node, "reason_code"));
        text += csvLine(cells);
    }
    return text;
}

} // namespace

std::string csvLine(const std::vector<std::string>& cells)
{
    std::string out;
    for (std::size_t i = 0; i < cells.size(); ++i)
        out += (i ? "," : "") + cell(cells[i]);
    return out + "\r\n";
}

Result<void> writeCsvReport(const std::string& folder, const std::string& csvPath)
{
    QS_TRY(const ResultDocument result, ResultDocument::read(folder));
    QS_TRY(const std::string text, result.made<std::string>([](const Json& json) {
        return Result<std::string>(table(json));
    }));
    return writeFileAtomically(csvPath, text);
}

} // namespace qs
