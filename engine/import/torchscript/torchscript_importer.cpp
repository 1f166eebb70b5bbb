// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_importer.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/torchscript/torchscript_inputs.h"
#include "engine/import/torchscript/torchscript_placeholders.h"
#include "engine/import/torchscript/walk/torchscript_control.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

Result<Graph> readProgram(const std::shared_ptr<Pt2Archive>& archive, const ScriptFile& file,
                          const JobContext& job)
{
    ScriptScope root(nullptr, std::make_shared<TensorStore>());
    ScriptWeights weights(file, archive, root);
    const ScriptDebug debug(archive);
    ScriptEvaluator evaluator(root, weights, debug, job);
    const ScriptItem model = weights.rootModule();
    const ScriptContainer& module = *containerOf(model);
    auto* forward = module.type->expectRef<c10::ClassType>().findMethod("forward");
    if (!forward)
        return fail(makeError(ErrorCode::Unsupported, "the model has no method 'forward'")
                        .withHint("save the module whose forward is to be quantized"));
    QS_TRY(ScriptInputs inputs, declareScriptInputs(*forward, file.tracedInputs, root));
    for (const std::string& name : inputs.fixed)
        note(archive->path() + ": the argument '" + name + "' keeps its default value");
    std::vector<ScriptItem> args {model};
    args.insert(args.end(), inputs.items.begin(), inputs.items.end());
    QS_TRY(const ScriptItem returned, evaluator.call(*forward, std::move(args), &module));
    ModelInfo info;
    QS_TRY(info.outputTree, declareScriptOutput(evaluator, returned, root));
    QS_CHECK(evaluator.checkWrites(root));
    QS_TRY(const std::vector<std::string> dropped, evaluator.keepAttributes());
    for (const std::string& attribute : dropped)
        note(archive->path() + ": the attribute '" + attribute
             + "' starts every call from its saved value; what the model sets it to is not kept");
    eraseUnread(root.edit());
    info.path = archive->path();
    info.format = "torchscript";
    info.producer = "TorchScript";
    info.inputTree = inputs.tree;
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

/// A second time where the code calls operators that nobody has.
Result<ScriptFile> openWhole(const Pt2Archive& archive, ScriptPlaceholders& placeholders,
                             const JobContext& job)
{
    auto file = openScriptFile(archive, job);
    if (file || file.error().message.find("Unknown builtin op") == std::string::npos)
        return file;
    const auto added = guardTorchValue<std::string>([&] { return placeholders.add(archive); });
    if (!added || added->empty())
        return file;
    file = openScriptFile(archive, job);
    if (!file && file.error().hint.empty())
        return fail(std::move(file).error().withHint(
            "it calls operators that are not known to this LibTorch (" + *added
            + "), of which the file does not tell what they return: load the library that has "
              "them with --extension DIR, or export the model with torch.export"));
    return file;
}

} // namespace

bool isTorchScript(const Pt2Archive& archive)
{
    return archive.has("constants.pkl")
        || std::any_of(archive.names().begin(), archive.names().end(),
                       [](const auto& name) { return name.starts_with("code/"); });
}

Result<Graph> readTorchScript(std::shared_ptr<Pt2Archive> archive, const JobContext& job)
{
    const InferenceScope scope;
    ScriptPlaceholders placeholders; // the program points to them
    QS_TRY(const ScriptFile file, openWhole(*archive, placeholders, job));
    auto graph = guardTorchValue<Graph>([&] { return readProgram(archive, file, job); });
    if (graph)
        return graph;
    Error error = std::move(graph).error();
    if (error.code == ErrorCode::Device)
        error.code = ErrorCode::BadInput;
    return fail(std::move(error).inFile(archive->path()));
}

} // namespace qs
