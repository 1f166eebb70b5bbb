// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_importer.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/text/tree_spec_json.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/torchscript/torchscript_placeholders.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <torch/csrc/jit/api/function_impl.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using PlainJson = nlohmann::json;
using Kind = ScriptContainer::Kind;

PlainJson treeOf(const ScriptItem& item)
{
    const ScriptContainer* held = takenApart(item);
    if (!held)
        return specLeaf<PlainJson>();
    PlainJson children = PlainJson::array(), keys = PlainJson::array();
    for (const ScriptItem& part : held->items)
        children.push_back(treeOf(part));
    for (const at::IValue& key : held->keys)
        keys.push_back(key.isString()    ? PlainJson(key.toStringRef())
                           : key.isInt() ? PlainJson(key.toInt())
                                         : PlainJson("?"));
    if (held->kind == Kind::Dict)
        return specContainer("builtins.dict", keys.dump(), std::move(children));
    return specContainer(held->kind == Kind::Tuple ? "builtins.tuple" : "builtins.list", "null",
                         std::move(children));
}

/// Declares the arguments of forward as inputs of the graph. The length of a list and the keys of a
/// dict follow from the traced example or from the reads in forward.
class InputDeclarer
{
public:
    explicit InputDeclarer(ScriptScope& root)
        : m_root(root)
    {
    }

    /// Returns one item per argument after `self`, except trailing ones that keep their default.
    Result<std::vector<ScriptItem>> declareAll(torch::jit::Function& forward,
                                               const std::vector<at::IValue>& traced,
                                               const std::string& file)
    {
        bool keepsDefault = false;
        std::vector<ScriptItem> items;
        const auto& formal = forward.getSchema().arguments();
        const auto graph = torch::jit::toGraphFunction(forward).graph();
        for (std::size_t i = 1; i < formal.size(); ++i) {
            const at::IValue* example = i - 1 < traced.size() ? &traced[i - 1] : nullptr;
            if (formal[i].default_value() && (!example || example->isNone())) {
                note(file + ": the argument '" + formal[i].name() + "' keeps its default value");
                keepsDefault = true;
                continue; // the call supplies the default
            }
            if (keepsDefault)
                return fail(ErrorCode::Unsupported,
                            "the model's argument '" + formal[i].name()
                                + "' follows one that keeps its default");
            QS_TRY(ScriptItem declared,
                   declare(formal[i].type(), formal[i].name(), example, graph->inputs()[i]));
            items.push_back(std::move(declared));
        }
        return items;
    }

private:
    Result<ScriptItem> declare(const c10::TypePtr& given, const std::string& name,
                               const at::IValue* traced, const torch::jit::Value* value)
    {
        const c10::TypePtr type = unwrapped(given);
        ValueType made = runtimeType(type);
        if (made.kind == ValueKind::Tuple)
            return declareParts(type, name, traced, value);
        if (made.kind != ValueKind::Custom && made.kind != ValueKind::None)
            return leaf(std::move(made), name, traced);
        return fail(makeError(ErrorCode::Unsupported,
                              "the model's argument '" + name + "' is a " + type->annotation_str()
                                  + ", which no data file can give")
                        .withHint("give it a default value in forward and save the model again"));
    }

    ScriptItem leaf(ValueType type, const std::string& name, const at::IValue* traced)
    {
        if (type.kind == ValueKind::Tensor && traced && traced->isTensor()) {
            const at::Tensor& example = traced->toTensor();
            type.dtype = fromScalarType(example.scalar_type());
            type.shapeKnown = true;
            // Traced sizes are only an example: the program accepts others if its operators do.
            for (std::int64_t d = 0; d < example.dim(); ++d) {
                const std::string symbol = "s" + std::to_string(m_nextSymbol++);
                type.shape.push_back({example.size(d), symbol, symbol});
            }
        }
        Node input;
        input.kind = NodeKind::Input;
        input.name = input.target = name;
        input.outputs.push_back({"", std::move(type)});
        return ScopedRef {&m_root, {m_root.addSource(std::move(input)), 0}, false};
    }

    /// Declares a list or dict; its length or keys come from the example, else from the program's
    /// reads.
    Result<ScriptItem> declareParts(const c10::TypePtr& type, const std::string& name,
                                    const at::IValue* traced, const torch::jit::Value* value)
    {
        const Kind kind = kindOf(*type);
        std::vector<at::IValue> examples, keys;
        if (traced && (traced->isTuple() || traced->isList() || traced->isGenericDict()))
            examples = partsOf(*traced, keys);
        const ScriptParts used = value ? partsUsed(*value) : ScriptParts();
        if (kind == Kind::Dict && keys.empty())
            keys.assign(used.keys.begin(), used.keys.end());
        const std::size_t count = kind == Kind::Tuple ? type->containedTypes().size()
            : kind == Kind::Dict                      ? keys.size()
            : examples.empty()                        ? used.count
                                                      : examples.size();
        if (count == 0 && kind != Kind::Tuple)
            return fail(makeError(ErrorCode::Unsupported,
                                  std::string("the file does not record the ")
                                      + (kind == Kind::List ? "length" : "keys")
                                      + " of the model's argument '" + name + "'")
                            .withHint("save a traced model, or unpack the argument in forward"));
        std::vector<ScriptItem> items;
        for (std::size_t i = 0; i < count; ++i) {
            const bool isNamed = !keys.empty() && keys[i].isString();
            const std::string part = isNamed ? keys[i].toStringRef() : std::to_string(i);
            QS_TRY(ScriptItem made,
                   declare(partType(type, i), name + "_" + part,
                           i < examples.size() ? &examples[i] : nullptr, nullptr));
            items.push_back(std::move(made));
        }
        ScriptItem made = makeContainer(kind, type, std::move(items));
        containerOf(made)->keys = std::move(keys);
        return made;
    }

    ScriptScope& m_root;
    int m_nextSymbol = 0;
};

/// Returns the structure of forward's arguments, (args, kwargs), in the form of a .pt2.
std::string inputTree(const std::vector<ScriptItem>& items)
{
    PlainJson args = PlainJson::array();
    for (const ScriptItem& item : items)
        args.push_back(treeOf(item));
    return inputSpecText(specContainer("builtins.tuple", "null", std::move(args)));
}

/// Flattens forward's return value.
Result<void> addOutputs(ScriptEmitter& emitter, const ScriptItem& item, Node& out)
{
    if (const ScriptContainer* held = takenApart(item)) {
        for (const ScriptItem& part : held->items)
            QS_CHECK(addOutputs(emitter, part, out));
        return {};
    }
    QS_TRY(Argument value, emitter.argument(item, c10::AnyType::get()));
    out.args.push_back({"", std::move(value)});
    return {};
}

Result<Graph> readProgram(const std::shared_ptr<Pt2Archive>& archive, const ScriptFile& file,
                          const JobContext& job)
{
    ScriptScope root(nullptr, std::make_shared<WithGivenObservations<TensorStore>>());
    ScriptWeights weights(file, archive, root);
    const ScriptDebug debug(archive);
    ScriptEvaluator evaluator(root, weights, debug, job);
    QS_TRY(const ScriptItem model, weights.item(file.root, ""));
    const ScriptContainer& module = *containerOf(model);
    auto* forward = module.type->expectRef<c10::ClassType>().findMethod("forward");
    if (!forward)
        return fail(makeError(ErrorCode::Unsupported, "the model has no method 'forward'")
                        .withHint("save the module whose forward is to be quantized"));
    QS_TRY(const std::vector<ScriptItem> inputs,
           InputDeclarer(root).declareAll(*forward, file.tracedInputs, archive->path()));
    std::vector<ScriptItem> args {model};
    args.insert(args.end(), inputs.begin(), inputs.end());
    QS_TRY(const ScriptItem returned, evaluator.call(*forward, std::move(args), &module));
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    QS_CHECK(addOutputs(evaluator.emitter(), returned, output));
    root.edit().insert(std::move(output));
    QS_CHECK(evaluator.writes().check(root));
    QS_TRY(const std::vector<std::string> dropped, evaluator.keepAttributes());
    for (const std::string& attribute : dropped)
        note(archive->path() + ": the attribute '" + attribute
             + "' starts every call from its saved value; what the model sets it to is not kept");
    eraseUnread(root.edit());
    ModelInfo info;
    info.path = archive->path();
    info.format = "torchscript";
    info.producer = "TorchScript";
    info.inputTree = inputTree(inputs);
    info.outputTree = specText(treeOf(returned));
    info.name = root.edit().modules().root().moduleClass;
    if (info.name.empty())
        info.name = std::filesystem::path(info.path).stem().string();
    for (const NodeId id : root.edit().order())
        if (root.edit().get(id).kind == NodeKind::Op
            && isQuantizedTarget(root.edit().get(id).target))
            info.converted = true;
    root.edit().setInfo(std::move(info));
    return root.edit().build();
}

/// Opens the file; again with placeholders if its code calls unknown operators.
Result<ScriptFile> openWhole(const Pt2Archive& archive, const ScriptCode& code,
                             ScriptPlaceholders& placeholders, const JobContext& job)
{
    auto file = openScriptFile(archive, code, job);
    if (file || file.error().message.find("Unknown builtin op") == std::string::npos)
        return file;
    const auto added = guardTorchValue<std::string>([&] { return placeholders.add(archive); });
    if (!added || added->empty())
        return file;
    file = openScriptFile(archive, code, job);
    if (!file && file.error().hint.empty())
        return fail(std::move(file).error().withHint(
            "it calls operators that are unknown to this LibTorch (" + *added
            + "), and the file does not record their result types: load the library that has them "
              "with --extension DIR, or export the model with torch.export"));
    return file;
}

} // namespace

bool isTorchScript(const Pt2Archive& archive)
{
    return archive.has("constants.pkl")
        || std::any_of(archive.names().begin(), archive.names().end(),
                       [](const auto& name) { return name.starts_with("code/"); });
}

Result<Graph> readTorchScript(std::shared_ptr<Pt2Archive> archive, const ScriptCode& code,
                              const JobContext& job)
{
    const InferenceScope scope;
    ScriptPlaceholders placeholders; // the program refers to them
    QS_TRY(const ScriptFile file, openWhole(*archive, code, placeholders, job));
    auto graph = guardTorchValue<Graph>([&] { return readProgram(archive, file, job); });
    if (graph)
        return graph;
    Error error = std::move(graph).error();
    if (error.code == ErrorCode::Device)
        error.code = ErrorCode::BadInput;
    return fail(std::move(error).inFile(archive->path()));
}

} // namespace qs
