// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/tensor_file_dataset.h"

#include "engine/calibrate/tensor_dataset.h"
#include "engine/import/sample_inputs.h"

#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include <fstream>
#include <iterator>

namespace qs {

namespace {

constexpr const char* kKinds
    = "a tensor, a tuple of tensors, a dictionary of tensors or a list of calls is wanted";

Result<std::string> readBytes(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(ErrorCode::NotFound, "cannot be opened");
    std::string bytes {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (bytes.size() < 4)
        return fail(ErrorCode::BadInput, "is empty or truncated");
    if (bytes[0] != 'P' || bytes[1] != 'K') {
        const bool pickle = bytes[0] == '\x80';
        return fail(
            makeError(ErrorCode::BadInput,
                      pickle ? "is a bare Python pickle (torch.save's old format), which is never "
                               "read"
                             : "is not a file of torch.save")
                .withHint("save the tensors again with torch.save(data, path)"));
    }
    return bytes;
}

Result<at::Tensor> plainTensor(const at::IValue& value, const std::string& what)
{
    if (!value.isTensor())
        return fail(ErrorCode::BadInput, what + " is no tensor; " + kKinds);
    const at::Tensor tensor = value.toTensor();
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized())
        return fail(ErrorCode::BadInput, what + " is no ordinary dense tensor");
    return tensor.cpu().contiguous();
}

Result<std::vector<at::IValue>> tensorsOfCall(const at::IValue& value, std::size_t call)
{
    const std::string where = "call " + std::to_string(call);
    std::vector<at::IValue> items;
    if (value.isTuple())
        items = value.toTupleRef().elements().vec();
    else if (value.isList())
        items = value.toListRef().vec();
    else
        items = {value};
    std::vector<at::IValue> out;
    for (const auto& item : items) {
        if (item.isInt() || item.isDouble() || item.isBool()) { // an argument that is a number
            out.push_back(item);
            continue;
        }
        QS_TRY(at::Tensor tensor,
               plainTensor(item, "tensor " + std::to_string(out.size()) + " of " + where));
        out.emplace_back(std::move(tensor));
    }
    return out;
}

Result<std::vector<NamedTensor>> namedTensors(const at::IValue& value)
{
    std::vector<NamedTensor> out;
    const auto add = [&](std::string name, const at::IValue& item) -> Result<void> {
        const std::string what
            = name.empty() ? "tensor " + std::to_string(out.size()) : "tensor '" + name + "'";
        QS_TRY(at::Tensor tensor, plainTensor(item, what));
        out.push_back({std::move(name), std::move(tensor), 0});
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
    QS_TRY(const std::string bytes, readBytes(path));
    const auto read = unpickleData(bytes);
    if (!read)
        return fail(ErrorCode::BadInput,
                    "cannot be read as saved tensors: " + read.error().message);
    const at::IValue& value = *read;
    if (!value.isList()) {
        QS_TRY(std::vector<NamedTensor> tensors, namedTensors(value));
        return makeSampleDataset(std::move(tensors), graph, options);
    }
    std::vector<std::vector<at::IValue>> calls;
    for (const at::IValue& item : value.toListRef()) {
        QS_TRY(std::vector<at::IValue> call, tensorsOfCall(item, calls.size()));
        calls.push_back(std::move(call));
    }
    return makeCallDataset(std::move(calls), graph, options);
}

} // namespace qs
