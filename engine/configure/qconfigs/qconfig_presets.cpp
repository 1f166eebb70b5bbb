// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/qconfig_presets.h"

#include <array>

namespace qs {

namespace {

constexpr double kSmallScale = 1.0 / 4096; // 2^-12, required by XNNPACK

ObserverSpec histogram(bool reduceRange)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::Histogram;
    spec.reduceRange = reduceRange;
    return spec;
}

ObserverSpec signedHistogram()
{
    ObserverSpec spec = histogram(false);
    spec.dtype = DType::QInt8;
    spec.eps = kSmallScale;
    return spec;
}

ObserverSpec minMaxSevenBits()
{
    ObserverSpec spec;
    spec.quantMin = 0;
    spec.quantMax = 127;
    return spec;
}

ObserverSpec weightPerChannel()
{
    ObserverSpec spec;
    spec.kind = ObserverKind::PerChannelMinMax;
    spec.dtype = DType::QInt8;
    spec.qscheme = QScheme::PerChannelSymmetric;
    return spec;
}

ObserverSpec symmetric127(ObserverSpec spec)
{
    spec.quantMin = -127;
    spec.quantMax = 127;
    spec.eps = kSmallScale;
    return spec;
}

/// Plain int8 with one scale per row.
ObserverSpec plainWeight()
{
    ObserverSpec spec = weightPerChannel();
    spec.dtype = DType::Int8;
    return spec;
}

/// Four bits in groups of 32, torchao's default for linears with dynamic activations.
ObserverSpec fourBitGroups(DType dtype)
{
    ObserverSpec spec = weightPerChannel();
    spec.dtype = dtype;
    spec.quantMin = -8;
    spec.quantMax = 7;
    spec.groupSize = 32;
    return spec;
}

ObserverSpec floatQParams(DType dtype)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::PerChannelMinMax;
    spec.dtype = dtype;
    spec.qscheme = QScheme::PerChannelAffineFloatQParams;
    return spec;
}

ObserverSpec dynamicActivation()
{
    ObserverSpec spec = observers::placeholder(DType::QUInt8);
    spec.quantMin = 0;
    spec.quantMax = 255;
    spec.isDynamic = true;
    return spec;
}

ObserverSpec dynamicHalf()
{
    ObserverSpec spec = observers::placeholder(DType::Float16);
    spec.isDynamic = true;
    return spec;
}

ObserverSpec ofKind(ObserverKind kind, DType dtype = DType::QUInt8)
{
    ObserverSpec spec;
    spec.kind = kind;
    spec.dtype = dtype;
    return spec;
}

/// TensorRT computes with zero points of 0: signed and symmetric throughout.
ObserverSpec symmetricHistogram()
{
    ObserverSpec spec = histogram(false);
    spec.dtype = DType::QInt8;
    spec.qscheme = QScheme::PerTensorSymmetric;
    return spec;
}

/// 16 bits: clipping would cost more than coarser steps, so the full range is kept.
ObserverSpec wide(DType dtype, QScheme qscheme)
{
    ObserverSpec spec;
    spec.dtype = dtype;
    spec.qscheme = qscheme;
    return spec;
}

const std::array<Preset, 24> kPresets {{
    {"x86",
     [] {
         return QConfig {histogram(true), weightPerChannel()};
     }},
    {"fbgemm",
     [] {
         return QConfig {histogram(true), weightPerChannel()};
     }},
    {"qnnpack",
     [] {
         return QConfig {histogram(false), observers::weightPerTensor()};
     }},
    {"onednn",
     [] {
         return QConfig {histogram(false), weightPerChannel()};
     }},
    {"symmetric_qnnpack",
     [] {
         return QConfig {signedHistogram(), symmetric127(observers::weightPerTensor())};
     }},
    {"tensorrt",
     [] {
         return QConfig {symmetricHistogram(), weightPerChannel()};
     }},
    {"default",
     [] {
         return QConfig {minMaxSevenBits(), observers::weightPerTensor()};
     }},
    {"default_per_channel",
     [] {
         return QConfig {minMaxSevenBits(), weightPerChannel()};
     }},
    {"default_dynamic",
     [] {
         return QConfig {dynamicActivation(), observers::weightPerTensor()};
     }},
    {"per_channel_dynamic",
     [] {
         return QConfig {dynamicActivation(), weightPerChannel()};
     }},
    {"float16_dynamic",
     [] {
         return QConfig {dynamicHalf(), observers::placeholder(DType::Float16)};
     }},
    {"float16_static",
     [] {
         return QConfig {observers::placeholder(DType::Float16),
                         observers::placeholder(DType::Float16)};
     }},
    {"float_qparams_weight_only",
     [] {
         return QConfig {observers::placeholder(DType::Float32), floatQParams(DType::QUInt8)};
     }},
    {"float_qparams_weight_only_4bit",
     [] {
         return QConfig {observers::placeholder(DType::Float32), floatQParams(DType::QUInt4x2)};
     }},
    {"default_quint8_weight",
     [] {
         return QConfig {histogram(false), ObserverSpec {}};
     }},
    {"default_reuse_input",
     [] {
         return QConfig {ofKind(ObserverKind::ReuseInput),
                         ofKind(ObserverKind::Noop, DType::Float16)};
     }},
    {"default_debug",
     [] {
         return QConfig {ofKind(ObserverKind::Recording), observers::weightPerTensor()};
     }},
    {"default_symmetric_qnnpack",
     [] {
         return QConfig {signedHistogram(), symmetric127(observers::weightPerTensor())};
     }},
    {"default_per_channel_symmetric_qnnpack",
     [] {
         return QConfig {signedHistogram(), symmetric127(weightPerChannel())};
     }},
    {"int8_weight_only",
     [] {
         return QConfig {observers::placeholder(DType::Float32), plainWeight()};
     }},
    {"int4_weight_only",
     [] {
         return QConfig {observers::placeholder(DType::Float32), fourBitGroups(DType::Int8)};
     }},
    {"int8_dynamic_activation_int4_weight",
     [] {
         return QConfig {dynamicActivation(), fourBitGroups(DType::QInt8)};
     }},
    {"int16_activation_int8_weight",
     [] {
         return QConfig {wide(DType::Int16, QScheme::PerTensorSymmetric), weightPerChannel()};
     }},
    {"uint16_activation_int8_weight",
     [] {
         return QConfig {wide(DType::UInt16, QScheme::PerTensorAffine), weightPerChannel()};
     }},
}};

} // namespace

std::span<const Preset> calibrationPresets()
{
    return kPresets;
}

namespace observers {

ObserverSpec placeholder(DType dtype)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::Placeholder;
    spec.dtype = dtype;
    return spec;
}

ObserverSpec weightPerTensor()
{
    ObserverSpec spec;
    spec.dtype = DType::QInt8;
    spec.qscheme = QScheme::PerTensorSymmetric;
    return spec;
}

ObserverSpec fixed(double scale, std::int64_t zeroPoint)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::FixedQParams;
    spec.quantMin = 0;
    spec.quantMax = 255;
    spec.scale = scale;
    spec.zeroPoint = zeroPoint;
    return spec;
}

} // namespace observers

bool isForTraining(const QConfig& qconfig)
{
    return qconfig.activation.fakeQuantize != FakeQuantize::None
        || qconfig.weight.fakeQuantize != FakeQuantize::None;
}

std::optional<QConfig> presetQConfig(std::string_view name)
{
    for (const auto presets : {calibrationPresets(), trainingPresets()})
        for (const Preset& preset : presets)
            if (preset.name == name)
                return preset.make();
    return std::nullopt;
}

std::vector<std::string> presetNames()
{
    std::vector<std::string> names;
    for (const auto presets : {calibrationPresets(), trainingPresets()})
        for (const Preset& preset : presets)
            names.emplace_back(preset.name);
    return names;
}

} // namespace qs
