// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_calls.h"

#include "engine/graph/code/code_modules.h"
#include "engine/graph/code/code_namer.h"
#include "engine/graph/operators/operators.h"

namespace qs {

namespace {

/// One operator without weights that is a module of torch.nn: a pooling, an activation.
bool isWholeModule(const CodeStatement& statement)
{
    const Node& node = statement.result();
    return statement.nodes.size() == 1 && node.subgraphs.empty()
        && node.scope.moduleClass.starts_with("torch.nn.");
}

void addHolders(const Graph& graph, const CodeStatement& statement, const CodeContext& context,
                CodeCalls& out)
{
    for (const NamedArgument& argument : statement.result().args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const Node& packing = graph.get(ref.node);
            if (packing.isOperator() && isKernelTarget(packing.target))
                out.holders[packing.id]
                    = {statement.path(), "Quantized" + kernelClass(statement, context)};
        });
}

} // namespace

CodeCalls codeCalls(const Graph& graph, const CodeContext& context)
{
    using Kind = CodeStatement::Kind;
    const CodeNamer names(graph, context);
    std::unordered_map<std::string, int> calls;
    for (const CodeStatement& statement : names.statements())
        if (statement.kind == Kind::Module)
            ++calls[statement.path()];
    CodeCalls out;
    for (const CodeStatement& statement : names.statements()) {
        const Node& node = statement.result();
        if (statement.kind == Kind::PackedWeight)
            out.packedWeights[node.id] = names.of({node.id, 0});
        else if (const ParameterNames* own = names.parameters(node))
            out.parameters[node.id] = *own;
        else if (statement.kind == Kind::Module && node.outputs.size() > 1)
            addHolders(graph, statement, context, out);
        else if (statement.kind != Kind::Module || statement.root != &node
                 || calls[statement.path()] != 1 || node.outputs.size() != 1)
            continue;
        else if (isKernelTarget(node.target))
            out.modules[node.id]
                = {statement.path(), "Quantized" + kernelClass(statement, context)};
        else if (isWholeModule(statement))
            out.modules[node.id] = {statement.path(), node.scope.moduleClass};
    }
    return out;
}

} // namespace qs
