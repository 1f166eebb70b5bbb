// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/export/script_ops.h"
#include "engine/export/script_structure.h"

#include <fstream>

namespace qs {

namespace {

bool allConstant(const Interpreter& interpreter, const Node& node)
{
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        if (!interpreter.isConstant({node.id, i}))
            return false;
    return !node.outputs.empty();
}

Result<void> fillBody(ScriptBuilder& builder, const Interpreter& interpreter)
{
    for (const NodePtr& node : builder.source().nodes()) {
        if (node->kind == NodeKind::ModuleCall)
            return fail(makeError(ErrorCode::Unsupported,
                                  "a module kept whole cannot be written as TorchScript")
                            .atNode(node->name));
        if (node->kind == NodeKind::Op && !allConstant(interpreter, *node))
            QS_CHECK(emitNode(builder, *node));
    }
    return {};
}

Result<void> saveModule(const torch::jit::Module& module, const std::string& path)
{
    std::ofstream file(path, std::ios::binary);
    if (!file)
        return fail(makeError(ErrorCode::Io, "the file cannot be written").inFile(path));
    module.save(file);
    file.close();
    if (!file)
        return fail(makeError(ErrorCode::Io, "the file could not be written whole").inFile(path));
    return {};
}

Result<void> writeModule(const Graph& lowered, const std::string& path)
{
    QS_TRY(const Interpreter interpreter,
           Interpreter::create(std::make_shared<const Graph>(lowered)));
    ScriptBuilder builder(lowered, interpreter);
    QS_CHECK(declareInputs(builder));
    QS_CHECK(fillBody(builder, interpreter));
    QS_TRY(ScriptValue * returned, packOutputs(builder));
    return saveModule(builder.finish(returned), path);
}

} // namespace

Result<void> writeTorchScript(const Graph& lowered, const std::string& path)
{
    const InferenceScope scope;
    return guardTorch([&] { return writeModule(lowered, path); });
}

} // namespace qs
