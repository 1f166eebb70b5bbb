// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/tensor_file_dataset.h"

#include "engine/calibrate/data/call_dataset.h"
#include "engine/calibrate/data/call_inputs.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/calibrate/data/saved_tensors.h"
#include "engine/calibrate/data/tensor_dataset.h"

#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kKinds
    = "expected a tensor, a tuple of tensors, a dictionary of tensors or a list of calls";

Result<StoredTensor> locate(const SavedTensors& file, const at::IValue& value,
                            const std::string& what)
{
    if (!value.isTensor())
        return fail(ErrorCode::BadInput, what + " is not a tensor; " + kKinds);
    return file.locate(value.toTensor(), what);
}

bool isNumber(const at::IValue& value)
{
    return value.isInt() || value.isDouble() || value.isBool();
}

// Returns the entries of a dictionary of tensors, by name.
Result<std::vector<std::pair<std::string, at::IValue>>> namedValues(const at::IValue& dictionary)
{
    std::vector<std::pair<std::string, at::IValue>> out;
    for (const auto& entry : dictionary.toGenericDict()) {
        if (!entry.key().isString())
            return fail(ErrorCode::BadInput, "a dictionary's keys must be input names");
        out.emplace_back(entry.key().toStringRef(), entry.value());
    }
    return out;
}

// Returns the values of one call in the order of the graph's inputs.
Result<std::vector<at::IValue>> valuesInOrder(const CallInputs& structure, const Graph& graph,
                                              const at::IValue& call)
{
    if (!call.isGenericDict() || structure.takes(call))
        return structure.arrange(call);
    QS_TRY(const auto given, namedValues(call));
    std::vector<at::IValue> out;
    for (const Node* input : graph.inputs()) {
        const auto it = std::find_if(given.begin(), given.end(),
                                     [&](const auto& entry) { return entry.first == input->name; });
        if (it == given.end())
            return structure.arrange(call); // its error names what is expected
        out.push_back(it->second);
    }
    for (const auto& entry : given)
        if (!graph.tryFind(entry.first) || graph.tryFind(entry.first)->kind != NodeKind::Input)
            return fail(makeError(ErrorCode::BadInput,
                                  "holds '" + entry.first + "', which the model does not take ("
                                      + inputNames(graph.inputs()) + ")")
                            .withHint("leave it out of the calls"));
    return out;
}

Result<std::vector<CallValue>> valuesOfCall(const SavedTensors& file, const CallInputs& structure,
                                            const Graph& graph, const at::IValue& value,
                                            std::size_t call)
{
    const std::string where = "call " + std::to_string(call);
    auto items = valuesInOrder(structure, graph, value);
    if (!items)
        return fail(namedError(std::move(items).error(), where + ":"));
    std::vector<CallValue> out;
    for (const auto& item : *items) {
        if (isNumber(item)) { // a number argument
            out.emplace_back(item);
            continue;
        }
        const std::string what = "tensor " + std::to_string(out.size()) + " of " + where;
        QS_TRY(StoredTensor stored, locate(file, item, what));
        out.emplace_back(std::move(stored));
    }
    return out;
}

Result<NamedTensor> namedTensor(const SavedTensors& file, std::string name, const at::IValue& value,
                                std::size_t position)
{
    const std::string what
        = name.empty() ? "tensor " + std::to_string(position) : "tensor '" + name + "'";
    QS_TRY(StoredTensor stored, locate(file, value, what));
    return NamedTensor {std::move(name), std::move(stored)};
}

// The structure without its entry "labels", if that is not an input of the model.
struct Labelled
{
    at::IValue structure;
    std::optional<at::IValue> labels;
};

Labelled takeLabels(const at::IValue& value, const CallInputs& structure)
{
    if (!value.isGenericDict() || structure.takes(value))
        return {value, std::nullopt};
    const auto whole = value.toGenericDict();
    auto rest = c10::impl::GenericDict(whole.keyType(), whole.valueType());
    std::optional<at::IValue> labels;
    for (const auto& entry : whole)
        if (entry.key().isString() && entry.key().toStringRef() == "labels")
            labels = entry.value();
        else
            rest.insert(entry.key(), entry.value());
    const at::IValue left(rest);
    return structure.takes(left) ? Labelled {left, labels} : Labelled {value, std::nullopt};
}

Result<std::vector<NamedTensor>> namedTensors(const SavedTensors& file, const CallInputs& structure,
                                              const Graph& graph)
{
    const at::IValue& value = file.value();
    if (!value.isTensor() && !isContainer(value))
        return fail(ErrorCode::BadInput, std::string("holds a ") + value.tagKind() + "; " + kKinds);
    std::vector<NamedTensor> out;
    const Labelled split = takeLabels(value, structure);
    if (value.isGenericDict() && !structure.takes(split.structure)) {
        QS_TRY(const auto given, namedValues(value));
        for (const auto& [name, item] : given) {
            QS_TRY(NamedTensor tensor, namedTensor(file, name, item, out.size()));
            out.push_back(std::move(tensor));
        }
        return out;
    }
    QS_TRY(const auto items, structure.arrange(split.structure));
    const auto inputs = graph.inputs();
    for (const auto& item : items) {
        // Names of the model's inputs, if the structure is known, for errors.
        const bool named = isContainer(value) && items.size() == inputs.size()
            && (value.isGenericDict() || split.labels);
        QS_TRY(NamedTensor tensor,
               namedTensor(file, named ? inputs[out.size()]->name : "", item, out.size()));
        out.push_back(std::move(tensor));
    }
    if (split.labels) {
        QS_TRY(NamedTensor labels, namedTensor(file, "labels", *split.labels, out.size()));
        out.push_back(std::move(labels));
    }
    return out;
}

} // namespace

Result<std::unique_ptr<Dataset>> openTensorFileDataset(const std::string& path, const Graph& graph,
                                                       const DatasetOptions& options)
{
    QS_TRY(const SavedTensors file, SavedTensors::open(path));
    QS_TRY(const CallInputs structure, CallInputs::create(graph));
    if (!file.value().isList()) {
        QS_TRY(std::vector<NamedTensor> tensors, namedTensors(file, structure, graph));
        return makeSampleDataset(std::move(tensors), graph, options);
    }
    std::vector<std::vector<CallValue>> calls;
    for (const at::IValue& item : file.value().toListRef()) {
        QS_TRY(std::vector<CallValue> call,
               valuesOfCall(file, structure, graph, item, calls.size()));
        calls.push_back(std::move(call));
    }
    return makeCallDataset(std::move(calls), graph, options);
}

} // namespace qs
