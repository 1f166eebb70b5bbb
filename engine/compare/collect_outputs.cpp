// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/collect_outputs.h"

#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/execute/interpreter.h"
#include "engine/graph/output_names.h"
#include "engine/io/npy_tensor.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// Whether the tensors differ at most in their first dimension.
bool canJoin(const std::vector<at::Tensor>& parts)
{
    const at::Tensor& first = parts.front();
    return std::all_of(parts.begin(), parts.end(), [&](const at::Tensor& part) {
        return part.dim() == first.dim() && part.scalar_type() == first.scalar_type()
            && (part.dim() == 0 || part.sizes().slice(1) == first.sizes().slice(1));
    });
}

void addArrays(const std::string& name, const std::vector<at::Tensor>& parts,
               std::vector<NpyArray>& arrays)
{
    if (parts.empty())
        return;
    if (canJoin(parts)) {
        arrays.push_back(
            npyFromTensor(name, parts.front().dim() == 0 ? at::stack(parts) : at::cat(parts, 0)));
        return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
        arrays.push_back(npyFromTensor(name + "." + std::to_string(i), parts[i]));
}

Result<void> collect(const Interpreter& interpreter, const Dataset& data,
                     const std::vector<std::string>& names, const std::string& path,
                     const JobContext& job)
{
    std::vector<std::vector<at::Tensor>> outputs(names.size());
    std::vector<at::Tensor> labels;
    ModelState state;
    BatchReader reader(data, job);
    for (std::int64_t i = 0; i < reader.count(); ++i) {
        QS_TRY(const Batch batch, reader.next());
        QS_TRY(const auto values,
               interpreter.run(batch.inputs, {}, job, data.isSequence() ? &state : nullptr));
        for (std::size_t k = 0; k < values.size() && k < outputs.size(); ++k)
            if (values[k].isTensor())
                outputs[k].push_back(values[k].toTensor());
        if (batch.labels.defined())
            labels.push_back(batch.labels);
    }
    const auto unique = madeUnique(
        names, data.hasLabels() ? std::set<std::string> {"labels"} : std::set<std::string>());
    std::vector<NpyArray> arrays;
    for (std::size_t k = 0; k < outputs.size(); ++k)
        addArrays(unique[k], outputs[k], arrays);
    if (!labels.empty())
        arrays.push_back(npyFromTensor("labels", at::cat(labels, 0)));
    return writeNpz(arrays, path);
}

} // namespace

Result<void> writeOutputs(GraphPtr graph, const Dataset& data,
                          const std::vector<std::string>& names, const std::string& path,
                          const JobContext& job)
{
    const InferenceScope inference;
    QS_TRY(const Interpreter interpreter, Interpreter::create(std::move(graph), {}, job));
    return guardTorch([&] { return collect(interpreter, data, names, path, job); });
}

} // namespace qs
