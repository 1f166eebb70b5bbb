// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_control.h"

#include "engine/execute/control/script_control.h"
#include "engine/execute/control/subgraph_values.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

using Values = std::vector<ScriptValue*>;

/// Emits the nodes inside a block; the insertion point is the end of the block.
class ControlWriter
{
public:
    ControlWriter(ScriptBuilder& builder, const Node& node)
        : m_builder(builder)
        , m_body(builder.body())
        , m_node(node)
    {
    }

    Result<Values> cond()
    {
        QS_TRY(ScriptValue * predicate, operand(0));
        QS_TRY(const Values operands, operands(3));
        return branches(predicate, operands, operands);
    }

    Result<Values> scriptIf()
    {
        QS_TRY(ScriptValue * predicate, operand(0));
        QS_TRY(const Values whenTrue, operands(3));
        QS_TRY(const Values whenFalse, operands(4));
        return branches(predicate, whenTrue, whenFalse);
    }

    Result<Values> scriptLoop()
    {
        QS_TRY(ScriptValue * trips, operand(0));
        QS_TRY(ScriptValue * first, operand(1));
        QS_TRY(const Values start, operands(3));
        QS_TRY(const Values extra, operands(4));
        if (trips->type()->kind() == c10::TypeKind::TensorType)
            trips = m_builder.call("aten::Int", {trips});
        QS_TRY(ScriptValue * go, truth(first));
        return loop(trips, go, start, [&](const Values& carried) -> Result<LoopRound> {
            QS_TRY(Values made, run(2, joined({m_index}, joined(carried, extra))));
            if (made.empty())
                return fail(ErrorCode::BadInput, "its body does not say whether to go on");
            QS_TRY(ScriptValue * again, truth(made.front()));
            made.erase(made.begin());
            return LoopRound {again, std::move(made)};
        });
    }

    Result<Values> whileLoop()
    {
        QS_TRY(const Values start, operands(2));
        QS_TRY(const Values extra, operands(3));
        QS_TRY(ScriptValue * first, condition(0, joined(start, extra)));
        ScriptValue* forever = m_builder.literal(std::numeric_limits<std::int64_t>::max());
        return loop(forever, first, start, [&](const Values& carried) -> Result<LoopRound> {
            QS_TRY(Values next, run(1, joined(carried, extra)));
            QS_TRY(ScriptValue * again, condition(0, joined(next, extra)));
            return LoopRound {again, std::move(next)};
        });
    }

    Result<Values> map()
    {
        QS_TRY(const Values over, operands(1));
        QS_TRY(const Values extra, operands(2));
        return overSlices({}, over, extra);
    }

    Result<Values> scan()
    {
        QS_TRY(const Values start, operands(1));
        QS_TRY(const Values over, operands(2));
        QS_TRY(const Values extra, operands(3));
        return overSlices(start, over, extra);
    }

private:
    struct LoopRound
    {
        ScriptValue* again;
        Values carried;
    };

    static Values joined(Values first, const Values& second)
    {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    }

    /// prim::If over the subgraphs that the arguments 1 and 2 name.
    Result<Values> branches(ScriptValue* predicate, const Values& whenTrue, const Values& whenFalse)
    {
        QS_TRY(ScriptValue * choice, truth(predicate));
        torch::jit::Node* made
            = m_body.insertNode(m_body.create(torch::jit::prim::If, {choice}, 0));
        for (const bool taken : {true, false}) {
            torch::jit::Block* block = made->addBlock();
            const torch::jit::WithInsertPoint inside(block);
            QS_TRY(const Values returned, run(taken ? 1 : 2, taken ? whenTrue : whenFalse));
            for (ScriptValue* value : returned)
                block->registerOutput(value);
        }
        torch::jit::Block* first = made->blocks()[0];
        torch::jit::Block* second = made->blocks()[1];
        if (first->outputs().size() != second->outputs().size())
            return fail(ErrorCode::BadInput, "its branches return different numbers of values");
        for (std::size_t i = 0; i < first->outputs().size(); ++i) {
            leaveOpen(*first, i, second->outputs()[i]->type());
            leaveOpen(*second, i, first->outputs()[i]->type());
            const auto type
                = c10::unifyTypes(first->outputs()[i]->type(), second->outputs()[i]->type());
            if (!type)
                return fail(ErrorCode::Unsupported,
                            "its branches return values of different types, which TorchScript "
                            "does not take");
            made->addOutput()->setType(*type);
        }
        return Values(made->outputs().begin(), made->outputs().end());
    }

    /// If a block raises and returns None at `place`, replaces that output by an uninitialized
    /// value of the type that the other block returns.
    void leaveOpen(torch::jit::Block& block, std::size_t place, const c10::TypePtr& type)
    {
        const auto nodes = block.nodes();
        const bool raises = std::any_of(nodes.begin(), nodes.end(), [](const auto* node) {
            return node->kind() == torch::jit::prim::RaiseException;
        });
        if (!raises || block.outputs()[place]->type()->kind() != c10::TypeKind::NoneType)
            return;
        const torch::jit::WithInsertPoint inside(&block);
        torch::jit::Node* open = m_body.insertNode(m_body.createUninitialized(type));
        block.replaceOutput(place, open->output());
    }

    Result<ScriptValue*> operand(std::size_t position)
    {
        const Argument* given = m_node.tryArg(position);
        if (!given)
            return fail(ErrorCode::BadInput, "it lacks an argument");
        if (const auto* ref = given->asRef())
            return m_builder.value(*ref);
        return m_builder.argument(*given, c10::NumberType::get());
    }

    /// The members of a list argument, emitted outside of any block.
    Result<Values> operands(std::size_t position)
    {
        Values out;
        const Argument* given = m_node.tryArg(position);
        const auto* list = given ? given->asList() : nullptr;
        if (!list)
            return out;
        for (const Argument& item : *list) {
            if (const auto* ref = item.asRef()) {
                QS_TRY(ScriptValue * value, m_builder.value(*ref));
                out.push_back(value);
            } else {
                QS_TRY(ScriptValue * value, m_builder.argument(item, c10::NumberType::get()));
                out.push_back(value);
            }
        }
        return out;
    }

    Result<ScriptValue*> truth(ScriptValue* value)
    {
        return value->type()->kind() == c10::TypeKind::BoolType
            ? value
            : m_builder.call("aten::Bool", {value});
    }

    /// Emits the nodes of the subgraph that an argument names at the current position.
    Result<Values> run(std::size_t position, const Values& given)
    {
        const Argument* argument = m_node.tryArg(position);
        const std::string* text = argument ? argument->asString() : nullptr;
        QS_TRY(const std::size_t index,
               subgraphIndex(m_node, text ? at::IValue(*text) : at::IValue()));
        const Graph& graph = *m_node.subgraphs[index];
        if (graph.inputs().size() != given.size())
            return fail(ErrorCode::BadInput, "its subgraph takes another number of values");
        return m_builder.inlineGraph(graph, given);
    }

    Result<ScriptValue*> condition(std::size_t position, const Values& given)
    {
        QS_TRY(const Values returned, run(position, given));
        if (returned.size() != 1)
            return fail(ErrorCode::BadInput, "its condition does not return one value");
        return truth(returned.front());
    }

    template<class Round>
    Result<Values> loop(ScriptValue* rounds, ScriptValue* first, const Values& start,
                        const Round& round)
    {
        torch::jit::Node* made
            = m_body.insertNode(m_body.create(torch::jit::prim::Loop, {rounds, first}, 0));
        torch::jit::Block* block = made->addBlock();
        m_index = block->addInput("i");
        m_index->setType(c10::IntType::get());
        Values carried;
        for (ScriptValue* value : start) {
            // An initial None is an optional tensor without a value.
            if (value->type()->kind() == c10::TypeKind::NoneType) {
                const torch::jit::WithInsertPoint before(made);
                value = m_builder.literal({});
                value->setType(c10::OptionalType::ofTensor());
            }
            made->addInput(value);
            carried.push_back(block->addInput()->setType(value->type()));
            made->addOutput()->setType(value->type());
        }
        const torch::jit::WithInsertPoint inside(block);
        QS_TRY(const LoopRound done, round(carried));
        if (done.carried.size() != start.size())
            return fail(ErrorCode::BadInput, "its subgraph returns another number of values");
        block->registerOutput(done.again);
        for (std::size_t i = 0; i < carried.size(); ++i)
            block->registerOutput(fitted(done.carried[i], carried[i]->type()));
        return Values(made->outputs().begin(), made->outputs().end());
    }

    /// Casts a value whose type a branch made optional, although it always exists when the loop
    /// continues.
    ScriptValue* fitted(ScriptValue* value, const c10::TypePtr& type)
    {
        return value->type()->isSubtypeOf(*type) ? value : m_body.insertUncheckedCast(value, type);
    }

    /// Emits a loop over the first dimension of `over`. The subgraph's results after the carried
    /// ones are collected in lists and stacked after the loop.
    Result<Values> overSlices(const Values& start, const Values& over, const Values& extra)
    {
        if (over.empty())
            return fail(ErrorCode::Unsupported, "it goes over nothing");
        ScriptValue* zero = m_builder.literal(std::int64_t(0));
        ScriptValue* rounds = m_builder.call("aten::size", {over.front(), zero});
        std::vector<ScriptValue*> lists;
        for (std::size_t i = start.size(); i < m_node.outputs.size(); ++i)
            lists.push_back(
                m_body.insertNode(m_body.createList(c10::TensorType::get(), {}))->output());
        const auto round = [&](const Values& carried) -> Result<LoopRound> {
            Values given = carried;
            for (ScriptValue* tensor : over)
                given.push_back(m_builder.call("aten::select", {tensor, zero, m_index}));
            QS_TRY(Values made, run(0, joined(std::move(given), extra)));
            if (made.size() != start.size() + lists.size())
                return fail(ErrorCode::BadInput, "its subgraph returns another number of values");
            for (std::size_t i = 0; i < lists.size(); ++i)
                m_builder.call("aten::append", {lists[i], made[start.size() + i]});
            made.resize(start.size());
            return LoopRound {m_builder.literal(true), std::move(made)};
        };
        QS_TRY(Values out, loop(rounds, m_builder.literal(true), start, round));
        for (ScriptValue* list : lists)
            out.push_back(m_builder.call("aten::stack", {list, zero}));
        return out;
    }

    ScriptBuilder& m_builder;
    torch::jit::Graph& m_body;
    const Node& m_node;
    ScriptValue* m_index = nullptr; ///< index of the loop being emitted
};

} // namespace

bool isControlOperator(const Node& node)
{
    return node.target == "higher_order.cond" || node.target == "higher_order.while_loop"
        || node.target == "higher_order.map_impl" || node.target == "higher_order.scan"
        || node.target == kIfTarget || node.target == kLoopTarget;
}

Result<std::vector<ScriptValue*>> emitControl(ScriptBuilder& builder, const Node& node)
{
    ControlWriter writer(builder, node);
    if (node.target == "higher_order.cond")
        return writer.cond();
    if (node.target == "higher_order.while_loop")
        return writer.whileLoop();
    if (node.target == kIfTarget)
        return writer.scriptIf();
    if (node.target == kLoopTarget)
        return writer.scriptLoop();
    return node.target == "higher_order.scan" ? writer.scan() : writer.map();
}

} // namespace qs
