// SPDX-License-Identifier: Apache-2.0
#include "engine/io/packed_tensor.h"

#include <ATen/ATen.h>

#include <cstring>

namespace qs {

void packTensor(Packer& out, const at::Tensor& tensor)
{
    out.add(tensor.defined());
    if (!tensor.defined())
        return;
    const at::Tensor dense = tensor.to(at::kCPU).contiguous();
    out.add(dense.scalar_type()).add(dense.sizes().vec());
    out.add(std::string_view(static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()));
}

Result<at::Tensor> unpackTensor(Unpacker& in)
{
    bool isDefined = false;
    in.get(isDefined);
    if (!isDefined)
        return at::Tensor();
    at::ScalarType type = at::kFloat;
    std::vector<std::int64_t> sizes;
    std::string values;
    in.get(type).get(sizes).get(values);
    QS_CHECK(in.check());
    at::Tensor tensor = at::empty(sizes, type);
    if (tensor.nbytes() != values.size())
        return fail(ErrorCode::Internal, "a tensor of a rank has another size");
    std::memcpy(tensor.mutable_data_ptr(), values.data(), values.size());
    return tensor;
}

} // namespace qs
