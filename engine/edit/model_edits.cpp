// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/read_file.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/edit/edit_functions.h"
#include "engine/edit/output_tree.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/torch_types.h"
#include "engine/execute/value_conversion.h"
#include "engine/io/npy_tensor.h"

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace qs {

namespace {

/// Shape and numbers of nested lists.
struct Numbers
{
    std::vector<std::int64_t> shape;
    std::vector<double> values;
};

bool collect(const nlohmann::json& json, std::size_t depth, Numbers& out)
{
    if (json.is_number() || json.is_boolean()) {
        out.values.push_back(json.is_boolean() ? double(json.get<bool>()) : json.get<double>());
        return depth == out.shape.size();
    }
    if (!json.is_array() || depth > 16)
        return false;
    const auto size = std::int64_t(json.size());
    if (depth == out.shape.size() && out.values.empty())
        out.shape.push_back(size);
    return depth < out.shape.size() && out.shape[depth] == size
        && std::all_of(json.begin(), json.end(),
                       [&](const auto& item) { return collect(item, depth + 1, out); });
}

Result<at::Tensor> tensorOf(const std::string& json)
{
    Numbers numbers;
    if (!collect(nlohmann::json::parse(json, nullptr, false), 0, numbers))
        return refuse("'values' is neither a number nor a regular nesting of lists of numbers");
    return at::tensor(numbers.values, at::kDouble).reshape(numbers.shape);
}

Result<at::Tensor> tensorOfFile(const EditStep& step)
{
    if (!step.sha256.empty())
        QS_CHECK(checkRecorded(step.file, step.sha256, "edit",
                               "load it again, or remove 'sha256' from the edit"));
    QS_TRY(const NpyArray array, readNpy(step.file));
    return tensorFromNpy(array);
}

/// Adds the tensor to a store on top of the draft's.
TensorId store(EditDraft& draft, const at::Tensor& tensor)
{
    auto store = TensorStore::over(tensorsOf(draft.graph()));
    if (!store)
        store = std::make_shared<TensorStore>();
    const TensorId id = store->add(tensor);
    draft.graph().setTensors(std::move(store));
    return id;
}

NodeId outputOf(EditDraft& draft)
{
    return draft.graph().order().back();
}

void setOutputTree(EditDraft& draft, std::string tree)
{
    ModelInfo info = draft.before()->info();
    info.outputTree = std::move(tree);
    draft.graph().setInfo(std::move(info));
}

/// Adds operands of these operators that depend only on stored tensors (a quantized and packed
/// weight): they belong to the part, not to its data.
Result<void> takeConstants(const GraphPtr& graph, std::set<NodeId>& kept)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    std::vector<NodeId> open(kept.begin(), kept.end());
    while (!open.empty()) {
        const Node& node = graph->get(open.back());
        open.pop_back();
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (graph->get(ref.node).isOperator() && interpreter.isConstant(ref)
                    && kept.insert(ref.node).second)
                    open.push_back(ref.node);
            });
    }
    return {};
}

/// Returns the operators that the edit names, after `takeConstants`.
Result<std::set<NodeId>> operatorsOfPart(EditDraft& draft, const EditStep& step)
{
    std::set<NodeId> kept;
    for (const ValueAddress& address : step.nodes) {
        QS_TRY(const NodeId id, draft.operatorAt(address));
        kept.insert(id);
    }
    if (kept.empty())
        return refuse("no operator was named");
    QS_CHECK(takeConstants(draft.before(), kept));
    return kept;
}

} // namespace

Result<EditedNodes> setConstant(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const NodeId id, draft.node(step.at));
    const Node& node = draft.graph().get(id);
    if (!node.isStored())
        return refuse(addressText(step.at) + " is not a parameter, buffer or constant");
    const DType dtype = node.outputs.at(0).type.dtype;
    QS_TRY(at::Tensor tensor, step.file.empty() ? tensorOf(step.json) : tensorOfFile(step));
    if (!tensor.defined())
        return refuse(step.file + " holds no numbers that a tensor can");
    if (tensor.is_complex() && dtype != DType::Unknown && !at::isComplexType(toScalarType(dtype)))
        return refuse("the numbers are complex, where " + addressText(step.at) + " is real");
    return putTensor(draft, id,
                     tensor.to(dtype == DType::Unknown ? tensor.scalar_type() : toScalarType(dtype))
                         .contiguous());
}

Result<void> checkRecorded(const std::string& file, const std::string& sha256,
                           const std::string& by, std::string hint)
{
    QS_TRY(const std::string now, fileSha256(file));
    if (now == sha256)
        return {};
    return fail(
        makeError(ErrorCode::BadInput, "the file's content differs from that recorded in the " + by)
            .inFile(file)
            .withHint(std::move(hint)));
}

std::string contentOf(const at::Tensor& tensor)
{
    Sha256 hash;
    const std::string head = c10::str(tensor.scalar_type(), tensor.sizes());
    hash.update(head.data(), head.size());
    if (tensor.nbytes() > 0)
        hash.update(tensor.const_data_ptr(), tensor.nbytes());
    return hash.hex();
}

Result<EditedNodes> putTensor(EditDraft& draft, NodeId id, const at::Tensor& tensor)
{
    const TensorId stored = store(draft, tensor);
    Node& changed = draft.graph().change(id);
    changed.tensor = stored;
    changed.tensorSha256 = contentOf(tensor);
    const Device device = changed.outputs[0].type.device;
    changed.outputs[0].type = typeOfTensor(tensor);
    changed.outputs[0].type.device = device;
    QS_CHECK(draft.spread({id}));
    return EditedNodes {id};
}

NodeId addConstant(EditDraft& draft, const std::string& name, const at::Tensor& tensor,
                   NodeId before)
{
    Node constant;
    constant.kind = NodeKind::Constant;
    constant.name = constant.target = name;
    constant.tensor = store(draft, tensor);
    constant.tensorSha256 = contentOf(tensor);
    constant.outputs.push_back({constant.name, typeOfTensor(tensor)});
    return draft.graph().insert(std::move(constant), before);
}

Result<EditedNodes> addOutput(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const ValueRef value, draft.value(step.at));
    const NodeId output = outputOf(draft);
    std::vector<NamedArgument> args = draft.graph().get(output).args;
    for (const NamedArgument& argument : args)
        if (const ValueRef* ref = argument.value.asRef(); ref && *ref == value)
            return refuse(addressText(step.at) + " is an output already");
    if (draft.before()->value(value).type.kind == ValueKind::Custom)
        return refuse(addressText(step.at) + " is a packed weight, which a model cannot return",
                      "return the result of the operator after it");
    setOutputTree(draft, withLeaf(draft.before()->info().outputTree, args.size()));
    args.push_back({"", Argument(value)});
    draft.graph().setArgs(output, std::move(args));
    return EditedNodes {value.node};
}

Result<EditedNodes> dropOutput(EditDraft& draft, const EditStep& step)
{
    const NodeId output = outputOf(draft);
    std::vector<NamedArgument> args = draft.graph().get(output).args;
    if (step.item < 0 || std::size_t(step.item) >= args.size())
        return refuse("the model has " + counted(std::int64_t(args.size()), "output"));
    if (args.size() == 1)
        return refuse("a model without outputs computes nothing");
    QS_TRY(std::string tree,
           withoutLeaf(draft.before()->info().outputTree, args.size(), std::size_t(step.item)));
    args.erase(args.begin() + step.item);
    draft.graph().setArgs(output, std::move(args));
    setOutputTree(draft, std::move(tree));
    draft.graph().eraseDead();
    return EditedNodes {output};
}

Result<EditedNodes> foldConstants(EditDraft& draft, const EditStep& step)
{
    const Graph& before = *draft.before();
    QS_TRY(const Interpreter interpreter, Interpreter::create(draft.before()));
    const auto isFoldable = [&](const Node& node) {
        return node.isOperator() && node.outputs.size() == 1
            && node.outputs[0].type.kind == ValueKind::Tensor
            && ModuleTree::isWithin(node.scope.path, step.within)
            && interpreter.isConstant({node.id, 0});
    };
    const auto isReadOutside = [&](const Node& node) {
        const auto users = before.users({node.id, 0});
        return std::any_of(users.begin(), users.end(),
                           [&](const Use& use) { return !isFoldable(before.get(use.node)); });
    };
    EditedNodes made;
    const NodeId first = [&] {
        for (const NodePtr& node : before.nodes())
            if (node->isOperator())
                return node->id;
        return before.output().id;
    }();
    for (const NodePtr& node : before.nodes()) {
        if (!isFoldable(*node) || !isReadOutside(*node))
            continue;
        QS_CHECK(draft.job().check());
        QS_TRY(const at::IValue value, interpreter.computeConstant({node->id, 0}));
        if (!value.isTensor() || !value.toTensor().defined())
            continue;
        const NodeId id
            = addConstant(draft, "folded_" + node->name, value.toTensor().contiguous(), first);
        draft.graph().replaceUses({node->id, 0}, {id, 0});
        made.push_back(id);
    }
    if (made.empty())
        return refuse("no value here depends only on stored tensors");
    draft.graph().eraseDead();
    return made;
}

Result<EditedNodes> extractPart(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const std::set<NodeId> kept, operatorsOfPart(draft, step));
    const Graph& before = *draft.before();
    GraphEdit part;
    part.modules() = before.modules();
    part.setTensors(before.tensors());
    // Stored tensors first, then inputs, then the operators in order.
    std::set<ValueRef> read;
    for (const NodePtr& node : before.nodes())
        if (kept.contains(node->id))
            for (const NamedArgument& argument : node->args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    if (!kept.contains(ref.node))
                        read.insert(ref);
                });
    std::map<ValueRef, ValueRef> instead;
    std::uint32_t next = before.parts().nextId;
    for (const NodePtr& node : before.nodes())
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
            if (!read.contains({node->id, i}))
                continue;
            if (node->isStored() || node->kind == NodeKind::Input) {
                part.insert(*node);
                if (!node->isStored())
                    draft.fed().emplace_back(node->id, ValueRef {node->id, i});
                continue;
            }
            if (node->outputs[i].type.kind != ValueKind::Tensor)
                return refuse("it reads " + node->outputs[i].name
                                  + ", which is not a tensor and so not an input",
                              "take " + node->name + " in too");
            Node input;
            input.id = NodeId(next++);
            input.kind = NodeKind::Input;
            input.name = input.target = node->outputs[i].name;
            input.outputs.push_back({input.name, node->outputs[i].type});
            const NodeId stands = part.insert(std::move(input));
            instead[{node->id, i}] = {stands, 0};
            draft.fed().emplace_back(stands, ValueRef {node->id, i});
        }
    std::vector<NamedArgument> outputs;
    for (const NodePtr& node : before.nodes()) {
        if (!kept.contains(node->id))
            continue;
        part.insert(*node);
        for (const auto& [from, to] : instead)
            for (std::size_t a = 0; a < node->args.size(); ++a)
                part.replaceArgument(node->id, a, from, to);
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
            const auto users = before.users({node->id, i});
            const bool inside = !users.empty()
                && std::all_of(users.begin(), users.end(),
                               [&](const Use& use) { return kept.contains(use.node); });
            if (!inside && (i == 0 || !users.empty()))
                outputs.push_back({"", Argument(ValueRef {node->id, i})});
        }
    }
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    output.args = std::move(outputs);
    part.insert(std::move(output));
    ModelInfo info = before.info();
    info.inputTree.clear();
    info.outputTree.clear();
    // Only the size constraints of the file's record apply to a part.
    auto record = nlohmann::json::parse(info.exportRecord, nullptr, false);
    if (record.is_object()) {
        record["graph_module"] = nlohmann::json::object();
        info.exportRecord = record.dump();
    }
    part.setInfo(std::move(info));
    draft.graph() = std::move(part);
    return EditedNodes(kept.begin(), kept.end());
}

Result<EditedNodes> applyEdit(EditDraft& draft, const EditStep& step)
{
    using Function = Result<EditedNodes> (*)(EditDraft&, const EditStep&);
    static constexpr std::array<Function, 14> functions {
        insertOperator, removeOperator,    replaceOperator, replaceEvery, setArguments,
        rewire,         duplicateOperator, renameOperator,  setConstant,  addOutput,
        dropOutput,     foldConstants,     extractPart,     asFloat32};
    const InferenceScope scope;
    return functions.at(std::size_t(step.kind))(draft, step);
}

} // namespace qs
