// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/free_later.h"
#include "engine/base/process/leavable_work.h"
#include "engine/base/torch_guard.h"
#include "engine/convert/lowering/quantized_engine.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/export/file_sink.h"
#include "engine/export/forms/inline_regions.h"
#include "engine/export/torchscript/script_ops.h"
#include "engine/export/torchscript/script_structure.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/graph/pass.h"
#include "engine/import/archive/export_record.h"
#include "engine/import/functionalize/alias_analysis.h"

#include <torch/csrc/jit/serialization/export.h>

#include <array>

namespace qs {

namespace {

bool allConstant(const Interpreter& interpreter, const Node& node)
{
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        if (!interpreter.isConstant({node.id, i}))
            return false;
    return !node.outputs.empty();
}

/// The value, or `other` in a branch that is never taken. TorchScript's optimizer then treats the
/// two as possible aliases; else it would remove in-place writes as unread.
ScriptValue* tied(ScriptBuilder& builder, ScriptValue* value, ScriptValue* other)
{
    torch::jit::Graph& body = builder.body();
    ScriptValue* taken
        = builder.call("aten::ge", {builder.call("aten::numel", {other}), builder.literal(0)});
    torch::jit::Node* made
        = body.insertNode(body.create(c10::Symbol::fromQualString("prim::If"), {taken}, 1));
    for (ScriptValue* way : {value, other})
        made->addBlock()->registerOutput(way);
    return made->output()->setType(c10::TensorType::get());
}

/// Ties the results of a node in a region, which may write in place, to its operands.
Result<void> tieToOperands(ScriptBuilder& builder, const Node& node)
{
    const auto isTensor
        = [](const ScriptValue* v) { return v->type()->kind() == c10::TypeKind::TensorType; };
    for (const ValueRef operand : undeclaredAliases(builder.source(), node))
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            QS_TRY(ScriptValue * made, builder.value({node.id, i}));
            QS_TRY(ScriptValue * other, builder.value(operand));
            if (isTensor(made) && isTensor(other))
                builder.bind({node.id, i}, tied(builder, made, other));
        }
    return {};
}

Result<void> fillBody(ScriptBuilder& builder, const Interpreter& interpreter,
                      const std::unordered_set<NodeId>& inPlace, const JobContext& job)
{
    for (const NodePtr& node : builder.source().nodes()) {
        QS_CHECK(job.check());
        if (node->kind == NodeKind::ModuleCall)
            return fail(makeError(ErrorCode::Unsupported,
                                  "a module kept whole cannot be written as TorchScript")
                            .atNode(node->name));
        const bool runs = inPlace.contains(node->id) || !allConstant(interpreter, *node);
        if (node->kind == NodeKind::Op && runs)
            QS_CHECK(builder.write(*node));
        if (inPlace.contains(node->id))
            QS_CHECK(tieToOperands(builder, *node));
    }
    return {};
}

/// Saves the module so that a cancel need not wait: LibTorch cannot be interrupted while it removes
/// dead code, checks and writes.
Result<void> saveLeavable(std::shared_ptr<ScriptBuilder> builder, ScriptValue* returned,
                          const std::string& path, const std::optional<ExportRecord>& record,
                          const JobContext& job)
{
    torch::jit::ExtraFilesMap extra;
    if (record)
        extra[kExportRecordFile] = exportRecordText(*record);
    QS_TRY(FileSink opened, FileSink::open(path)); // here, where a cancelled caller removes it
    const auto file = std::make_shared<FileSink>(std::move(opened));
    const auto save = [=]() -> Result<void> {
        const InferenceScope scope;
        return guardTorch([&]() -> Result<void> {
            torch::jit::ExportModule(builder->finish(returned), file->writer(), extra);
            return file->close();
        });
    };
    return runLeavable(save, job);
}

/// Fails for 3D convolutions packed by QNNPACK: it runs them, but cannot unpack the weights for
/// storage.
Result<void> checkStorable(const Graph& lowered)
{
    if (currentEngine() != "qnnpack")
        return {};
    for (const NodePtr& node : lowered.nodes())
        if (node->target.starts_with("quantized.conv")
            && node->target.find("3d") != std::string::npos)
            return fail(
                makeError(ErrorCode::Unsupported,
                          "TorchScript cannot store three-dimensional convolutions that are "
                          "packed for the engine qnnpack")
                    .atNode(node->name)
                    .withHint("take the backend x86, fbgemm or onednn, keep them float, or "
                              "export pt2 or onnx"));
    return {};
}

Result<void> writeModule(const Graph& lowered, const std::string& path, const JobContext& job,
                         const std::optional<ExportRecord>& record, const CodeCalls& names)
{
    QS_CHECK(checkStorable(lowered));
    InlinedGraph inlined;
    const auto inlineInto = [&inlined](const Graph& graph) -> Result<GraphPtr> {
        QS_TRY(inlined, inlineRegions(graph));
        return inlined.graph;
    };
    const std::array passes {Pass("join-objects", joinObjects),
                             Pass("inline-regions", inlineInto, PassTraits {.isVerified = false})};
    QS_CHECK(runPasses(std::make_shared<const Graph>(lowered), passes, job));
    QS_TRY(const Interpreter interpreter, Interpreter::create(inlined.graph, {}, job));
    const std::shared_ptr<ScriptBuilder> made
        = makeFreedLater<ScriptBuilder>(*inlined.graph, interpreter, names);
    ScriptBuilder& builder = *made;
    QS_CHECK(declareInputs(builder));
    QS_CHECK(fillBody(builder, interpreter, inlined.inPlace, job));
    QS_TRY(ScriptValue * returned, packOutputs(builder));
    QS_CHECK(job.check());
    return saveLeavable(made, returned, path, record, job);
}

} // namespace

Result<void> writeTorchScript(const Graph& lowered, const std::string& path, const JobContext& job,
                              const std::optional<ExportRecord>& record, const CodeCalls& names)
{
    const InferenceScope scope;
    return guardTorch([&] { return writeModule(lowered, path, job, record, names); });
}

} // namespace qs
