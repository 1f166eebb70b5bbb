// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_model.h"

namespace qs {

int onnxTypeNumber(DType dtype)
{
    switch (dtype) {
    case DType::Float32:
        return 1;
    case DType::UInt8:
        return 2;
    case DType::Int8:
        return 3;
    case DType::UInt16:
        return 4;
    case DType::Int16:
        return 5;
    case DType::Int32:
        return 6;
    case DType::Int64:
        return 7;
    case DType::Bool:
        return 9;
    case DType::Float16:
        return 10;
    case DType::Float64:
        return 11;
    case DType::UInt32:
        return 12;
    case DType::UInt64:
        return 13;
    case DType::BFloat16:
        return 16;
    default:
        return 0;
    }
}

} // namespace qs
