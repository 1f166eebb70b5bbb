// SPDX-License-Identifier: Apache-2.0
#include "engine/io/npy_tensor.h"

#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

#include <cstring>

namespace qs {

NpyArray npyFromTensor(const std::string& name, const at::Tensor& given)
{
    const bool plain = given.scalar_type() == at::kFloat || given.scalar_type() == at::kDouble
        || !given.is_floating_point();
    const at::Tensor tensor = given.to(plain ? given.scalar_type() : at::kFloat).cpu().contiguous();
    NpyArray array;
    array.name = name;
    array.dtype = fromScalarType(tensor.scalar_type());
    array.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
    array.bytes.resize(tensor.nbytes());
    if (tensor.nbytes() > 0)
        std::memcpy(array.bytes.data(), tensor.const_data_ptr(), tensor.nbytes());
    return array;
}

at::Tensor tensorFromNpy(const NpyArray& array)
{
    const at::ScalarType type = toScalarType(array.dtype);
    if (type == at::ScalarType::Undefined)
        return {};
    at::Tensor tensor = at::empty(array.shape, type);
    if (tensor.nbytes() > 0)
        std::memcpy(tensor.mutable_data_ptr(), array.bytes.data(), tensor.nbytes());
    return tensor;
}

} // namespace qs
