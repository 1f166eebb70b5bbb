// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_ops.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/control/recurrence.h"
#include "engine/execute/control/script_ops.h"
#include "engine/execute/op_table.h"
#include "engine/export/torchscript/script_containers.h"
#include "engine/export/torchscript/script_control.h"
#include "engine/export/torchscript/script_numbers.h"
#include "engine/export/torchscript/script_recurrence.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/state.h"

#include <torch/csrc/jit/frontend/schema_matching.h>
#include <torch/csrc/jit/ir/named_value.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <optional>

namespace qs {

namespace {

using Values = std::vector<ScriptValue*>;

/// TorchScript's name of an operator that reads a size ("sym_size" of torch.export).
std::string measureName(const Node& node)
{
    constexpr std::string_view kSymbolic = "sym_";
    const std::string_view word = atenWord(node.target);
    if (!word.starts_with(kSymbolic) || !hasTrait(node.target, OperatorTrait::Measures))
        return {};
    return "aten::" + std::string(word.substr(kSymbolic.size()));
}

/// All outputs of a call. The members of a returned list of tensors are separate values in our
/// graph, unless the node returns the list as one value.
Result<Values> spread(ScriptBuilder& builder, const Values& returned, const Node& node)
{
    const std::size_t wanted = node.outputs.size();
    const bool whole = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [](const Value& v) { return v.type.kind == ValueKind::Tuple; });
    if (whole && returned.size() == wanted)
        return returned;
    const auto isList
        = [](const ScriptValue* v) { return v->type()->kind() == c10::TypeKind::ListType; };
    const auto lists = std::count_if(returned.begin(), returned.end(), isList);
    if (returned.size() == wanted && (lists == 0 || wanted != 1))
        return returned;
    if (lists != 1 || wanted + 1 < returned.size())
        return fail(ErrorCode::Unsupported,
                    "it returns " + counted(returned.size(), "value") + " where "
                        + std::to_string(wanted) + " are used");
    Values out;
    for (ScriptValue* value : returned) {
        if (!isList(value)) {
            out.push_back(value);
            continue;
        }
        // prim::ListUnpack needs the length of the list; only the members that are read are known.
        for (std::size_t i = 0; i < wanted + 1 - returned.size(); ++i)
            out.push_back(
                builder.call("aten::__getitem__", {value, builder.literal(std::int64_t(i))}));
    }
    return out;
}

void bindOutputs(ScriptBuilder& builder, const Node& node, const Values& values)
{
    for (std::uint32_t i = 0; i < node.outputs.size() && i < values.size(); ++i) {
        values[i]->setDebugName(identifier(node.outputs[i].name));
        builder.bind({node.id, i}, values[i]);
    }
}

const Argument* argumentOf(const Node& node, const c10::Argument& wanted)
{
    return node.tryArg(wanted.name());
}

/// Whether a number is passed for a tensor parameter.
bool isNumberForTensor(const ScriptValue* given, const c10::TypePtr& wanted)
{
    const auto kind = given->type()->kind();
    return wanted->kind() == c10::TypeKind::TensorType
        && (kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType
            || kind == c10::TypeKind::BoolType);
}

/// Inputs of the call in schema order.
Result<Values> inputsOf(ScriptBuilder& builder, const Node& node, const c10::FunctionSchema& schema)
{
    Values inputs;
    for (const c10::Argument& wanted : schema.arguments()) {
        const Argument* given = argumentOf(node, wanted);
        if (!given) {
            if (!wanted.default_value() && wanted.type()->kind() != c10::TypeKind::OptionalType)
                return fail(ErrorCode::BadInput, "argument '" + wanted.name() + "' is missing");
            inputs.push_back(builder.literal(wanted.default_value().value_or(at::IValue())));
            continue;
        }
        QS_TRY(ScriptValue * made, builder.operand(node, wanted.name(), *given, wanted.type()));
        inputs.push_back(made);
    }
    return inputs;
}

Values insertExact(ScriptBuilder& builder, const c10::FunctionSchema& schema, const Values& inputs)
{
    auto& body = builder.body();
    auto* call = body.create(c10::Symbol::fromQualString(schema.name()), inputs, 0);
    for (const c10::Argument& result : schema.returns())
        call->addOutput()->setType(result.type());
    body.insertNode(call);
    return {call->outputs().begin(), call->outputs().end()};
}

/// Chooses the overload by the argument types; passes keyword-only arguments by name.
Values insertByType(ScriptBuilder& builder, const c10::FunctionSchema& schema, const Values& inputs)
{
    std::vector<torch::jit::NamedValue> args, kwargs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (schema.arguments()[i].kwarg_only())
            kwargs.emplace_back(schema.arguments()[i].name(), inputs[i]);
        else
            args.emplace_back(inputs[i]);
    return {builder.body().insert(c10::Symbol::fromQualString(schema.name()), args, kwargs)};
}

/// True for operators on lists and dicts of any type, whose result types depend on the arguments.
bool isGeneric(const c10::FunctionSchema& schema)
{
    return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                       [](const c10::Argument& a) { return a.type()->hasFreeVariables(); });
}

/// Handles numbers passed for tensor parameters. Returns true if another overload accepts them;
/// else converts them to tensors.
bool takeNumbers(ScriptBuilder& builder, const Node& node, const c10::FunctionSchema& schema,
                 Values& inputs)
{
    const auto isNumber
        = [&](std::size_t i) { return isNumberForTensor(inputs[i], schema.arguments()[i].type()); };
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        any = any || isNumber(i);
    if (!any || hasOverload(schema, inputs))
        return any;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (isNumber(i))
            inputs[i] = tensorOfNumber(builder, node, inputs[i]);
    return false;
}

/// Copies each list or dict that the operator writes to, because our nodes do not mutate values;
/// the copies are results of the node.
Values copyChanged(ScriptBuilder& builder, const c10::FunctionSchema& schema, Values& inputs)
{
    Values copies;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& slot = schema.arguments()[i];
        const auto kind = slot.type()->kind();
        const bool container = kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
        if (!container || !slot.alias_info() || !slot.alias_info()->isWrite())
            continue;
        inputs[i] = builder.call("aten::copy", {inputs[i]});
        copies.push_back(inputs[i]);
    }
    return copies;
}

/// Emits an operator that is a method of a C++ class as a call of the method; a constructor first
/// creates the object.
Result<void> emitMethod(ScriptBuilder& builder, const Node& node, const ClassMethod& method)
{
    torch::jit::Graph& body = builder.body();
    QS_TRY(Values inputs, inputsOf(builder, node, findOperator(node.target)->schema()));
    const bool makes = method.name == kConstructor;
    if (makes)
        inputs.insert(inputs.begin(), body.insertNode(body.createObject(method.type))->output());
    const std::vector<torch::jit::NamedValue> named(inputs.begin(), inputs.end());
    ScriptValue* called = body.insertMethodCall(
        method.name,
        torch::jit::matchSchema(method.type->findMethod(method.name)->getSchema(),
                                torch::jit::SourceRange(), body, named, {}));
    QS_TRY(const auto outputs, spread(builder, {makes ? inputs.front() : called}, node));
    bindOutputs(builder, node, outputs);
    return {};
}

Result<void> emitCall(ScriptBuilder& builder, const Node& node)
{
    const auto op = findOperator(node.target);
    const ScriptOperator* script = op ? nullptr : findScriptOperator(node.target);
    if (!op && !script)
        return fail(
            makeError(ErrorCode::Unsupported, "LibTorch has no operator '" + node.target + "'")
                .withHint("TorchScript cannot hold it; export pt2-reference instead"));
    const c10::FunctionSchema& schema = op ? op->schema() : *script->schema;
    QS_TRY(auto inputs, inputsOf(builder, node, schema));
    const bool wasTruth = numbersOfTruth(builder, schema, inputs);
    const bool byType = isGeneric(schema) || takeNumbers(builder, node, schema, inputs);
    const auto changed = script ? copyChanged(builder, schema, inputs) : Values {};
    auto returned
        = byType ? insertByType(builder, schema, inputs) : insertExact(builder, schema, inputs);
    if (!returned.empty() && !returned.front()->node()->maybeSchema())
        return fail(ErrorCode::Unsupported,
                    "TorchScript has no operator for '" + node.target + "' with these arguments");
    if (wasTruth && !node.outputs.empty() && node.outputs[0].type.dtype == DType::Bool)
        returned[0] = builder.call(
            "aten::to", {returned[0], builder.literal(std::int64_t(at::ScalarType::Bool))});
    returned.insert(returned.end(), changed.begin(), changed.end());
    QS_TRY(const auto outputs, spread(builder, returned, node));
    bindOutputs(builder, node, outputs);
    return {};
}

Result<ScriptValue*> firstTensor(ScriptBuilder& builder, const Node& node)
{
    const Argument* self = node.tryArg(std::size_t(0));
    if (!self)
        return fail(ErrorCode::BadInput, "it has no argument");
    return builder.argument(*self, c10::TensorType::get());
}

Result<void> emitRenamed(ScriptBuilder& builder, const Node& node, const std::string& script)
{
    QS_TRY(ScriptValue * self, firstTensor(builder, node));
    Values args {self};
    if (const Argument* dim = node.tryArg("dim")) {
        QS_TRY(ScriptValue * made, builder.argument(*dim, c10::IntType::get()));
        args.push_back(made);
    }
    QS_TRY(const auto outputs, spread(builder, {builder.call(script, args)}, node));
    bindOutputs(builder, node, outputs);
    return {};
}

Result<void> emitNumberRead(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(ScriptValue * self, firstTensor(builder, node));
    const ValueKind kind = node.outputs.empty() ? ValueKind::SymInt : node.outputs[0].type.kind;
    const char* script = kind == ValueKind::SymFloat ? "aten::Float"
        : kind == ValueKind::SymBool                 ? "aten::Bool"
                                                     : "aten::Int";
    bindOutputs(builder, node, {builder.call(script, {self})});
    return {};
}

/// Assigns the new value to a buffer's attribute, or writes it to an input in place.
Result<void> emitStateUpdate(ScriptBuilder& builder, const Node& node)
{
    const Node* holder = builder.source().tryFind(*node.args[0].value.asString());
    QS_TRY(ScriptValue * made, builder.value(*node.args[1].value.asRef()));
    bindOutputs(builder, node, {made});
    if (!holder)
        return {};
    if (holder->kind != NodeKind::Input)
        return builder.setAttribute({holder->id, 0}, made);
    QS_TRY(ScriptValue * input, builder.value({holder->id, 0}));
    builder.call("aten::copy_", {input, made});
    return {};
}

Result<void> emitAny(ScriptBuilder& builder, const Node& node)
{
    if (isStateUpdate(node))
        return emitStateUpdate(builder, node);
    if (hasTrait(node.target, OperatorTrait::AboutTracing))
        return {};
    if (node.isOp(kRecurTarget))
        return emitRecurrence(builder, node);
    if (isControlOperator(node)) {
        QS_TRY(const auto outputs, emitControl(builder, node));
        bindOutputs(builder, node, outputs);
        return {};
    }
    if (isScriptContainer(node)) {
        QS_TRY(const auto outputs, emitContainer(builder, node));
        bindOutputs(builder, node, outputs);
        return {};
    }
    if (!node.subgraphs.empty())
        return fail(makeError(ErrorCode::Unsupported,
                              "'" + node.target
                                  + "' runs a subgraph, which the "
                                    "TorchScript writer cannot express")
                        .withHint("export pt2-reference instead"));
    if (const std::string script = measureName(node); !script.empty())
        return emitRenamed(builder, node, script);
    if (hasTrait(node.target, OperatorTrait::ReadsNumber))
        return emitNumberRead(builder, node);
    if (isDecomposed(node)) {
        QS_TRY(const Values out, emitDecomposed(builder, node));
        bindOutputs(builder, node, out);
        return {};
    }
    if (isScalarNode(node)) {
        QS_TRY(ScriptValue * out, emitScalar(builder, node));
        bindOutputs(builder, node, {out});
        return {};
    }
    if (const auto method = findClassMethod(node.target))
        return emitMethod(builder, node, *method);
    return emitCall(builder, node);
}

} // namespace

Result<void> emitNode(ScriptBuilder& builder, const Node& node)
{
    auto done = guardTorch([&] { return emitAny(builder, node); });
    if (done)
        return {};
    Error error = std::move(done).error().atNode(node.name);
    if (error.code == ErrorCode::BadInput) { // refused by TorchScript; other forms may accept it
        error.code = ErrorCode::Unsupported;
        if (error.hint.empty())
            error.hint = "export pt2-reference instead";
    }
    return fail(std::move(error));
}

} // namespace qs
