// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/packed_modules.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/convert/ranges/stored_qparams.h"
#include "engine/execute/op_table.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>
#include <ATen/core/class_type.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function.h>

#include <array>
#include <regex>

namespace qs {

namespace {

/// "fc" for "fc._packed_params._packed_params", "lstm" for "lstm._all_weight_values.0.param",
/// "cell" for "cell._packed_weight_ih"; empty if it is not a module's packed weight.
std::string moduleOf(const std::string& attribute)
{
    static const std::regex kPacked(R"((.+?)(\._packed_params(_\d+)?|\._packed_weight_[ih]h)"
                                    R"(|\._all_weight_values\.\d+\.param)+)");
    std::smatch found;
    return std::regex_match(attribute, found, kPacked) ? found[1].str() : std::string();
}

/// The float class of a quantized class and the fused activation: "Conv2d" and "ReLU" for
/// "QuantizedConvReLU2d".
struct FloatClass
{
    std::string root, activation;
};
FloatClass floatClassOf(const std::string& quantized)
{
    std::string name = lastPart(quantized);
    for (const std::string_view prefix : {"Dynamic", "Quantized"})
        if (name.starts_with(prefix))
            name.erase(0, prefix.size());
    for (const std::string_view activation : {"LeakyReLU", "ReLU", "Tanh"})
        if (const auto at = name.find(activation); at != std::string::npos && at > 0)
            return {std::string(name).erase(at, activation.size()), std::string(activation)};
    return {name, {}};
}

Result<std::vector<at::IValue>> call(const std::string& target, const at::IValue& packed)
{
    const auto op = findOperator(target);
    std::vector<at::IValue> stack {packed};
    if (!op)
        return fail(ErrorCode::Internal, "LibTorch has no " + target);
    QS_CHECK(guardTorch([&]() -> Result<void> {
        op->callBoxed(stack);
        return {};
    }));
    return stack;
}

/// The matrices in the packed parameters of a recurrent layer or in the packed weight of a cell:
/// those of the input, then those of the state. Empty for any other object.
Result<std::vector<at::Tensor>> recurrentWeights(const at::IValue& packed)
{
    std::vector<at::IValue> linears {packed};
    const std::string type = packed.type()->annotation_str();
    if (type == "__torch__.torch.classes.rnn.CellParamsBase") { // LibTorch's own, not the file's
        QS_CHECK(guardTorch([&]() -> Result<void> {
            // The state: kind, biases, numbers, and the packed linear layers.
            constexpr std::size_t kLinears = 4;
            const auto state = packed.toObjectRef().type()->getMethod("__getstate__")({packed});
            linears.clear();
            for (const at::IValue& linear : state.toTupleRef().elements().at(kLinears).toListRef())
                linears.push_back(linear);
            return {};
        }));
    } else if (type.find("Linear") == std::string::npos) {
        return {};
    }
    std::vector<at::Tensor> weights;
    for (const at::IValue& linear : linears) {
        QS_TRY(const auto parts, call(packedOperator("Linear", "unpack"), linear));
        if (!parts.empty() && parts[0].isTensor())
            weights.push_back(parts[0].toTensor());
    }
    return weights;
}

/// "LSTM", "GRU" or "RNN", by the number of gates in the matrices; empty for any other layer.
std::string recurrentClass(const std::vector<at::Tensor>& weights)
{
    if (weights.size() < 2 || weights[0].dim() != 2 || weights[1].dim() != 2
        || weights[1].size(1) == 0 || weights[0].size(0) != weights[1].size(0))
        return {};
    static constexpr std::pair<std::int64_t, const char*> kGates[]
        = {{4, "LSTM"}, {3, "GRU"}, {1, "RNN"}};
    for (const auto& [gates, name] : kGates)
        if (weights[1].size(0) == gates * weights[1].size(1))
            return name;
    return {};
}

class Unpacker
{
public:
    explicit Unpacker(const GraphPtr& model)
        : m_model(model)
        , m_edit(*model)
        , m_nextId(model->parts().nextId)
    {
    }

    Result<PackedModules> run()
    {
        const auto tensors = tensorsOf(*m_model);
        for (const NodePtr& node : m_model->nodes())
            if (node->isOperator() && isKernelTarget(node->target) && tensors) {
                QS_TRY(const bool isRecurrent, recurrent(*node, *tensors));
                if (!isRecurrent)
                    QS_CHECK(kernel(*node, *tensors));
            }
        if (!m_isAny)
            return PackedModules {m_model, nullptr, {}};
        Node output;
        output.kind = NodeKind::Output;
        output.name = "output";
        m_floats.insert(std::move(output));
        return PackedModules {std::make_shared<const Graph>(m_edit.build()),
                              std::make_shared<const Graph>(m_floats.build()),
                              std::move(m_fusions)};
    }

private:
    Result<void> kernel(const Node& node, const TensorStore& tensors)
    {
        for (std::size_t i = 0; i < node.args.size(); ++i) {
            const ValueRef* ref = node.args[i].value.asRef();
            const Node* holder = ref ? m_model->tryGet(ref->node) : nullptr;
            if (!holder || !holder->isStored())
                continue;
            const std::string path = moduleOf(holder->target);
            const ModuleEntry* entry = path.empty() ? nullptr : m_model->modules().tryGet(path);
            if (!entry)
                continue;
            QS_TRY(const at::IValue packed, tensors.get(holder->tensor));
            const std::string unpack = packed.isObject()
                ? packedOperator(packed.type()->annotation_str(), "unpack")
                : "";
            if (unpack.empty())
                continue;
            QS_TRY(const auto parts, call(unpack, packed));
            if (parts.empty() || !parts[0].isTensor() || !parts[0].toTensor().is_quantized())
                continue;
            const bool hasBias
                = parts.size() > 1 && parts[1].isTensor() && parts[1].toTensor().defined();
            const Scope scope {path, "torch.nn." + floatClassOf(entry->moduleClass).root,
                               m_calls[path]++};
            takeWeight(node, i, scope, parts[0].toTensor());
            QS_CHECK(addFloat(node, scope, parts[0].toTensor(), hasBias, packed));
            fuse(node, scope, floatClassOf(entry->moduleClass));
            m_isAny = true;
        }
        return {};
    }

    /// True if the kernel is a layer with a list of objects that hold its matrices, or a cell with
    /// two packed weights.
    Result<bool> recurrent(const Node& kernel, const TensorStore& tensors)
    {
        std::vector<const Node*> holders;
        bool isLayer = false;
        for (const NamedArgument& argument : kernel.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const Node& holder = m_model->get(ref.node);
                if (!holder.isStored() || moduleOf(holder.target).empty())
                    return;
                holders.push_back(&holder);
                isLayer |= argument.value.asList() != nullptr;
            });
        if (holders.empty() || (!isLayer && holders.size() != 2))
            return false;
        std::vector<at::Tensor> weights;
        for (const Node* holder : holders) {
            QS_TRY(const at::IValue packed, tensors.get(holder->tensor));
            if (!packed.isObject() || moduleOf(holder->target) != moduleOf(holders[0]->target))
                return false;
            QS_TRY(const auto own, recurrentWeights(packed));
            weights.insert(weights.end(), own.begin(), own.end());
        }
        const std::string name = recurrentClass(weights);
        if (name.empty())
            return false;
        const std::string path = moduleOf(holders[0]->target);
        const Scope scope {path, "torch.nn." + name + (isLayer ? "" : "Cell"), m_calls[path]++};
        m_edit.change(kernel.id).scope = scope;
        addRecurrent(kernel, scope, weights);
        if (kernel.scope.path == path) // with nodes the module adds, such as an initial state
            if (CodeFusion whole {beside(kernel), scope.moduleClass}; !whole.members.empty()) {
                whole.members.insert(whole.members.begin(), kernel.id);
                m_fusions.push_back(std::move(whole));
            }
        m_isAny = true;
        return true;
    }

    void addRecurrent(const Node& kernel, const Scope& scope,
                      const std::vector<at::Tensor>& weights)
    {
        Argument::List params;
        for (std::size_t i = 0; i < weights.size(); ++i)
            params.push_back(
                parameter(scope, "weight_" + std::to_string(i), typeOfTensor(weights[i])));
        Node made = floatCall(kernel, scope);
        made.args.push_back({"params", Argument(std::move(params))});
        for (const NamedArgument& argument : kernel.args) {
            bool reads = false;
            forEachRef(argument.value, [&](ValueRef) { reads = true; });
            if (!reads)
                made.args.push_back(argument);
        }
        made.outputs.push_back({kernel.name, ValueType()});
        m_floats.insert(std::move(made));
    }

    Argument parameter(const Scope& scope, const std::string& name, const ValueType& type)
    {
        Node stored;
        stored.id = NodeId(m_nextId++);
        stored.kind = NodeKind::Parameter;
        stored.name = stored.target = scope.path + "." + name;
        stored.outputs.push_back({stored.name, type});
        return Argument(ValueRef {m_floats.insert(std::move(stored)), 0});
    }

    static Node floatCall(const Node& kernel, const Scope& scope)
    {
        Node made;
        made.id = kernel.id;
        made.kind = NodeKind::Op;
        made.name = kernel.name;
        made.target = "module";
        made.scope = scope;
        return made;
    }

    /// Makes the kernel read a quantized parameter instead of a packed object.
    void takeWeight(const Node& kernel, std::size_t argument, const Scope& scope,
                    const at::Tensor& weight)
    {
        Node stored;
        stored.kind = NodeKind::Parameter;
        stored.name = stored.target = scope.path + ".weight";
        stored.outputs.push_back({stored.name, typeOfTensor(weight)});
        const NodeId parameter = m_edit.insert(std::move(stored), kernel.id);
        const bool perChannel = weight.qscheme() != at::kPerTensorAffine;
        Node quantize;
        quantize.kind = NodeKind::Op;
        quantize.name = "packed";
        quantize.scope = scope;
        quantize.target = perChannel ? std::string(kReferenceForm) + "quantize_per_channel.default"
                                     : std::string(kQuantizePerTensor);
        quantize.args.push_back({"input", Argument(ValueRef {parameter, 0})});
        quantize.args.push_back({"dtype", Argument(fromScalarType(weight.scalar_type()))});
        quantize.outputs.push_back({"packed", typeOfTensor(weight)});
        const NodeId made = m_edit.insert(std::move(quantize), kernel.id);
        std::vector<NamedArgument> args = m_edit.get(kernel.id).args;
        args[argument].value = Argument(ValueRef {made, 0});
        m_edit.setArgs(kernel.id, std::move(args));
        m_edit.change(kernel.id).scope = scope;
    }

    /// Adds the module's float operator, from which the printer takes the module's arguments.
    Result<void> addFloat(const Node& kernel, const Scope& scope, const at::Tensor& weight,
                          bool hasBias, const at::IValue& packed)
    {
        Node made = floatCall(kernel, scope);
        // The packed weight of a 1D layer has an extra dimension of length one.
        const std::string cls = lastPart(scope.moduleClass);
        const bool isConv = cls.starts_with("Conv");
        const std::size_t dims = isConv ? std::size_t(cls.back() - '0') : 0;
        ValueType type = typeOfTensor(weight);
        while (isConv && type.shape.size() > dims + 2)
            type.shape.erase(type.shape.begin() + 2);
        made.args.push_back({"weight", parameter(scope, "weight", type)});
        if (hasBias)
            made.args.push_back({"bias", parameter(scope, "bias", ValueType())});
        constexpr std::array<const char*, 5> kSettings {"stride", "padding", "dilation",
                                                        "output_padding", "groups"};
        for (const char* setting : kSettings) {
            const std::string teller
                = isConv ? packedOperator(packed.type()->annotation_str(), setting) : std::string();
            if (teller.empty() || !findOperator(teller))
                continue;
            QS_TRY(const auto told, call(teller, packed));
            if (!told.empty() && told[0].isInt())
                made.args.push_back({setting, Argument(told[0].toInt())});
            if (told.empty() || !told[0].isIntList())
                continue;
            Argument::List items;
            const auto sizes = told[0].toIntVector();
            for (std::size_t i = sizes.size() > dims ? sizes.size() - dims : 0; i < sizes.size();
                 ++i)
                items.emplace_back(std::int64_t(sizes[i]));
            made.args.push_back({setting, Argument(std::move(items))});
        }
        made.outputs.push_back({kernel.name, ValueType()});
        m_floats.insert(std::move(made));
        return {};
    }

    /// The other operators of the same call of the module: an activation, a cast of the result.
    std::vector<NodeId> beside(const Node& kernel) const
    {
        std::vector<NodeId> out;
        for (const NodePtr& node : m_model->nodes())
            if (node->isOperator() && node->id != kernel.id && node->scope.path == kernel.scope.path
                && node->scope.callIndex == kernel.scope.callIndex)
                out.push_back(node->id);
        return out;
    }

    void fuse(const Node& kernel, const Scope& scope, const FloatClass& of)
    {
        if (of.activation.empty())
            return;
        Node made;
        made.id = NodeId(m_nextId++);
        made.kind = NodeKind::Op;
        made.name = "activation";
        made.target = "module";
        made.scope = {scope.path + ".1", "torch.nn." + of.activation, scope.callIndex};
        made.args.push_back({"self", Argument(ValueRef {kernel.id, 0})});
        made.outputs.push_back({"activation", ValueType()});
        const NodeId id = m_floats.insert(std::move(made));
        std::string fused = lastPart(scope.moduleClass);
        const bool isConv = fused.starts_with("Conv");
        fused.insert(isConv ? fused.size() - 2 : fused.size(), of.activation);
        CodeFusion fusion {{kernel.id, id}, "torch.ao.nn.intrinsic." + fused};
        for (const NodeId other : beside(kernel))
            fusion.members.push_back(other);
        m_fusions.push_back(std::move(fusion));
    }

    const GraphPtr& m_model;
    GraphEdit m_edit, m_floats;
    std::uint32_t m_nextId;
    bool m_isAny = false;
    std::unordered_map<std::string, int> m_calls;
    std::vector<CodeFusion> m_fusions;
};

} // namespace

Result<PackedModules> unpackModules(const GraphPtr& model)
{
    const InferenceScope scope;
    return Unpacker(model).run();
}

} // namespace qs
