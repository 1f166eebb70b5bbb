// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/quantization_mode.h"

namespace qs {

std::string_view quantizationModeName(QuantizationMode mode)
{
    switch (mode) {
    case QuantizationMode::Dynamic:
        return "dynamic";
    case QuantizationMode::WeightOnly:
        return "weight_only";
    default:
        return "static";
    }
}

Result<QuantizationMode> quantizationMode(const QConfig& qconfig)
{
    const ObserverSpec& activation = qconfig.activation;
    const bool half = qconfig.weight.dtype == DType::Float16;
    if (half || isIntegerDType(qconfig.weight.dtype)) {
        if (activation.isDynamic)
            return QuantizationMode::Dynamic;
        if (half ? activation.dtype == DType::Float16 : isIntegerDType(activation.dtype))
            return QuantizationMode::Static;
        if (!half)
            return QuantizationMode::WeightOnly;
    }
    return fail(makeError(ErrorCode::BadInput,
                          "no mode of quantization has activations in "
                              + std::string(dtypeName(activation.dtype)) + " and weights in "
                              + std::string(dtypeName(qconfig.weight.dtype)))
                    .withHint("give the weight an integer type, or both float16"));
}

} // namespace qs
