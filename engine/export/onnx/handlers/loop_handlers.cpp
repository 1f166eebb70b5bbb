// SPDX-License-Identifier: Apache-2.0
// Operators that run a graph: recurrences, branches and loops.
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/graph/operators/engine_ops.h"

#include <iterator>

namespace qs {

namespace {

/// A body as an ONNX graph. `outside` names values of the outer graph for the first inputs, which
/// the body does not declare.
class Body
{
public:
    Body(OnnxCall& call, const GraphPtr& graph)
        : m_call(call)
        , m_graph(graph)
    {
        auto interpreter = Interpreter::create(graph);
        if (interpreter)
            m_builder.emplace(graph, std::move(*interpreter), m_call.builder().names(),
                              m_call.builder().opset());
        else
            m_call.refuse(interpreter.error().message);
    }

    bool good() const { return m_builder.has_value(); }
    OnnxBuilder& builder() { return *m_builder; }
    std::vector<const Node*> inputs() const { return m_graph->inputs(); }

    void declareInput(const Node& input)
    {
        const std::string name = m_call.builder().names().unique(input.name);
        m_builder->bind({input.id, 0}, name);
        // Shapes recorded in the body hold for one step of one run only.
        const OnnxValue declared = OnnxBuilder::declared(name, input.outputs.at(0).type, false);
        m_builder->addInput({declared.name, declared.dtype, std::nullopt});
    }

    void returnValue(const Argument& returned)
    {
        if (const ValueRef* ref = returned.asRef())
            m_builder->reserveOutput(*ref,
                                     m_builder->names().unique(m_graph->value(*ref).name + "_out"));
        else
            m_call.refuse("its graph returns a constant");
    }

    std::shared_ptr<const OnnxGraph> finish()
    {
        auto missing = m_builder->missing();
        if (missing.first) {
            m_call.refuse("ONNX has no form of " + missing.targets.front() + " inside of it");
            return nullptr;
        }
        auto done = m_builder->run();
        if (done)
            done = m_builder->giveOutputs(false);
        if (!done) {
            m_call.refuse(done.error().message);
            return nullptr;
        }
        return std::make_shared<const OnnxGraph>(m_builder->take(m_call.node().name + "_body"));
    }

private:
    OnnxCall& m_call;
    GraphPtr m_graph;
    std::optional<OnnxBuilder> m_builder;
};

/// Scan over the first dimension. Our body takes the slice, the states and values that are equal
/// at each step; ONNX's body takes the states first and reads the equal values from the outer
/// graph.
void recur(OnnxCall& c)
{
    const Node& node = c.node();
    const auto* states = node.args.at(1).value.asList();
    const auto* extras = node.args.at(2).value.asList();
    if (!states || node.subgraphs.empty()) {
        c.refuse("it lacks its graph");
        return;
    }
    Body body(c, node.subgraphs[0]);
    if (!body.good())
        return;
    const auto inputs = node.subgraphs[0]->inputs();
    const std::size_t count = states->size();
    if (inputs.size() != 1 + count + (extras ? extras->size() : 0)) {
        c.refuse("its graph does not fit it");
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        body.declareInput(*inputs[1 + i]);
    body.declareInput(*inputs[0]);
    for (std::size_t i = 0; extras && i < extras->size(); ++i)
        body.builder().bind({inputs[1 + count + i]->id, 0}, c.value((*extras)[i]));
    const auto& returned = node.subgraphs[0]->output().args;
    for (std::size_t i = 0; i < count && i < returned.size(); ++i)
        body.returnValue(returned[i].value);
    if (!returned.empty())
        body.returnValue(returned[0].value);
    const auto graph = body.finish();
    if (!graph)
        return;
    std::vector<std::string> given;
    for (const Argument& state : *states)
        given.push_back(c.value(state));
    given.push_back(c.value(node.args[0].value));
    const auto made = c.emitMany("Scan", std::move(given), count + 1,
                                 {{"body", graph}, {"num_scan_inputs", 1}});
    for (std::size_t i = 0; i < count; ++i)
        c.give(made[i], i + 1);
    c.give(made[count], 0);
}

/// If: runs one of two graphs, whose inputs are values of the outer graph.
void branch(OnnxCall& c)
{
    const Node& node = c.node();
    const auto* operands = node.args.size() > 3 ? node.args[3].value.asList() : nullptr;
    if (node.subgraphs.size() != 2 || !operands) {
        c.refuse("it lacks its graphs");
        return;
    }
    OnnxAttributes branches;
    for (std::size_t i = 0; i < 2; ++i) {
        Body body(c, node.subgraphs[i]);
        const auto inputs = node.subgraphs[i]->inputs();
        if (!body.good() || inputs.size() != operands->size()) {
            c.refuse("its graph does not fit it");
            return;
        }
        for (std::size_t k = 0; k < inputs.size(); ++k)
            body.builder().bind({inputs[k]->id, 0}, c.value((*operands)[k]));
        for (const NamedArgument& returned : node.subgraphs[i]->output().args)
            body.returnValue(returned.value);
        const auto graph = body.finish();
        if (!graph)
            return;
        branches.emplace_back(i == 0 ? "then_branch" : "else_branch", graph);
    }
    const std::string condition
        = c.emit("Reshape", {c.value(node.args[0].value, DType::Bool), c.ints({})});
    const auto made = c.emitMany("If", {condition}, node.outputs.size(), std::move(branches));
    for (std::size_t i = 0; i < made.size(); ++i)
        c.give(made[i], i);
}

/// Loop while a condition graph returns true. ONNX needs the condition before the first iteration
/// and from the body after each iteration, so the condition graph is written twice.
void repeatWhile(OnnxCall& c)
{
    const Node& node = c.node();
    const auto* carried = node.args.size() > 2 ? node.args[2].value.asList() : nullptr;
    const auto* extras = node.args.size() > 3 ? node.args[3].value.asList() : nullptr;
    if (node.subgraphs.size() != 2 || !carried) {
        c.refuse("it lacks its graphs");
        return;
    }
    std::vector<std::string> given, around;
    for (const Argument& value : *carried)
        given.push_back(c.value(value));
    for (std::size_t i = 0; extras && i < extras->size(); ++i)
        around.push_back(c.value((*extras)[i]));
    const auto bind = [&](Body& body, const std::vector<std::string>& states) {
        const auto inputs = body.inputs();
        if (inputs.size() != states.size() + around.size()) {
            c.refuse("its graph does not fit it");
            return false;
        }
        for (std::size_t i = 0; i < inputs.size(); ++i)
            body.builder().bind({inputs[i]->id, 0},
                                i < states.size() ? states[i] : around[i - states.size()]);
        return true;
    };
    const auto answer = [&](const std::vector<std::string>& states) -> std::shared_ptr<OnnxGraph> {
        Body asked(c, node.subgraphs[0]);
        if (!asked.good() || !bind(asked, states))
            return nullptr;
        asked.returnValue(node.subgraphs[0]->output().args.at(0).value);
        const auto graph = asked.finish();
        return graph ? std::make_shared<OnnxGraph>(*graph) : nullptr;
    };
    const auto first = answer(given);
    Body body(c, node.subgraphs[1]);
    if (!first || !body.good())
        return;
    std::vector<OnnxValue> inputs {
        {c.builder().names().unique(node.name + "_round"), DType::Int64, std::vector<OnnxDim>()},
        {c.builder().names().unique(node.name + "_on"), DType::Bool, std::vector<OnnxDim>()}};
    std::vector<std::string> states;
    const auto own = body.inputs();
    for (std::size_t i = 0; i < given.size() && i < own.size(); ++i) {
        const std::string name = c.builder().names().unique(own[i]->name);
        OnnxValue declared = OnnxBuilder::declared(name, own[i]->outputs.at(0).type, false);
        declared.shape.reset();
        inputs.push_back(std::move(declared));
        states.push_back(name);
    }
    if (!bind(body, states))
        return;
    for (const NamedArgument& returned : node.subgraphs[1]->output().args)
        body.returnValue(returned.value);
    const auto round = body.finish();
    if (!round || round->outputs.size() != given.size())
        return;
    OnnxGraph whole = *round;
    std::vector<std::string> made;
    for (const OnnxValue& output : whole.outputs)
        made.push_back(output.name);
    const auto next = answer(made);
    if (!next)
        return;
    whole.inputs = std::move(inputs);
    std::move(next->nodes.begin(), next->nodes.end(), std::back_inserter(whole.nodes));
    std::move(next->initializers.begin(), next->initializers.end(),
              std::back_inserter(whole.initializers));
    whole.outputs.insert(whole.outputs.begin(), next->outputs.at(0));
    const std::string on = c.emit("Reshape", {c.builder().adopt(*first), c.ints({})});
    given.insert(given.begin(), {"", on});
    const std::size_t count = given.size() - 2;
    const auto results = c.emitMany("Loop", std::move(given), count,
                                    {{"body", std::make_shared<const OnnxGraph>(whole)}});
    for (std::size_t i = 0; i < results.size(); ++i)
        c.give(results[i], i);
}

} // namespace

void addLoopHandlers(OnnxHandlers& table)
{
    table[std::string(kRecurTarget)] = recur;
    table["higher_order.cond"] = branch;
    table["higher_order.while_loop"] = repeatWhile;
}

} // namespace qs
