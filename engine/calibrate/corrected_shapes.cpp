// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/corrected_shapes.h"

#include "engine/graph/graph_edit.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace qs {

namespace {

using SizesJson = nlohmann::ordered_json;

/// Start of the record of a model with corrected shapes; a line break follows the list.
constexpr std::string_view kRecordStart = "{\"corrected_shapes\":";

SizesJson sizesJson(const std::vector<Dim>& shape)
{
    SizesJson sizes = SizesJson::array();
    for (const Dim& dim : shape)
        sizes.push_back(dim.isSymbolic() || dim.size < 0 ? SizesJson(dim.text())
                                                         : SizesJson(dim.size));
    return sizes;
}

/// Returns the symbolic dimension of an input with this symbol.
std::optional<Dim> openDimension(const Graph& model, const std::string& symbol)
{
    for (const Node* input : model.inputs())
        for (const Dim& dim : input->outputs.at(0).type.shape)
            if (dim.symbol == symbol)
                return dim;
    return std::nullopt;
}

std::optional<std::vector<Dim>> readSizes(const Graph& model, const SizesJson& sizes)
{
    std::vector<Dim> shape;
    for (const SizesJson& size : sizes) {
        std::optional<Dim> dim;
        if (size.is_string())
            dim = openDimension(model, size.get<std::string>());
        else if (size.is_number_unsigned())
            dim = Dim::fixed(size.get<std::int64_t>());
        if (!dim)
            return std::nullopt;
        shape.push_back(*dim);
    }
    return shape;
}

std::vector<CorrectedShape> readCorrected(const Graph& model, const SizesJson& list)
{
    std::vector<CorrectedShape> corrected;
    for (const SizesJson& entry : list) {
        const Node* node = model.tryFind(entry.at("node").get<std::string>());
        const auto output = entry.at("output").get<std::uint64_t>();
        auto shape = readSizes(model, entry.at("observed"));
        if (node && output < node->outputs.size() && shape)
            corrected.push_back({{node->id, std::uint32_t(output)}, std::move(*shape)});
    }
    return corrected;
}

} // namespace

GraphPtr withCorrectedShapes(const GraphPtr& model, const std::vector<CorrectedShape>& corrected)
{
    if (corrected.empty())
        return model;
    GraphEdit edit(*model);
    SizesJson list = SizesJson::array();
    for (const CorrectedShape& one : corrected) {
        Node& node = edit.change(one.value.node);
        ValueType& type = node.outputs.at(one.value.index).type;
        list.push_back({{"node", node.name},
                        {"output", one.value.index},
                        {"recorded", sizesJson(type.shape)},
                        {"observed", sizesJson(one.shape)}});
        type.shape = one.shape;
        type.shapeKnown = true;
    }
    ModelInfo info = model->info();
    const std::string& record = info.exportRecord;
    const std::string rest = record.starts_with('{') ? record.substr(1) : "}";
    info.exportRecord = std::string(kRecordStart) + list.dump() + "\n"
        + (rest.find_first_not_of(" \t\r\n}") == std::string::npos ? "" : ",") + rest;
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

std::string_view correctedShapesText(const ModelInfo& info)
{
    const std::string_view record = info.exportRecord;
    if (!record.starts_with(kRecordStart))
        return {};
    const std::string_view list = record.substr(kRecordStart.size());
    const auto end = list.find('\n');
    return end == std::string_view::npos ? std::string_view() : list.substr(0, end);
}

Result<std::vector<CorrectedShape>> readCorrectedShapes(const Graph& model, std::string_view text)
{
    if (text.empty() || !correctedShapesText(model.info()).empty())
        return {};
    try {
        return readCorrected(model, SizesJson::parse(text, nullptr, false));
    } catch (const SizesJson::exception&) {
        return fail(ErrorCode::BadInput, "its corrected shapes are not a list of sizes by node");
    }
}

} // namespace qs
