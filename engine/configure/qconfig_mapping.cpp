// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfig_mapping.h"

#include "engine/configure/qconfigs/qconfig_presets.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<RuleKind, std::string_view>, 8> kRuleNames {{
    {RuleKind::None, "none"},
    {RuleKind::Global, "global"},
    {RuleKind::ObjectType, "object_type"},
    {RuleKind::ModuleNameRegex, "module_name_regex"},
    {RuleKind::ModuleName, "module_name"},
    {RuleKind::ModuleNameObjectTypeOrder, "module_name_object_type_order"},
    {RuleKind::Node, "node"},
    {RuleKind::Edge, "edge"},
}};

// torch.ao's operators with a fixed output range, in its order.
constexpr std::array kZeroToOne {"torch.nn.Hardsigmoid",
                                 "torch.nn.functional.hardsigmoid",
                                 "hardsigmoid",
                                 "hardsigmoid_",
                                 "torch.nn.Sigmoid",
                                 "torch.sigmoid",
                                 "sigmoid",
                                 "sigmoid_",
                                 "torch.nn.Softmax"};
constexpr std::array kMinusOneToOne {"torch.nn.Tanh", "torch.tanh", "tanh", "tanh_"};
constexpr std::array kTransposed {"torch.nn.ConvTranspose1d",
                                  "torch.nn.ConvTranspose2d",
                                  "torch.nn.ConvTranspose3d",
                                  "torch.nn.functional.conv_transpose1d",
                                  "torch.nn.functional.conv_transpose2d",
                                  "torch.nn.functional.conv_transpose3d"};

enum class Style : std::uint8_t
{
    Plain, ///< get_default_qconfig_mapping
    Training, ///< get_default_qat_qconfig_mapping
    Symmetric, ///< one qconfig for everything without a fixed range
    SymmetricTraining,
    GlobalOnly
};
struct DefaultMapping
{
    std::string_view name; ///< also the preset's name under "global"
    Style style;
    bool perTensorTransposed; ///< FBGEMM's transposed convolutions support only one weight scale
};
constexpr std::array<DefaultMapping, 15> kDefaults {{
    {"x86", Style::Plain, true},
    {"fbgemm", Style::Plain, true},
    {"qnnpack", Style::Plain, false},
    {"onednn", Style::Plain, false},
    {"symmetric_qnnpack", Style::Symmetric, false},
    {"tensorrt", Style::GlobalOnly, false},
    {"x86_qat", Style::Training, true},
    {"fbgemm_qat", Style::Training, true},
    {"qnnpack_qat", Style::Training, false},
    {"onednn_qat", Style::Training, false},
    {"x86_qat_v0", Style::Training, true},
    {"fbgemm_qat_v0", Style::Training, true},
    {"qnnpack_qat_v0", Style::Training, false},
    {"onednn_qat_v0", Style::Training, false},
    {"symmetric_qnnpack_qat", Style::SymmetricTraining, false},
}};

void addRule(QConfigMapping& mapping, const char* type, NamedQConfig qconfig)
{
    Rule rule;
    rule.kind = RuleKind::ObjectType;
    rule.key = type;
    rule.qconfig = std::move(qconfig);
    rule.fromBackend = true;
    mapping.rules.push_back(std::move(rule));
}

/// Adds the entries of lower precedence than the fixed-range operators.
void addOddTypes(QConfigMapping& mapping, const DefaultMapping& known, const NamedQConfig& base)
{
    const bool symmetric
        = known.style == Style::Symmetric || known.style == Style::SymmetricTraining;
    const bool trains = known.style == Style::Training;
    const auto choose = [&](const std::string& name, QConfig qconfig) {
        return symmetric ? base : NamedQConfig {name, std::move(qconfig)};
    };
    const ObserverSpec& activation = base.config->activation;
    addRule(mapping, "reshape",
            choose("default_reuse_input", *presetQConfig("default_reuse_input")));
    const ObserverSpec weight
        = trains ? observers::weightFakeQuantize() : observers::weightPerTensor();
    const NamedQConfig transposed = known.perTensorTransposed
        ? NamedQConfig {base.name + "_conv_transpose", QConfig {activation, weight}}
        : base;
    for (const char* type : kTransposed)
        addRule(mapping, type, transposed);
    const NamedQConfig layerNorm
        = choose(base.name + "_layer_norm", {activation, observers::placeholder(DType::Float32)});
    addRule(mapping, "torch.nn.functional.layer_norm", layerNorm);
    addRule(mapping, "torch.nn.LayerNorm", layerNorm);
    addRule(mapping, "torch.nn.PReLU",
            choose("default_quint8_weight", *presetQConfig("default_quint8_weight")));
}

QConfigMapping makeDefault(const DefaultMapping& known)
{
    const NamedQConfig base {std::string(known.name), presetQConfig(known.name)};
    QConfigMapping mapping;
    Rule global;
    global.qconfig = base;
    mapping.rules.push_back(std::move(global));
    if (known.style == Style::GlobalOnly)
        return mapping;
    addOddTypes(mapping, known, base);
    const bool trains = known.style == Style::Training || known.style == Style::SymmetricTraining;
    const auto fixed = [trains](double scale, std::int64_t zeroPoint) {
        ObserverSpec spec = observers::fixed(scale, zeroPoint);
        if (trains)
            spec.fakeQuantize = FakeQuantize::FixedQParams;
        return QConfig {spec,
                        trains ? observers::weightFakeQuantize() : observers::weightPerTensor()};
    };
    for (const char* type : kZeroToOne)
        addRule(mapping, type, {"fixed_0_to_1", fixed(1.0 / 256, 0)});
    for (const char* type : kMinusOneToOne)
        addRule(mapping, type, {"fixed_-1_to_1", fixed(2.0 / 256, 128)});
    return mapping;
}

} // namespace

std::string_view ruleKindName(RuleKind kind)
{
    for (const auto& [candidate, name] : kRuleNames)
        if (candidate == kind)
            return name;
    return "none";
}

std::vector<std::string> QConfigMapping::defaultNames()
{
    std::vector<std::string> names;
    for (const DefaultMapping& mapping : kDefaults)
        names.emplace_back(mapping.name);
    return names;
}

std::optional<QConfigMapping> QConfigMapping::defaultFor(std::string_view name)
{
    for (const DefaultMapping& known : kDefaults)
        if (known.name == name)
            return makeDefault(known);
    return std::nullopt;
}

} // namespace qs
