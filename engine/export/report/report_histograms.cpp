// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_histograms.h"

#include "engine/base/text.h"
#include "engine/export/report/report_svg.h"
#include "engine/io/npz.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

/// A page stays readable: more values than this are not drawn.
constexpr std::size_t kMostPictures = 300;

std::vector<double> numbers(const NpyArray& array)
{
    std::vector<double> values;
    if (array.dtype != DType::Float32)
        return values;
    for (std::size_t at = 0; at + sizeof(float) <= array.bytes.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, array.bytes.data() + at, sizeof value);
        values.push_back(value);
    }
    return values;
}

/// The per-tensor quantization that a place of the document holds, or null.
const Json* quantizationAt(const Json& node, const std::string& place, std::size_t index)
{
    const Json* entry = nullptr;
    if (place == "output")
        entry = node.contains("outputs") ? &node["outputs"].at(index) : &node.at("output");
    else if (place == "inputs")
        entry = &node.at("inputs").at(index);
    const bool perTensor = entry && entry->is_object() && entry->at("scale").size() == 1;
    return perTensor ? entry : nullptr;
}

std::string figure(const std::string& title, const Json& entry, const std::vector<double>& counts,
                   const std::vector<double>& range)
{
    QParams qparams;
    qparams.scale = {entry.at("scale").at(0).get<float>()};
    qparams.zeroPoint = {entry.at("zero_point").at(0).get<std::int64_t>()};
    qparams.quantMin = entry.at("quant_min").get<std::int64_t>();
    qparams.quantMax = entry.at("quant_max").get<std::int64_t>();
    const auto dtype = dtypeFromName(entry.at("dtype").get<std::string>());
    qparams.dtype = dtype.value_or(DType::Unknown);
    HistogramPicture picture;
    picture.data = {range[0], range[1]};
    picture.counts = counts;
    picture.chosen = chosenEnds(qparams);
    picture.held = dtype ? heldEnds(qparams) : picture.chosen;
    return "<figure><figcaption>" + escapeHtml(title) + "</figcaption>" + histogramSvg(picture)
        + "</figure>\n";
}

} // namespace

Result<std::string> histogramsHtml(const Json& result, const ReportNames& titles,
                                   const std::string& folder)
{
    const std::string path = (std::filesystem::path(folder) / "observations.npz").string();
    std::error_code code;
    if (!result.contains("observations") || !std::filesystem::exists(path, code))
        return std::string();
    QS_TRY(const NpzContent content, readNpz(path));
    std::map<std::string, const NpyArray*> arrays;
    for (const NpyArray& array : content.arrays)
        arrays.emplace(array.name, &array);
    std::map<std::string, const Json*> nodes;
    for (const Json& node : result.at("nodes"))
        nodes.emplace(node.at("name").get<std::string>(), &node);
    std::string figures;
    std::size_t drawn = 0;
    for (const Json& told : result.at("observations")) {
        const auto name = told.at("node").get<std::string>();
        const auto key = told.at("key").get<std::string>();
        const auto counts = arrays.find(key + "/fine/counts");
        const auto range = arrays.find(key + "/fine/range");
        if (counts == arrays.end() || range == arrays.end() || drawn == kMostPictures)
            continue;
        const auto node = nodes.find(name);
        if (node == nodes.end())
            return fail(makeError(ErrorCode::BadInput,
                                  "an observation is of the node " + inQuotes(name)
                                      + ", which it does not list")
                            .inFile((std::filesystem::path(folder) / "result.json").string())
                            .withHint("run 'quantscope quantize' again"));
        const Json* entry = quantizationAt(*node->second, told.at("place").get<std::string>(),
                                           told.at("index").get<std::size_t>());
        const auto ends = numbers(*range->second);
        if (!entry || ends.size() != 2)
            continue;
        figures += figure(titles.of(name), *entry, numbers(*counts->second), ends);
        ++drawn;
    }
    return figures.empty()
        ? std::string()
        : "<h2>What the observers saw</h2><p>Counts on a logarithmic scale. Values beyond the "
          "shaded range saturate; two lines show the range that the scale was chosen for, where "
          "that is another.</p><div class=\"figures\">"
            + figures + "</div>";
}

} // namespace qs
