// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/tensor_form.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

/// Elements from the first to the last one.
std::int64_t extent(const TensorForm& form)
{
    std::int64_t count = 1;
    for (std::size_t i = 0; i < form.sizes.size(); ++i)
        count += (form.sizes[i] - 1) * form.strides[i];
    return count;
}

at::Tensor storageLike(const at::Tensor& tensor, std::int64_t count)
{
    return tensor.is_quantized() ? at::_empty_affine_quantized(
               {count}, tensor.options(), tensor.q_scale(), tensor.q_zero_point())
                                 : at::empty({count}, tensor.options());
}

at::Tensor laidOut(at::Tensor tensor, const TensorForm& form)
{
    if (tensor.strides() == at::IntArrayRef(form.strides) || tensor.numel() == 0)
        return tensor;
    const at::Tensor storage = storageLike(tensor, extent(form));
    // Where a value stands for a whole dimension (stride 0) it is written once.
    std::vector<std::int64_t> sizes = form.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (form.strides[i] == 0 && sizes[i] > 1) {
            sizes[i] = 1;
            tensor = tensor.narrow(std::int64_t(i), 0, 1);
        }
    storage.as_strided(sizes, form.strides).copy_(tensor);
    return storage.as_strided(form.sizes, form.strides);
}

bool isPerTensor(const at::Tensor& tensor)
{
    return tensor.is_quantized() && tensor.qscheme() == at::kPerTensorAffine;
}

} // namespace

TensorForm formOf(const at::Tensor& tensor)
{
    TensorForm form;
    if (!tensor.defined() || tensor.layout() != at::kStrided)
        return form;
    form.sizes = tensor.sizes().vec();
    form.strides = tensor.strides().vec();
    form.isQuantized = isPerTensor(tensor);
    if (form.isQuantized) {
        form.scale = tensor.q_scale();
        form.zeroPoint = tensor.q_zero_point();
        form.type = tensor.scalar_type();
    }
    return form;
}

at::Tensor inForm(const at::Tensor& tensor, const TensorForm& form)
{
    if (!tensor.defined() || tensor.sizes() != at::IntArrayRef(form.sizes)
        || isPerTensor(tensor) != form.isQuantized
        || (form.isQuantized && tensor.scalar_type() != form.type))
        return tensor;
    const bool sameGrid = !form.isQuantized
        || (tensor.q_scale() == form.scale && tensor.q_zero_point() == form.zeroPoint);
    return laidOut(sameGrid ? tensor
                            : at::quantize_per_tensor(tensor.dequantize(), form.scale,
                                                      form.zeroPoint, tensor.scalar_type()),
                   form);
}

} // namespace qs
