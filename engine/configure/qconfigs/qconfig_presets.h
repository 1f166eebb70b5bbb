// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

#include <span>

namespace qs {

/// A named preset.
struct Preset
{
    std::string_view name;
    QConfig (*make)();
};

/// Presets for calibration, and presets for training, whose activations or weights have a
/// fake-quantize.
std::span<const Preset> calibrationPresets();
std::span<const Preset> trainingPresets();

namespace observers {

/// PlaceholderObserver of that dtype, static.
ObserverSpec placeholder(DType dtype);
/// torch.ao's `default_weight_observer`: signed, symmetric, one scale per tensor.
ObserverSpec weightPerTensor();
/// FixedQParamsObserver over 0..255.
ObserverSpec fixed(double scale, std::int64_t zeroPoint);
/// torch.ao's `default_weight_fake_quant`.
ObserverSpec weightFakeQuantize();

} // namespace observers

} // namespace qs
