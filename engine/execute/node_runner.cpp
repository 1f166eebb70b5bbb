// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/node_runner.h"

#include "engine/base/each_of.h"
#include "engine/base/process/crash_line.h"
#include "engine/base/process/missing_pack.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/calls/call_operands.h"
#include "engine/execute/calls/try_kernel.h"
#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/scalar_ops.h"
#include "engine/execute/control/script_control.h"
#include "engine/execute/control/script_ops.h"
#include "engine/execute/control/tuple_runner.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/op_table.h"
#include "engine/execute/random/random_draws.h"
#include "engine/execute/reuse.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/state.h"

#include <ATen/ops/clone.h>

#include <algorithm>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

/// True for a node that returns its first argument unchanged.
bool isIdentity(const Node& node)
{
    return node.target == kObserveTarget || node.target == kStubTarget;
}

/// Whether a node is a custom module with a body.
bool hasBody(const Node& node)
{
    return node.kind == NodeKind::ModuleCall && !node.subgraphs.empty();
}

/// True for operators that we run ourselves, without the dispatcher.
bool runsWithoutSchema(const Node& node)
{
    return isIdentity(node) || hasBody(node) || isStateUpdate(node) || isScalarOp(node.target)
        || isTupleOp(node.target) || isHigherOrder(node.target) || isScriptControl(node.target);
}

/// The body's inputs are the leaves of the call's arguments, its outputs the leaves of its results.
Result<Values> runBody(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    Values leaves;
    for (const at::IValue& arg : args)
        flattenLeaves(arg, leaves);
    QS_TRY(const Values results, runSubgraph(0, std::move(leaves)));
    Values made;
    for (const at::IValue& result : results)
        flattenLeaves(result, made);
    return packOutputs(node, made);
}

Result<Values> convertAll(const Node& node, const CallContext& context)
{
    return eachOf(node.args, [&](const NamedArgument& arg) {
        return convertUntyped(arg.value, context.device, context.read);
    });
}

void flattenInto(Values& out, at::IValue value, bool isListReturn)
{
    if (!isListReturn || !value.isList()) {
        out.push_back(std::move(value));
        return;
    }
    for (const at::IValue& item : value.toListRef())
        out.push_back(item);
}

/// Batch and instance norm in training mode update their running statistics in place without saying
/// so in their schemas. The weights belong to every graph of the model: such a call gets copies.
void protectStatistics(const c10::FunctionSchema& schema, torch::jit::Stack& stack)
{
    const auto given = [&](const char* name) -> at::IValue* {
        const auto index = schema.argumentIndexWithName(name);
        return index ? &stack[std::size_t(*index)] : nullptr;
    };
    bool training = false;
    for (const char* name : {"training", "train", "use_input_stats"})
        if (const at::IValue* value = given(name))
            training = training || (value->isBool() && value->toBool());
    for (const char* name : {"running_mean", "running_var"})
        if (at::IValue* value = given(name); training && value && value->isTensor())
            *value = at::clone(value->toTensor());
}

/// The tensor, or the tensors of a list, contiguous and on `device`: numbers are drawn in memory
/// order, and devices draw different numbers.
at::IValue drawnOn(const at::IValue& value, at::Device device)
{
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        const bool plain = tensor.defined() && tensor.layout() == at::kStrided;
        return plain ? at::IValue(tensor.to(device).contiguous()) : value;
    }
    if (!value.isTensorList())
        return value;
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector())
        tensors.push_back(drawnOn(tensor, device).toTensor());
    return tensors;
}

void putOn(at::Device device, torch::jit::Stack& stack)
{
    for (at::IValue& value : stack)
        value = drawnOn(value, device);
}

/// Runs the kernel on the arguments on the stack; its results replace them. Errors name the
/// operator and its arguments: for that the stack is copied first (references only), since a kernel
/// removes its arguments.
Result<void> callKernel(const Node& node, const NodeCall& call, bool overwrite,
                        torch::jit::Stack& stack)
{
    const torch::jit::Stack given = overwrite ? torch::jit::Stack() : stack;
    auto done = guardTorch([&]() -> Result<void> {
        QS_CHECK(checkOperands(node.target, stack));
        if (call.untried && *call.untried) {
            QS_CHECK(tryKernel(*call.op, stack));
            *call.untried = false;
        }
        if (overwrite)
            call.inPlace->callBoxed(stack);
        else if (call.op)
            call.op->callBoxed(stack);
        else
            runScriptOperator(*call.script, stack);
        return {};
    });
    if (done || done.error().code == ErrorCode::Cancelled)
        return done;
    Error error = std::move(done).error();
    const std::string operands = operandsText(*schemaOf(call), given);
    error.message
        = node.target + ": " + error.message + (operands.empty() ? "" : "; it got " + operands);
    return fail(std::move(error));
}

/// Puts a contiguous image into channels-last layout; false for a value that stays as it is.
bool putByChannel(at::IValue& value)
{
    const at::IValue given = value;
    if (!given.isTensor() || given.toTensor().requires_grad() || !given.toTensor().is_contiguous())
        return false;
    value = inLayout(given, Layout::ChannelsLast);
    return !value.toTensor().is_same(given.toTensor());
}

Result<Values> callDispatcher(const Node& node, const NodeCall& call, const CallContext& context)
{
    const auto& schema = *schemaOf(call);
    const bool draws = call.draws && !context.device.is_meta();
    const at::Device device = draws ? at::kCPU : context.device;
    torch::jit::Stack stack;
    stack.reserve(schema.arguments().size());
    for (std::size_t i = 0; i < call.slots.size(); ++i) {
        const auto& slot = schema.arguments()[i];
        if (call.slots[i] < 0) {
            stack.push_back(*slot.default_value());
            continue;
        }
        QS_TRY(at::IValue value,
               convertArgument(node.args[call.slots[i]].value, slot, device, context.read));
        stack.push_back(std::move(value));
    }
    if (call.deviceSlot >= 0 && stack[call.deviceSlot].isNone())
        stack[call.deviceSlot] = device;
    protectStatistics(schema, stack);
    std::optional<SeededDraws> seeded;
    if (draws) {
        putOn(device, stack);
        seeded.emplace(context.place, node.name);
    }
    const bool isByChannel = call.byChannel && putByChannel(stack.front());
    QS_CHECK(callKernel(node, call, context.overwrite && call.inPlace, stack));
    if (isByChannel)
        stack.front() = stack.front().toTensor().contiguous();
    if (draws) {
        seeded.reset();
        putOn(context.device, stack);
    }
    // Unwritten memory has arbitrary content, so that two runs would differ.
    if (hasTrait(node.target, OperatorTrait::LeavesMemory))
        for (at::IValue& value : stack)
            value.toTensor().zero_();
    // A returned list is several values of the node, unless its output is the whole list.
    const bool whole = node.outputs.size() == 1 && node.outputs[0].type.kind == ValueKind::Tuple;
    Values out;
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const bool isList = call.op && !whole && i < schema.returns().size()
            && schema.returns()[i].type()->kind() == c10::TypeKind::ListType;
        flattenInto(out, std::move(stack[i]), isList);
    }
    return out;
}

Result<Values> callAny(const Node& node, const NodeCall& call, const CallContext& context)
{
    if (call.op || call.script)
        return callDispatcher(node, call, context);
    QS_TRY(Values args, convertAll(node, context));
    if (hasBody(node))
        return runBody(node, args, context.runSubgraph);
    if (isHigherOrder(node.target))
        return runHigherOrder(node, args, context.runSubgraph);
    if (isScriptControl(node.target))
        return runScriptControl(node, args, context.runSubgraph);
    if (isStateUpdate(node))
        return Values {args.back()};
    if (isIdentity(node)) {
        if (args.empty())
            return fail(ErrorCode::Internal, "an observer without a value");
        return Values {args.front()};
    }
    QS_TRY(at::IValue value,
           isTupleOp(node.target) ? runTupleOp(node.target, args) : runScalarOp(node.target, args));
    return Values {std::move(value)};
}

/// Index of the argument with the device of a new tensor; -1 if the operator takes tensors, whose
/// device it uses.
int deviceSlotOf(const c10::FunctionSchema& schema)
{
    const auto& formal = schema.arguments();
    const auto place = schema.argumentIndexWithName("device");
    const bool takesTensors
        = place && std::any_of(formal.begin(), formal.end(), [](const auto& argument) {
              return argument.type()->str().find("Tensor") != std::string::npos;
          });
    return place && !takesTensors ? *place : -1;
}

/// A node of a converted model may have the name of another node of the float model.
std::string placeOf(const Node& node)
{
    return node.origin ? node.name + " of the converted model" : node.name;
}

Error problemOf(const Node& node, const NodeCall& call)
{
    Error error = makeError(ErrorCode::Unsupported, call.problem).atNode(placeOf(node));
    const bool isUnknown = !call.op && !call.script && !isForbiddenOperator(node.target);
    return isUnknown ? std::move(error).withHint(
               std::string(kLoadPackHint)
               + "; or export the model with PyTorch's own operators in its place")
                     : error;
}

} // namespace

const c10::FunctionSchema* schemaOf(const NodeCall& call)
{
    return call.op ? &call.op->schema() : call.script ? call.script->schema : nullptr;
}

NodeCall prepareCall(const Node& node, Layout layout, at::Device device)
{
    NodeCall call;
    if (!node.isOperator())
        return call;
    if (runsWithoutSchema(node))
        return call; // even where a kernel of that name is registered
    if (isForbiddenOperator(node.target)) {
        call.problem
            = "'" + node.target + "' accesses files, processes or the terminal; it is never run";
        return call;
    }
    call.op = findOperator(node.target);
    if (call.op && trustsArguments(*call.op))
        call.untried = std::make_shared<bool>(true);
    if (!call.op)
        call.script = findScriptOperator(node.target);
    if (!call.op && !call.script) {
        call.problem = node.opaqueReason.empty()
            ? "operator '" + node.target + "' is unknown to this LibTorch"
            : node.opaqueReason;
        return call;
    }
    const auto& formal = schemaOf(call)->arguments();
    call.slots.assign(formal.size(), -1);
    for (std::size_t a = 0; a < node.args.size(); ++a) {
        int slot = -1;
        for (std::size_t i = 0; i < formal.size() && slot < 0; ++i)
            if (!node.args[a].name.empty() && formal[i].name() == node.args[a].name)
                slot = int(i);
        if (slot < 0 && node.args[a].name.empty() && a < formal.size())
            slot = int(a);
        if (slot < 0) {
            call.problem = node.target + " has no argument '" + node.args[a].name + "'";
            return call;
        }
        call.slots[slot] = int(a);
    }
    for (std::size_t i = 0; i < formal.size(); ++i)
        if (call.slots[i] < 0 && !formal[i].default_value()) {
            call.problem = node.target + " lacks its argument '" + formal[i].name() + "'";
            return call;
        }
    if (call.op) {
        call.inPlace = inPlaceOperator(node.target);
        call.draws = drawsNumbers(node, *call.op);
    }
    call.byChannel = device.is_cpu() && layout == Layout::AsGiven
        && hasTrait(node.target, OperatorTrait::FastByChannel);
    if (device.is_cuda()) // by default PyTorch makes tensors on the CPU
        call.deviceSlot = deviceSlotOf(*schemaOf(call));
    // The same values, and autograd goes on through it.
    if (const std::string_view word = atenWord(node.target); word == "detach")
        call.op = findOperator(
            std::string(node.target).replace(node.target.find(word), word.size(), "alias"));
    // The same arguments; a copy where the strides allow no view.
    if ((layout != Layout::AsGiven || device.is_cuda()) && wantsViewableStrides(node))
        call.op = findOperator(kReshapeTarget);
    return call;
}

Result<Values> runCall(const Node& node, const NodeCall& call, const CallContext& context)
{
    if (!call.problem.empty())
        return fail(problemOf(node, call));
    const CrashPlace place(node.name.c_str(), node.target.c_str());
    auto out = guardTorchValue<Values>([&] { return callAny(node, call, context); });
    if (!out)
        return fail(std::move(out).error().atNode(placeOf(node)));
    if (out->size() < node.outputs.size())
        return fail(makeError(ErrorCode::BadInput,
                              node.target + " returned " + counted(out->size(), "value")
                                  + ", the graph expects " + std::to_string(node.outputs.size()))
                        .atNode(placeOf(node)));
    return out;
}

} // namespace qs
