// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/emit/emit_kernel.h"

#include "engine/convert/lowering/emit/pack_arguments.h"
#include "engine/convert/lowering/emit/prepack.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/operator_name.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <map>

namespace qs {

namespace {

bool isTensor(const c10::TypePtr& type)
{
    if (type->kind() == c10::TypeKind::TensorType)
        return true;
    const auto optional = type->cast<c10::OptionalType>();
    return optional && optional->getElementType()->kind() == c10::TypeKind::TensorType;
}

bool isTensorList(const c10::TypePtr& type)
{
    const auto list = type->cast<c10::ListType>();
    return list && list->getElementType()->kind() == c10::TypeKind::TensorType;
}

/// The float operator's name of a kernel's argument.
std::string floatName(const std::string& kernelName)
{
    static const std::map<std::string, std::string> kOther {
        {"mean", "running_mean"}, {"var", "running_var"}, {"shape", "size"}, {"b", "other"}};
    const auto it = kOther.find(kernelName);
    return it == kOther.end() ? kernelName : it->second;
}

class KernelEmitter
{
public:
    KernelEmitter(GraphEdit& edit, const KernelMatch& match)
        : m_edit(edit)
        , m_match(match)
    {
    }

    Result<ValueRef> emit()
    {
        Node node;
        if (m_match.row.kernel == kSameKernel) {
            node = sameOperator();
        } else {
            const auto handle = findKernel(m_match.row.kernel);
            if (!handle)
                return fail(ErrorCode::Unsupported,
                            "LibTorch has no operator " + m_match.row.kernel);
            if (m_match.row.arguments.empty()) {
                QS_TRY(node.args, bindAll(handle->schema()));
                wholeOperandFirst(node.args);
            } else {
                QS_TRY(node.args, packArguments(m_edit, m_match));
                QS_CHECK(addRests(handle->schema(), node.args));
            }
            node.target = targetOf(handle->operator_name());
            QS_CHECK(restsComeAfter(node.target));
            node.name = operatorParts(node.target).word;
        }
        return place(std::move(node), result().type);
    }

private:
    const Value& result() const { return m_edit.get(m_match.quantize).outputs.at(0); }
    const Node& root() const { return m_edit.get(m_match.chain.front()); }
    /// The operator whose object the chain returns: the last one that returns an object.
    const Node& giver() const
    {
        const auto& chain = m_match.chain;
        const auto last = std::find_if(chain.rbegin(), chain.rend(), [&](NodeId id) {
            return isPartsTarget(m_edit.get(id).target);
        });
        return last == chain.rend() ? root() : m_edit.get(*last);
    }

    ValueRef place(Node node, ValueType type)
    {
        node.outputs.assign(1, {"", std::move(type)});
        const Node like = root(), giver = this->giver();
        const bool byParts = isPartsTarget(node.target);
        for (std::size_t i = 1; byParts && i < giver.outputs.size(); ++i)
            node.outputs.push_back({"", giver.outputs[i].type});
        const ValueRef made {
            insertCall(m_edit, like, m_match.quantize, m_match.origin, std::move(node)), 0};
        for (std::uint32_t i = 1; byParts && i < giver.outputs.size(); ++i)
            m_edit.replaceUses({giver.id, i}, {made.node, i});
        return made;
    }

    /// Checks readers of objects: the kernel is inserted where the result is quantized, so its
    /// objects must be read only after that, and objects between its operators only by these.
    Result<void> restsComeAfter(const std::string& target) const
    {
        if (!isPartsTarget(target))
            return {};
        const std::vector<NodeId> order = m_edit.order();
        const auto here = std::find(order.begin(), order.end(), m_match.quantize);
        const auto& chain = m_match.chain;
        for (const NodeId id : chain)
            for (std::uint32_t i = 1; i < m_edit.get(id).outputs.size(); ++i)
                for (const Use& use : m_edit.users({id, i}))
                    if (std::find(chain.begin(), chain.end(), use.node) == chain.end()
                        && (id != giver().id || std::find(order.begin(), here, use.node) != here))
                        return fail(
                            ErrorCode::Unsupported,
                            "the object that it gives is read before its result is quantized");
        return {};
    }

    /// Adds, for a kernel that takes a field of an object, the object's other fields, which are
    /// those of the float operator.
    Result<void> addRests(const c10::FunctionSchema& schema, std::vector<NamedArgument>& args) const
    {
        for (const auto& argument : schema.arguments()) {
            if (!argument.name().ends_with(kRestSuffix))
                continue;
            const std::string field
                = argument.name().substr(0, argument.name().size() - kRestSuffix.size());
            const auto given = std::find_if(args.begin(), args.end(),
                                            [&](const auto& one) { return one.name == field; });
            const Argument* rest = given == args.end() ? nullptr : restOf(given->value);
            if (!rest)
                return fail(ErrorCode::Unsupported,
                            "the kernel's '" + field + "' is an object, the operator's is not");
            args.insert(given + 1, {argument.name(), *rest});
        }
        return {};
    }

    /// The other fields of the object to which the quantized value belongs, as the float operator
    /// takes them.
    const Argument* restOf(const Argument& quantized) const
    {
        const auto& all = m_match.quantized;
        const auto at
            = quantized.asRef() ? std::find(all.begin(), all.end(), *quantized.asRef()) : all.end();
        if (at == all.end())
            return nullptr;
        const ValueRef field = m_match.dequantized[std::size_t(at - all.begin())];
        for (const NodeId id : m_match.chain) {
            const Node& node = m_edit.get(id);
            for (const NamedArgument& argument : node.args)
                if (argument.value.asRef() && *argument.value.asRef() == field)
                    return node.tryArg(argument.name + std::string(kRestSuffix));
        }
        return nullptr;
    }

    Node sameOperator() const
    {
        Node node = m_edit.get(m_match.chain.front());
        for (NamedArgument& argument : node.args)
            requantize(argument.value);
        return node;
    }

    void requantize(Argument& argument) const
    {
        if (auto* ref = std::get_if<ValueRef>(&argument.value)) {
            for (std::size_t i = 0; i < m_match.dequantized.size(); ++i)
                if (*ref == m_match.dequantized[i]) {
                    *ref = m_match.quantized[i];
                    return;
                }
        } else if (auto* list = std::get_if<Argument::List>(&argument.value)) {
            for (Argument& item : *list)
                requantize(item);
        }
    }

    bool isActivation(const Argument& argument) const
    {
        bool found = false;
        forEachRef(argument, [&](ValueRef ref) {
            const auto& all = m_match.dequantized;
            found = found || std::find(all.begin(), all.end(), ref) != all.end();
            const auto& chain = m_match.chain;
            found = found || std::find(chain.begin(), chain.end(), ref.node) != chain.end();
        });
        return found;
    }

    /// The argument of that name of the float operators, or its default.
    bool floatArgument(const std::string& name, Argument& out) const
    {
        for (NodeId id : m_match.chain)
            if (effectiveArgument(m_edit.get(id), name, out) && !isActivation(out))
                return true;
        return false;
    }

    Result<std::vector<NamedArgument>> bindAll(const c10::FunctionSchema& schema)
    {
        std::vector<NamedArgument> args;
        for (const auto& argument : schema.arguments()) {
            Argument value;
            QS_TRY(const bool given, bind(argument, value));
            if (given)
                args.push_back({argument.name(), std::move(value)});
        }
        if (m_next != m_match.quantized.size())
            return fail(ErrorCode::Unsupported,
                        schema.name() + " takes fewer inputs than the operator has");
        return args;
    }

    /// The type of a value, with the shape from before quantization steps, which do not change it.
    const ValueType& shapeOf(ValueRef ref) const
    {
        const Node& node = m_edit.get(ref.node);
        const ValueType& type = node.outputs.at(ref.index).type;
        const ValueRef* from = node.args.empty() ? nullptr : node.args[0].value.asRef();
        const bool passedOn = node.target.find("quantize_") != std::string::npos && from;
        return !type.shapeKnown && passedOn ? shapeOf(*from) : type;
    }

    /// Puts the larger operand of a sum or product first: kernels size their result by the first
    /// operand, and PyTorch warns if that one is broadcast. The order does not change the result.
    void wholeOperandFirst(std::vector<NamedArgument>& args) const
    {
        const std::string kind = operatorKind(m_edit, root());
        if ((kind != "add" && kind != "mul") || m_match.quantized.size() != 2)
            return;
        const ValueType& first = shapeOf(m_match.quantized[0]);
        const ValueType& second = shapeOf(m_match.quantized[1]);
        const ValueType& whole = shapeOf({m_match.chain.front(), 0});
        if (first.shapeKnown && second.shapeKnown && whole.shapeKnown && first.shape != whole.shape
            && second.shape == whole.shape)
            std::swap(args.at(0).value, args.at(1).value);
    }

    Result<bool> bind(const c10::Argument& argument, Argument& value)
    {
        const std::string& name = argument.name();
        const c10::TypePtr& type = argument.type();
        if (type->kind() == c10::TypeKind::ClassType) {
            QS_TRY(value.value, prepack());
            return true;
        }
        if (isTensorList(type)) {
            Argument::List list;
            for (; m_next < m_match.quantized.size(); ++m_next)
                list.emplace_back(m_match.quantized[m_next]);
            value = std::move(list);
            return true;
        }
        if (isTensor(type)) {
            if (floatArgument(floatName(name), value)) {
                if (name == "weight" && operatorKind(m_edit, root()) == "prelu")
                    value = quantizedSlope(value);
                return true;
            }
            if (m_next < m_match.quantized.size()) {
                value = m_match.quantized[m_next++];
                return true;
            }
            return fail(ErrorCode::Unsupported, "the kernel's input '" + name + "' is missing");
        }
        return bindNumber(argument, value);
    }

    /// Quantizes prelu's slope: the kernel requires quint8. torch.ao observes it while lowering.
    Argument quantizedSlope(const Argument& slope)
    {
        const ValueRef* ref = slope.asRef();
        if (!ref)
            return slope;
        Node node;
        node.name = "quantize_per_tensor_dynamic";
        node.target = "aten.quantize_per_tensor_dynamic.default";
        node.args = {{"self", slope}, {"dtype", DType::QUInt8}, {"reduce_range", false}};
        ValueType type = m_edit.get(ref->node).outputs.at(ref->index).type;
        type.dtype = DType::QUInt8;
        return place(std::move(node), std::move(type));
    }

    Result<bool> bindNumber(const c10::Argument& argument, Argument& value)
    {
        const std::string& name = argument.name();
        const bool isScale = name == "output_scale" || name == "Y_scale_i";
        const bool isZeroPoint = name == "output_zero_point" || name == "Y_zero_point_i";
        if (!isScale && !isZeroPoint && floatArgument(floatName(name), value))
            ;
        else if (isScale || name == "scale")
            value = m_match.scale;
        else if (isZeroPoint || name == "zero_point")
            value = m_match.zeroPoint;
        else if (argument.default_value())
            return false;
        else if (name == "inplace")
            value = false;
        else
            return fail(ErrorCode::Unsupported,
                        "nothing gives the kernel's argument '" + name + "'");
        if (argument.type()->kind() == c10::TypeKind::FloatType && value.asInt())
            value = double(*value.asInt());
        return true;
    }

    Result<ValueRef> prepack()
    {
        const auto op = weightedOp(root());
        if (!op)
            return fail(ErrorCode::Unsupported, "the operator has no weight to pack");
        QS_TRY(const ValueRef stored, storedWeight(m_edit, root(), *op));
        QS_TRY(const ValueRef weight, quantizedWeight(m_edit, stored));
        return insertPrepack(m_edit, root(), operatorKind(m_edit, root()), weight, m_match.quantize,
                             m_match.origin);
    }

    GraphEdit& m_edit;
    const KernelMatch& m_match;
    std::size_t m_next = 0; ///< number of quantized inputs used so far
};

} // namespace

Result<ValueRef> emitKernel(GraphEdit& edit, const KernelMatch& match)
{
    return KernelEmitter(edit, match).emit();
}

} // namespace qs
