// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/calls/try_kernel.h"

#include "engine/base/files/read_file.h"
#include "engine/base/files/temporary_folder.h"
#include "engine/base/process/try_apart.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/op_table.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>
#include <functional>
#include <limits>

namespace qs {

namespace {

constexpr const char* kOnMeta = "meta"; ///< marks tensors without content

using TensorChange = std::function<at::Tensor(const at::Tensor&)>;

at::IValue withTensors(const at::IValue& value, const TensorChange& change)
{
    if (value.isTensor())
        return value.toTensor().defined() ? change(value.toTensor()) : value;
    if (!value.isTensorList())
        return value;
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector())
        tensors.push_back(change(tensor));
    return tensors;
}

/// Runs in the copy of the process. `words`: the operator, the file of its arguments and, for
/// tensors without content, `kOnMeta`.
Result<void> callOnFile(const std::vector<std::string>& words)
{
    constexpr int kTimes = 2; // heap corruption shows at the next use of the heap
    at::set_num_threads(1);
    const InferenceScope scope;
    QS_TRY(const std::string bytes,
           readWholeFile(words.at(1), std::numeric_limits<std::uint64_t>::max()));
    const at::IValue read = torch::jit::pickle_load({bytes.begin(), bytes.end()});
    torch::jit::Stack given;
    for (const at::IValue& value : read.toTupleRef().elements())
        given.push_back(words.back() != kOnMeta ? value
                                                : withTensors(value, [](const at::Tensor& t) {
                                                      return t.to(at::kMeta);
                                                  }));
    for (int i = 0; i < kTimes; ++i) {
        torch::jit::Stack stack = given;
        findOperator(words.front())->callBoxed(stack);
    }
    return {};
}

} // namespace

Result<void> tryKernel(const c10::OperatorHandle& op, const torch::jit::Stack& given)
{
    constexpr TrialLimits kLimits {std::int64_t(4) << 30, 20};
    bool isMeta = false;
    const auto storable = [&isMeta](const at::Tensor& tensor) {
        isMeta = isMeta || tensor.is_meta();
        return tensor.is_meta()
            ? at::zeros({}, tensor.options().device(at::kCPU)).expand(tensor.sizes())
            : tensor;
    };
    std::vector<at::IValue> stored;
    for (const at::IValue& value : given)
        stored.push_back(withTensors(value, storable));
    std::vector<char> bytes;
    const auto pickled = guardTorch([&]() -> Result<void> {
        bytes = torch::jit::pickle_save(c10::ivalue::Tuple::create(std::move(stored)));
        return {};
    });
    if (!pickled)
        return fail(ErrorCode::Unsupported,
                    "PyTorch's kernel trusts its arguments, and these cannot be tried first: "
                        + pickled.error().message);
    QS_TRY(const TemporaryFolder folder, TemporaryFolder::create("kernel"));
    const std::string file = folder.file("arguments");
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), std::streamsize(bytes.size()));
    if (!out.flush())
        return fail(makeError(ErrorCode::Io, "cannot be written").inFile(file));
    std::vector<std::string> words {targetOf(op.operator_name()), file};
    if (isMeta)
        words.emplace_back(kOnMeta);
    QS_TRY(const std::optional<TrialEnd> end, runApart(callOnFile, words, kLimits, {}));
    if (!end || !end->crashed())
        return {};
    return fail(makeError(ErrorCode::BadInput, "PyTorch's kernel crashes on these arguments")
                    .withHint("give it others, or leave the operator out"));
}

} // namespace qs
