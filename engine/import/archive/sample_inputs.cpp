// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/sample_inputs.h"

#include "engine/base/torch_guard.h"
#include "engine/import/archive/pickled_data.h"
#include "engine/import/archive/pt2_archive.h"
#include "engine/import/pt2/pt2_schema.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

namespace qs {

namespace {

void flattenInto(const at::IValue& value, std::vector<at::IValue>& out)
{
    if (value.isTuple())
        for (const auto& item : value.toTupleRef().elements())
            flattenInto(item, out);
    else if (value.isList())
        for (const at::IValue& item : value.toListRef())
            flattenInto(item, out);
    else if (value.isGenericDict())
        for (const auto& entry : value.toGenericDict())
            flattenInto(entry.value(), out);
    else
        out.push_back(value);
}

/// Returns, for each flattened argument of the exported call, true if it is an input of the graph.
std::vector<bool> keptArguments(const Graph& graph)
{
    std::vector<bool> kept;
    const auto record = JsonDocument::parse(graph.info().exportRecord, "the export record");
    if (!record)
        return kept;
    const JsonView signature = record->root().at("graph_module").at("signature");
    for (const JsonView spec : signature.at("input_specs").items()) {
        const auto [tag, held] = unionOf(spec);
        if (tag == "constant_input")
            kept.push_back(false);
        else if (tag == "user_input")
            kept.push_back(!schemaOutputs(held.at("arg")).front().name.empty());
    }
    return kept;
}

} // namespace

std::vector<at::IValue> flattenData(const at::IValue& value)
{
    std::vector<at::IValue> out;
    flattenInto(value, out);
    return out;
}

Result<std::vector<at::IValue>> readSampleInputs(const Graph& graph)
{
    const std::string& path = graph.info().path;
    constexpr const char* kRecord = "data/sample_inputs/model.pt";
    QS_TRY(const auto archive, Pt2Archive::open(path));
    if (!archive->has(kRecord))
        return fail(makeError(ErrorCode::NotFound, "the model file carries no example inputs")
                        .inFile(path)
                        .withHint("give data with --data FILE.npz"));
    QS_TRY(const std::string bytes, archive->read(kRecord));
    auto value = unpickleData(bytes);
    if (!value)
        return fail(makeError(ErrorCode::BadInput,
                              "the example inputs cannot be read (" + value.error().message + ")")
                        .inFile(path)
                        .withHint("give data with --data FILE.npz"));
    const std::vector<at::IValue> all = flattenData(*value);
    auto kept = guardTorchValue<std::vector<bool>>(
        [&]() -> Result<std::vector<bool>> { return keptArguments(graph); });
    std::vector<at::IValue> inputs;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!kept || kept->size() != all.size() || (*kept)[i])
            inputs.push_back(all[i]);
    if (inputs.size() != graph.inputs().size())
        return fail(makeError(ErrorCode::BadInput,
                              "the file has " + std::to_string(inputs.size())
                                  + " example inputs, the model takes "
                                  + std::to_string(graph.inputs().size()))
                        .inFile(path));
    return inputs;
}

} // namespace qs
