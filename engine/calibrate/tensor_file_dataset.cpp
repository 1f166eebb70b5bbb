// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/tensor_file_dataset.h"

#include "engine/calibrate/call_dataset.h"
#include "engine/calibrate/saved_tensors.h"
#include "engine/calibrate/tensor_dataset.h"

#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

namespace qs {

namespace {

constexpr const char* kKinds
    = "a tensor, a tuple of tensors, a dictionary of tensors or a list of calls is wanted";

Result<StoredTensor> locate(const SavedTensors& file, const at::IValue& value,
                            const std::string& what)
{
    if (!value.isTensor())
        return fail(ErrorCode::BadInput, what + " is no tensor; " + kKinds);
    return file.locate(value.toTensor(), what);
}

Result<std::vector<CallValue>> valuesOfCall(const SavedTensors& file, const at::IValue& value,
                                            std::size_t call)
{
    const std::string where = "call " + std::to_string(call);
    std::vector<at::IValue> items;
    if (value.isTuple())
        items = value.toTupleRef().elements().vec();
    else if (value.isList())
        items = value.toListRef().vec();
    else
        items = {value};
    std::vector<CallValue> out;
    for (const auto& item : items) {
        if (item.isInt() || item.isDouble() || item.isBool()) { // an argument that is a number
            out.emplace_back(item);
            continue;
        }
        const std::string what = "tensor " + std::to_string(out.size()) + " of " + where;
        QS_TRY(StoredTensor stored, locate(file, item, what));
        out.emplace_back(std::move(stored));
    }
    return out;
}

Result<std::vector<NamedTensor>> namedTensors(const SavedTensors& file)
{
    const at::IValue& value = file.value();
    std::vector<NamedTensor> out;
    const auto add = [&](std::string name, const at::IValue& item) -> Result<void> {
        const std::string what
            = name.empty() ? "tensor " + std::to_string(out.size()) : "tensor '" + name + "'";
        QS_TRY(StoredTensor stored, locate(file, item, what));
        out.push_back({std::move(name), std::move(stored)});
        return {};
    };
    if (value.isTensor()) {
        QS_CHECK(add("", value));
    } else if (value.isTuple()) {
        for (const auto& item : value.toTupleRef().elements())
            QS_CHECK(add("", item));
    } else if (value.isGenericDict()) {
        for (const auto& entry : value.toGenericDict()) {
            if (!entry.key().isString())
                return fail(ErrorCode::BadInput, "a dictionary's keys must be input names");
            QS_CHECK(add(entry.key().toStringRef(), entry.value()));
        }
    } else {
        return fail(ErrorCode::BadInput, std::string("holds a ") + value.tagKind() + "; " + kKinds);
    }
    return out;
}

} // namespace

Result<std::unique_ptr<Dataset>> openTensorFileDataset(const std::string& path, const Graph& graph,
                                                       const DatasetOptions& options)
{
    QS_TRY(const SavedTensors file, SavedTensors::open(path));
    if (!file.value().isList()) {
        QS_TRY(std::vector<NamedTensor> tensors, namedTensors(file));
        return makeSampleDataset(std::move(tensors), graph, options);
    }
    std::vector<std::vector<CallValue>> calls;
    for (const at::IValue& item : file.value().toListRef()) {
        QS_TRY(std::vector<CallValue> call, valuesOfCall(file, item, calls.size()));
        calls.push_back(std::move(call));
    }
    return makeCallDataset(std::move(calls), graph, options);
}

} // namespace qs
