// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/input_variety.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/io/packed_tensor.h"

#include <ATen/ATen.h>

#include <cstring>

namespace qs {

namespace {

// True if a tensor consists of repetitions of the `size` bytes at `part`.
bool repeats(const at::Tensor& tensor, const void* part, std::size_t size)
{
    const auto* bytes = static_cast<const char*>(tensor.const_data_ptr());
    const std::size_t all = tensor.nbytes();
    // Equal to `part` at the start, and to itself shifted by one part.
    return all == 0 || size == 0
        || (std::memcmp(bytes, part, size) == 0
            && std::memcmp(bytes, bytes + size, all - size) == 0);
}

} // namespace

InputVariety::InputVariety(const Graph& graph)
{
    for (const Node* input : graph.inputs())
        m_inputs.push_back({input->name, {}});
}

void InputVariety::see(const Batch& batch)
{
    for (std::size_t i = 0; i < m_inputs.size() && i < batch.inputs.size(); ++i) {
        Seen& seen = m_inputs[i];
        if (!seen.isOneValue && !seen.isOneSample)
            continue;
        const at::Tensor tensor
            = batch.inputs[i].isTensor() ? batch.inputs[i].toTensor() : at::Tensor();
        if (!tensor.defined() || tensor.numel() == 0 || at::isComplexType(tensor.scalar_type())) {
            seen.isOneValue = seen.isOneSample = false; // not checked
            continue;
        }
        const at::Tensor dense = tensor.contiguous();
        if (!seen.first.defined())
            seen.first = dense.dim() > 0 ? dense.slice(0, 0, 1).clone() : dense.clone();
        seen.samples += dense.dim() > 0 ? dense.size(0) : 1;
        const void* first = seen.first.const_data_ptr();
        seen.isOneValue = seen.isOneValue && repeats(dense, first, dense.element_size());
        seen.isOneSample = seen.isOneSample && dense.dim() == seen.first.dim()
            && (dense.dim() == 0 || dense.sizes().slice(1) == seen.first.sizes().slice(1))
            && repeats(dense, first, seen.first.nbytes());
    }
}

void InputVariety::report() const
{
    for (const Seen& seen : m_inputs) {
        if (!seen.first.defined())
            continue;
        std::string what;
        if (seen.isOneValue)
            what = "is " + elementText(seen.first, 0) + " throughout the calibration data";
        else if (seen.isOneSample && seen.samples > 1)
            what = "is the same in all " + counted(seen.samples, "sample")
                + " of the calibration data";
        else
            continue;
        log(seen.first.is_floating_point() ? LogLevel::Warning : LogLevel::Note,
            "input '" + seen.name + "' " + what
                + (seen.first.is_floating_point() ? ": ranges chosen from it may not fit other data"
                                                  : ""));
    }
}

std::string InputVariety::packed() const
{
    Packer out;
    for (const Seen& seen : m_inputs) {
        out.add(seen.isOneValue).add(seen.isOneSample).add(seen.samples);
        packTensor(out, seen.first);
    }
    return out.take();
}

Result<void> InputVariety::add(const std::string& bytes)
{
    Unpacker in(bytes);
    for (Seen& seen : m_inputs) {
        Seen other;
        in.get(other.isOneValue).get(other.isOneSample).get(other.samples);
        QS_TRY(other.first, unpackTensor(in));
        const bool isSame = !other.first.defined() || !seen.first.defined()
            || (seen.first.dim() == other.first.dim() && seen.first.sizes() == other.first.sizes()
                && repeats(other.first, seen.first.const_data_ptr(), seen.first.nbytes()));
        // The first elements stand for all where each rank saw one value.
        const bool isSameValue = !other.first.defined() || !seen.first.defined()
            || (seen.first.scalar_type() == other.first.scalar_type()
                && std::memcmp(seen.first.const_data_ptr(), other.first.const_data_ptr(),
                               seen.first.element_size())
                    == 0);
        seen.isOneSample = seen.isOneSample && other.isOneSample && isSame;
        seen.isOneValue = seen.isOneValue && other.isOneValue && isSameValue;
        seen.samples += other.samples;
        if (!seen.first.defined())
            seen.first = other.first;
    }
    return {};
}

} // namespace qs
