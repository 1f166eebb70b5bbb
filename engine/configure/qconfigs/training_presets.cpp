// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/qconfig_presets.h"

#include <array>

namespace qs {

namespace {

constexpr double kXnnpackScale = 1.0 / 4096; // 2^-12, required by XNNPACK

ObserverSpec averaging(FakeQuantize fake, DType dtype, std::int64_t low, std::int64_t high)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::MovingAverageMinMax;
    spec.fakeQuantize = fake;
    spec.dtype = dtype;
    spec.quantMin = low;
    spec.quantMax = high;
    return spec;
}

ObserverSpec activation(FakeQuantize fake, bool reduceRange)
{
    ObserverSpec spec = averaging(fake, DType::QUInt8, 0, 255);
    spec.reduceRange = reduceRange;
    return spec;
}

ObserverSpec dynamicFakeQuantize()
{
    ObserverSpec spec = activation(FakeQuantize::Plain, false);
    spec.isDynamic = true;
    spec.averagingConstant = 1;
    return spec;
}

ObserverSpec signedActivation()
{
    ObserverSpec spec = averaging(FakeQuantize::FusedMovingAverage, DType::QInt8, -128, 127);
    spec.eps = kXnnpackScale;
    return spec;
}

ObserverSpec weight(FakeQuantize fake, std::int64_t low = -128)
{
    ObserverSpec spec = averaging(fake, DType::QInt8, low, 127);
    spec.qscheme = QScheme::PerTensorSymmetric;
    return spec;
}

ObserverSpec perChannel(ObserverSpec spec)
{
    spec.kind = ObserverKind::MovingAveragePerChannelMinMax;
    spec.qscheme = QScheme::PerChannelSymmetric;
    return spec;
}

ObserverSpec smallScale(ObserverSpec spec)
{
    spec.eps = kXnnpackScale;
    return spec;
}

ObserverSpec embeddingWeight(DType dtype)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::MovingAveragePerChannelMinMax;
    spec.fakeQuantize = FakeQuantize::Plain;
    spec.dtype = dtype;
    spec.qscheme = QScheme::PerChannelAffineFloatQParams;
    spec.averagingConstant = 1;
    if (dtype == DType::QUInt8) {
        spec.quantMin = 0;
        spec.quantMax = 255;
    }
    return spec;
}

ObserverSpec silent(ObserverKind kind)
{
    ObserverSpec spec;
    spec.kind = kind;
    spec.dtype = DType::Float32;
    return spec;
}

constexpr auto kPlain = FakeQuantize::Plain;
constexpr auto kFused = FakeQuantize::FusedMovingAverage;

const std::array<Preset, 18> kTrainingPresets {{
    {"x86_qat",
     [] {
         return QConfig {activation(kFused, true), perChannel(weight(kFused))};
     }},
    {"fbgemm_qat",
     [] {
         return QConfig {activation(kFused, true), perChannel(weight(kFused))};
     }},
    {"qnnpack_qat",
     [] {
         return QConfig {activation(kFused, false), weight(kFused)};
     }},
    {"onednn_qat",
     [] {
         return QConfig {activation(kFused, false), perChannel(weight(kFused))};
     }},
    {"x86_qat_v0",
     [] {
         return QConfig {activation(kPlain, true), perChannel(weight(kPlain))};
     }},
    {"fbgemm_qat_v0",
     [] {
         return QConfig {activation(kPlain, true), perChannel(weight(kPlain))};
     }},
    {"qnnpack_qat_v0",
     [] {
         return QConfig {activation(kPlain, false), weight(kPlain)};
     }},
    {"onednn_qat_v0",
     [] {
         return QConfig {activation(kPlain, false), perChannel(weight(kPlain))};
     }},
    {"symmetric_qnnpack_qat",
     [] {
         return QConfig {signedActivation(), smallScale(weight(kFused, -127))};
     }},
    {"default_qat",
     [] {
         return QConfig {activation(kPlain, true), weight(kPlain)};
     }},
    {"default_dynamic_qat",
     [] {
         return QConfig {dynamicFakeQuantize(), weight(kPlain)};
     }},
    {"default_weight_only",
     [] {
         return QConfig {silent(ObserverKind::Identity), weight(kPlain)};
     }},
    {"default_activation_only",
     [] {
         return QConfig {activation(kPlain, true), silent(ObserverKind::Identity)};
     }},
    {"default_qat_v2",
     [] {
         return QConfig {activation(kFused, false), weight(kFused)};
     }},
    {"default_symmetric_qnnpack_qat",
     [] {
         return QConfig {signedActivation(), smallScale(weight(kFused, -127))};
     }},
    {"default_per_channel_symmetric_qnnpack_qat",
     [] {
         return QConfig {signedActivation(), perChannel(smallScale(weight(kFused, -127)))};
     }},
    {"default_embedding_qat",
     [] {
         return QConfig {silent(ObserverKind::Noop), embeddingWeight(DType::QUInt8)};
     }},
    {"default_embedding_qat_4bit",
     [] {
         return QConfig {silent(ObserverKind::Noop), embeddingWeight(DType::QUInt4x2)};
     }},
}};

} // namespace

namespace observers {

ObserverSpec weightFakeQuantize()
{
    return weight(kPlain);
}

} // namespace observers

std::span<const Preset> trainingPresets()
{
    return kTrainingPresets;
}

} // namespace qs
