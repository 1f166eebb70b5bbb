// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/export/report/report_pictures.h"
#include "engine/io/npz.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

/// Most histograms that the page draws, to keep it readable.
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

/// The per-tensor quantization of the observed value; null for weights, values inside a module, and
/// values with several scales or without quantization.
const ReportJson* quantizationAt(const ReportJson& node, const ReportJson& observation)
{
    const auto index = observation.at("index").get<std::size_t>();
    const std::string place = fieldText(observation, "place");
    const ReportJson* entry = nullptr;
    if (place == "output")
        entry = node.contains("outputs") ? &node["outputs"].at(index) : &node.at("output");
    else if (place == "inputs")
        entry = &node.at("inputs").at(index);
    const bool perTensor = entry && entry->is_object() && entry->at("scale").size() == 1;
    return perTensor ? entry : nullptr;
}

QParams qparamsOf(const ReportJson& entry)
{
    QParams qparams;
    qparams.scale = {entry.at("scale").at(0).get<float>()};
    qparams.zeroPoint = {entry.at("zero_point").at(0).get<std::int64_t>()};
    qparams.quantMin = entry.at("quant_min").get<std::int64_t>();
    qparams.quantMax = entry.at("quant_max").get<std::int64_t>();
    qparams.dtype = dtypeFromName(entry.at("dtype").get<std::string>()).value_or(DType::Unknown);
    return qparams;
}

std::string rectangle(double x, double y, double width, double height, const char* cssClass)
{
    return "<rect class=\"" + std::string(cssClass) + "\" x=\"" + fixedText(x, 1) + "\" y=\""
        + fixedText(y, 1) + "\" width=\"" + fixedText(width, 1) + "\" height=\""
        + fixedText(height, 1) + "\"/>";
}

/// `{picture, low, high}`: a histogram of `counts`, equal bins over `data`, on a logarithmic scale.
/// The range within which values do not saturate is shaded. Two lines mark the range that the scale
/// was chosen for, if it differs.
ReportJson pictureOf(const ReportJson& entry, const std::vector<double>& counts,
                     const ValueEnds& data)
{
    static constexpr double kWidth = 260, kHeight = 70;
    constexpr std::size_t kColumns = 130;
    const QParams qparams = qparamsOf(entry);
    const ValueEnds chosen = chosenEnds(qparams);
    const ValueEnds held = qparams.dtype == DType::Unknown ? chosen : heldEnds(qparams);
    const auto [low, high] = drawnEnds(data, chosen, held);
    const auto place = [low = low, span = high > low ? high - low : 1](double value) {
        return std::clamp(kWidth * (value - low) / span, 0.0, kWidth);
    };
    std::string picture
        = rectangle(place(held.low), 0, place(held.high) - place(held.low), kHeight, "range");
    const std::size_t step = std::max<std::size_t>(1, (counts.size() + kColumns - 1) / kColumns);
    std::vector<double> columns((counts.size() + step - 1) / step, 0); // sums of `step` bins
    for (std::size_t i = 0; i < counts.size(); ++i)
        columns[i / step] += counts[i];
    const double most = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
    const double width
        = (place(data.high) - place(data.low)) / std::max(double(columns.size()), 1.0);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] <= 0)
            continue;
        const double height = kHeight * std::log1p(columns[i]) / std::log1p(most);
        picture += rectangle(place(data.low) + width * double(i), kHeight - height,
                             std::max(width, 0.5), height, "bin");
    }
    if (chosen != held)
        for (const double end : {chosen.low, chosen.high})
            picture += rectangle(std::min(place(end), kWidth - 1), 0, 1, kHeight, "chosen");
    return {{"picture", std::move(picture)}, {"low", low}, {"high", high}};
}

} // namespace

Result<ReportJson> histogramValues(const ReportJson& result, const std::string& folder)
{
    ReportJson figures = ReportJson::array();
    const std::string path = (std::filesystem::path(folder) / "observations.npz").string();
    std::error_code code;
    if (!result.contains("observations") || !std::filesystem::exists(path, code))
        return figures;
    QS_TRY(const NpzContent content, readNpz(path));
    std::map<std::string, const NpyArray*> arrays;
    for (const NpyArray& array : content.arrays)
        arrays.emplace(array.name, &array);
    std::map<std::string, const ReportJson*> nodes;
    for (const ReportJson& node : result.at("nodes"))
        nodes.emplace(node.at("name").get<std::string>(), &node);
    for (const ReportJson& told : result.at("observations")) {
        const auto name = told.at("node").get<std::string>();
        const auto key = told.at("key").get<std::string>();
        const auto counts = arrays.find(key + "/fine/counts");
        const auto range = arrays.find(key + "/fine/range");
        if (counts == arrays.end() || range == arrays.end() || figures.size() == kMostPictures)
            continue;
        const auto node = nodes.find(name);
        if (node == nodes.end())
            return fail(makeError(ErrorCode::BadInput,
                                  "an observation names the node " + inQuotes(name)
                                      + ", which the result does not list")
                            .inFile((std::filesystem::path(folder) / "result.json").string())
                            .withHint("run 'quantscope quantize' again"));
        const ReportJson* entry = quantizationAt(*node->second, told);
        const auto ends = numbers(*range->second);
        if (!entry || ends.size() != 2)
            continue;
        figures.push_back(pictureOf(*entry, numbers(*counts->second), {ends[0], ends[1]}));
        figures.back()["title"] = fieldText(*node->second, "title");
    }
    return figures;
}

} // namespace qs
