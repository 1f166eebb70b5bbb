// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/lstm/lstm_op.h"

#include "engine/graph/argument_number.h"
#include "engine/graph/operators/common_targets.h"

namespace qs {

namespace {

/// Returns the argument by its schema name, or by position if names are missing.
const Argument* argumentAt(const Node& node, std::string_view name, std::size_t position)
{
    if (const Argument* named = node.tryArg(name))
        return named;
    const bool unnamed = position < node.args.size() && node.args[position].name.empty();
    return unnamed ? &node.args[position].value : nullptr;
}

bool flag(const Node& node, std::string_view name, std::size_t position)
{
    const Argument* argument = argumentAt(node, name, position);
    return argument && argument->asBool() && *argument->asBool();
}

const Argument::List* listAt(const Node& node, std::string_view name, std::size_t position)
{
    const Argument* argument = argumentAt(node, name, position);
    return argument ? argument->asList() : nullptr;
}

/// True for a zero-filled tensor, looking through operators that only move it.
bool isZeros(const Graph& graph, ValueRef ref, const std::string& scope)
{
    for (;;) {
        const Node& node = graph.get(ref.node);
        if (node.kind != NodeKind::Op || node.scope.path != scope)
            return false;
        if (node.target.starts_with("aten.zeros.") || node.target.starts_with("aten.new_zeros."))
            return true;
        if (node.isOp("aten.full.default"))
            return numberOf(node.tryArg("fill_value")) == 0;
        const bool moves = node.isOp("aten.unsqueeze.default") || node.isOp("aten.expand.default")
            || node.isOp(kCastTarget) || node.isOp(kCloneTarget);
        const ValueRef* next = moves && !node.args.empty() ? node.args[0].value.asRef() : nullptr;
        if (!next)
            return false;
        ref = *next;
    }
}

} // namespace

std::string lstmCellPath(const LstmOp& op, std::size_t cell)
{
    const char* direction = cell % op.directions == 0 ? ".layer_fw.cell" : ".layer_bw.cell";
    return "layers." + std::to_string(cell / op.directions) + direction;
}

std::string lstmInterior(const LstmOp& op, std::size_t cell, std::string_view value)
{
    return lstmCellPath(op, cell) + "." + std::string(value);
}

std::optional<LstmOp> readLstm(const Node& node)
{
    const Argument* input = node.isOp(kLstmTarget) ? argumentAt(node, "input", 0) : nullptr;
    const auto* states = listAt(node, "hx", 1);
    const auto* params = listAt(node, "params", 2);
    const Argument* layers = argumentAt(node, "num_layers", 4);
    if (!input || !input->asRef() || !states || states->size() != 2 || !(*states)[0].asRef()
        || !(*states)[1].asRef() || !params || !layers || !layers->asInt() || *layers->asInt() < 1)
        return std::nullopt;
    LstmOp op;
    op.input = *input->asRef();
    op.hidden = *(*states)[0].asRef();
    op.cell = *(*states)[1].asRef();
    op.hasBiases = flag(node, "has_biases", 3);
    op.layers = std::size_t(*layers->asInt());
    op.directions = flag(node, "bidirectional", 7) ? 2 : 1;
    op.batchFirst = flag(node, "batch_first", 8);
    if (params->size() != op.cells() * op.parametersPerCell())
        return std::nullopt;
    for (const Argument& parameter : *params)
        if (!parameter.asRef())
            return std::nullopt;
    return op;
}

std::string whyNoStaticLstm(const Node& node)
{
    if (node.isOp("aten.lstm.data"))
        return "runs on a packed sequence, which the quantized cell cannot read; give it a padded "
               "tensor";
    if (flag(node, "train", 6))
        return "is in training mode; call .eval() before exporting";
    const auto* states = listAt(node, "hx", 1);
    if (!states || states->size() != 2 || !(*states)[0].asRef() || !(*states)[1].asRef())
        return "gets its initial states as one tuple; pass the two tensors";
    if (!readLstm(node))
        return "projects its hidden state (proj_size), for which there is no quantized cell";
    return {};
}

bool startsFromZeros(const Graph& graph, const Node& node)
{
    const auto op = readLstm(node);
    return op && isZeros(graph, op->hidden, node.scope.path)
        && isZeros(graph, op->cell, node.scope.path);
}

} // namespace qs
