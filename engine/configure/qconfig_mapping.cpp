// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfig_mapping.h"

#include "engine/configure/qconfig_presets.h"

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

// torch.ao's operators whose output range is known beforehand, in its order.
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

} // namespace

std::string_view ruleKindName(RuleKind kind)
{
    for (const auto& [candidate, name] : kRuleNames)
        if (candidate == kind)
            return name;
    return "none";
}

std::optional<QConfigMapping> QConfigMapping::defaultFor(std::string_view backend)
{
    if (backend != "x86" && backend != "fbgemm" && backend != "qnnpack" && backend != "onednn")
        return std::nullopt;
    const QConfig base = *presetQConfig(backend);
    const std::string name(backend);
    QConfigMapping mapping;
    Rule global;
    global.qconfig = {name, base};
    mapping.rules.push_back(global);
    const auto add = [&mapping](const char* type, const std::string& qconfigName, QConfig qconfig) {
        Rule rule;
        rule.kind = RuleKind::ObjectType;
        rule.key = type;
        rule.qconfig = {qconfigName, std::move(qconfig)};
        rule.fromBackend = true;
        mapping.rules.push_back(std::move(rule));
    };
    add("reshape", "default_reuse_input", *presetQConfig("default_reuse_input"));
    // FBGEMM's transposed convolutions know one weight scale only.
    const bool perTensor = backend == "fbgemm" || backend == "x86";
    const QConfig transposed
        = perTensor ? QConfig {base.activation, observers::weightPerTensor()} : base;
    for (const char* type : kTransposed)
        add(type, perTensor ? name + "_conv_transpose" : name, transposed);
    const QConfig layerNorm {base.activation, observers::placeholder(DType::Float32)};
    add("torch.nn.functional.layer_norm", name + "_layer_norm", layerNorm);
    add("torch.nn.LayerNorm", name + "_layer_norm", layerNorm);
    add("torch.nn.PReLU", "default_quint8_weight", *presetQConfig("default_quint8_weight"));
    for (const char* type : kZeroToOne)
        add(type, "fixed_0_to_1", {observers::fixed(1.0 / 256, 0), observers::weightPerTensor()});
    for (const char* type : kMinusOneToOne)
        add(type, "fixed_-1_to_1",
            {observers::fixed(2.0 / 256, 128), observers::weightPerTensor()});
    return mapping;
}

} // namespace qs
