// SPDX-License-Identifier: Apache-2.0
#include "engine/export/pt2/pt2_document.h"

#include "engine/base/memory/free_later.h"
#include "engine/export/pt2/pt2_metadata.h"
#include "engine/import/pt2/model_structure.h"

#include <algorithm>
#include <array>
#include <set>

namespace qs {

namespace {

constexpr int kSchemaMajor = 8;
constexpr int kSchemaMinor = 17;

/// Writes one graph: its nodes, its values and the graphs that its nodes run.
class GraphWriter
{
public:
    GraphWriter(const Graph& graph, const Pt2Json& record, const JobContext& job)
        : m_graph(graph)
        , m_record(record)
        , m_job(job)
    {
    }

    Result<Pt2Json> write(Pt2Json inputs, Pt2Json outputs)
    {
        const auto made = makeFreedLater<Pt2Json>();
        Pt2Json& json = *made;
        json = {{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}, {"nodes", nullptr}};
        json.get_ref<Pt2Json::object_t&>().reserve(16); // growing would copy the members
        QS_TRY(json["nodes"], nodes());
        QS_CHECK(pt2Values(m_graph, m_record, json, m_job));
        json["is_single_tensor_return"] = m_record.value("is_single_tensor_return", false);
        return std::move(json);
    }

    /// Writes an inner graph, with its inputs and outputs unchanged.
    Result<Pt2Json> writeInner()
    {
        Pt2Json inputs = Pt2Json::array();
        for (const Node* input : m_graph.inputs())
            inputs.push_back(pt2Reference(m_graph, {input->id, 0}));
        QS_TRY(Pt2Json returned, outputs());
        return write(std::move(inputs), std::move(returned));
    }

    Result<Pt2Json> outputs()
    {
        Pt2Json list = Pt2Json::array();
        for (const NamedArgument& arg : m_graph.output().args) {
            QS_TRY(Pt2Json made, pt2Argument(m_graph, arg.value, nullptr));
            list.push_back(std::move(made));
        }
        return list;
    }

private:
    Result<Pt2Json> nodes()
    {
        const auto written = makeFreedLater<Pt2Json>(Pt2Json::array());
        Pt2Json& list = *written;
        for (const NodePtr& node : m_graph.nodes()) {
            QS_CHECK(m_job.check());
            if (!node->isOperator())
                continue;
            auto made = writeNode(*node);
            if (!made)
                return fail(std::move(made).error().atNode(node->name));
            list.push_back(std::move(*made));
        }
        return std::move(list);
    }

    Result<Pt2Json> writeNode(const Node& node)
    {
        if (node.kind == NodeKind::ModuleCall)
            return fail(ErrorCode::Unsupported, "a module kept whole cannot be written as .pt2");
        if (node.args.size() < node.argumentStrings.size())
            return fail(ErrorCode::Unsupported, "it has arguments that were not understood");
        const auto subgraph = [&](std::size_t index) { return innerGraph(node, index); };
        QS_TRY(Pt2Json inputs, pt2Arguments(m_graph, node, subgraph));
        QS_TRY(Pt2Json outputs, pt2Outputs(node));
        return Pt2Json {{"target", pt2Target(node.target)},
                        {"inputs", std::move(inputs)},
                        {"outputs", std::move(outputs)},
                        {"metadata", pt2NodeMetadata(m_graph, node)},
                        {"is_hop_single_tensor_return", loneReturn(node)},
                        {"name", callName(node)}};
    }

    /// Whether a higher-order operator returns a single tensor, not a tuple; null for operators
    /// that are not higher-order.
    static Pt2Json loneReturn(const Node& node)
    {
        if (!node.target.starts_with("higher_order.") && node.subgraphs.empty())
            return {};
        return node.target == "higher_order.out_dtype"
            || node.target == "higher_order.call_torchbind";
    }

    /// Name of the node's call in the file. There, a call that returns a tuple or a list and its
    /// members have separate names; here a member may have the node's name.
    std::string callName(const Node& node) const
    {
        const bool members = loneReturn(node) == Pt2Json(false) || returnsMembers(node);
        const bool named = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](const Value& v) { return v.name == node.name; });
        if (!members || !named)
            return node.name;
        std::string name = node.name + "_call";
        while (m_graph.tryFind(name))
            name += "_";
        return name;
    }

    Result<Pt2Json> innerGraph(const Node& node, std::size_t index) const
    {
        if (index >= node.subgraphs.size())
            return fail(ErrorCode::Internal, "it names a graph that it does not hold");
        const Graph& graph = *node.subgraphs[index];
        Pt2Json record = Pt2Json::parse(graph.info().exportRecord, nullptr, false);
        if (!record.is_object())
            record = Pt2Json::object();
        QS_TRY(Pt2Json inner, GraphWriter(graph, record, m_job).writeInner());
        return Pt2Json {{"as_graph",
                         {{"name", node.name + "_graph_" + std::to_string(index)},
                          {"graph", std::move(inner)}}}};
    }

    const Graph& m_graph;
    const Pt2Json& m_record;
    const JobContext& m_job;
};

/// Writes the parts around the graph: signature and calling convention.
class DocumentWriter
{
public:
    DocumentWriter(const Graph& graph, const Pt2WeightRecords& weights,
                   const std::vector<StateUpdate>& updates, const JobContext& job)
        : m_graph(graph)
        , m_weights(weights)
        , m_updates(updates)
        , m_job(job)
        , m_record(Pt2Json::parse(graph.info().exportRecord, nullptr, false))
    {
        if (!m_record.is_object() || !m_record.contains("graph_module"))
            m_record = Pt2Json::object();
        m_module = m_record.value("graph_module", Pt2Json::object());
        m_recordedGraph = m_module.value("graph", Pt2Json::object());
    }

    Result<Pt2Json> write()
    {
        QS_CHECK(addWeights());
        QS_CHECK(addUserInputs());
        GraphWriter writer(m_graph, m_recordedGraph, m_job);
        QS_TRY(Pt2Json outputs, writer.outputs());
        Pt2Json outputSpecs = Pt2Json::array(), returned = Pt2Json::array();
        for (const StateUpdate& update : m_updates) {
            outputSpecs.push_back(mutation(update));
            returned.push_back(pt2Reference(m_graph, update.value));
        }
        for (const Pt2Json& output : outputs) {
            outputSpecs.push_back({{"user_output", {{"arg", output}}}});
            returned.push_back(output);
        }
        QS_TRY(Pt2Json calls, moduleCalls());
        QS_TRY(Pt2Json graph, writer.write(std::move(m_inputs), std::move(returned)));
        Pt2Json module
            = {{"graph", nullptr},
               {"signature",
                {{"input_specs", std::move(m_specs)}, {"output_specs", std::move(outputSpecs)}}},
               {"module_call_graph", std::move(calls)},
               {"metadata", kept(m_module, "metadata", Pt2Json::object())},
               {"treespec_namedtuple_fields",
                kept(m_module, "treespec_namedtuple_fields", Pt2Json::object())}};
        module["graph"] = std::move(graph);
        Pt2Json document
            = {{"graph_module", nullptr},
               {"opset_version", kept(m_record, "opset_version", {{"aten", 10}})},
               {"range_constraints", kept(m_record, "range_constraints", Pt2Json::object())},
               {"schema_version", {{"major", kSchemaMajor}, {"minor", kSchemaMinor}}},
               {"verifiers", kept(m_record, "verifiers", Pt2Json::array({"TRAINING"}))},
               {"torch_version", kept(m_record, "torch_version", QUANTSCOPE_TORCH_VERSION)},
               {"guards_code", kept(m_record, "guards_code", Pt2Json::array())}};
        document["graph_module"] = std::move(module);
        return document;
    }

private:
    static Pt2Json kept(const Pt2Json& from, const char* key, Pt2Json otherwise)
    {
        const auto it = from.find(key);
        if (it == from.end() || it->is_null())
            return otherwise;
        return *it;
    }

    /// The output that gives a buffer or an input its new value. Such outputs precede the user's.
    Pt2Json mutation(const StateUpdate& update) const
    {
        const Node& holder = m_graph.get(update.holder);
        const Pt2Json arg = {{"name", m_graph.value(update.value).name}};
        if (holder.kind == NodeKind::Input)
            return {{"user_input_mutation",
                     {{"arg", arg}, {"user_input_name", holder.outputs.at(0).name}}}};
        if (holder.isBuffer)
            return {{"buffer_mutation", {{"arg", arg}, {"buffer_name", m_weights.path(holder)}}}};
        return {{"parameter_mutation", {{"arg", arg}, {"parameter_name", m_weights.path(holder)}}}};
    }

    /// The calling convention requires parameters, buffers and constants first, in this order.
    Result<void> addWeights()
    {
        const auto isParameter
            = [](const Node& n) { return n.kind == NodeKind::Parameter && !n.isBuffer; };
        const auto isBuffer
            = [](const Node& n) { return n.kind == NodeKind::Parameter && n.isBuffer; };
        const auto isConstant = [](const Node& n) { return n.kind == NodeKind::Constant; };
        for (const NodePtr& node : m_graph.nodes()) {
            QS_CHECK(m_job.check());
            if (isParameter(*node))
                addWeight(*node, "parameter", {{"parameter_name", m_weights.path(*node)}});
        }
        for (const NodePtr& node : m_graph.nodes())
            if (isBuffer(*node))
                addWeight(*node, "buffer",
                          {{"buffer_name", m_weights.path(*node)},
                           {"persistent", node->persistentBuffer}});
        for (const NodePtr& node : m_graph.nodes())
            if (isConstant(*node) && node->outputs.at(0).type.kind == ValueKind::Custom)
                addObject(*node);
            else if (isConstant(*node))
                addWeight(*node, "tensor_constant",
                          {{"tensor_constant_name", m_weights.path(*node)}});
        return m_job.check();
    }

    void addWeight(const Node& node, const char* kind, const Pt2Json& rest)
    {
        const std::string& name = node.outputs.at(0).name;
        Pt2Json spec = {{"arg", {{"name", name}}}};
        spec.update(rest);
        m_specs.push_back({{kind, std::move(spec)}});
        m_inputs.push_back({{"as_tensor", {{"name", name}}}});
    }

    void addObject(const Node& node)
    {
        const Value& value = node.outputs.at(0);
        const Pt2Json arg = {{"name", value.name}, {"class_fqn", value.type.className}};
        m_specs.push_back(
            {{"custom_obj", {{"arg", arg}, {"custom_obj_name", m_weights.path(node)}}}});
        m_inputs.push_back({{"as_custom_obj", arg}});
    }

    /// Adds the user inputs of the original file, including arguments fixed to a constant, which
    /// our graph does not have.
    Result<void> addUserInputs()
    {
        const Pt2Json signature = m_module.value("signature", Pt2Json::object());
        const Pt2Json specs = signature.value("input_specs", Pt2Json::array());
        const Pt2Json inputs = m_recordedGraph.value("inputs", Pt2Json::array());
        std::size_t found = 0;
        for (std::size_t i = 0; i < specs.size() && i < inputs.size(); ++i)
            if (specs[i].contains("user_input") || specs[i].contains("constant_input")) {
                m_specs.push_back(specs[i]);
                m_inputs.push_back(inputs[i]);
                found += namesInput(inputs[i]);
            }
        if (found == m_graph.inputs().size())
            return {};
        if (!specs.empty())
            return fail(ErrorCode::Internal,
                        "the graph's inputs are not those of the file it came from");
        for (const Node* input : m_graph.inputs()) {
            const Pt2Json reference = pt2Reference(m_graph, {input->id, 0});
            m_specs.push_back({{"user_input", {{"arg", reference}}}});
            m_inputs.push_back(reference);
        }
        return {};
    }

    bool namesInput(const Pt2Json& argument) const
    {
        for (const Node* input : m_graph.inputs())
            if (pt2Reference(m_graph, {input->id, 0}) == argument)
                return true;
        return false;
    }

    /// The entries of the original file. The preserved signature of an inner module is left out: it
    /// names values of the graph that conversion may have replaced.
    Result<Pt2Json> moduleCalls() const
    {
        Pt2Json calls = kept(m_module, "module_call_graph", Pt2Json::array());
        for (Pt2Json& entry : calls) {
            if (!entry.value("fqn", std::string()).empty())
                entry["signature"] = nullptr;
            else if (entry["signature"].is_object() && !m_graph.info().edits.empty())
                entry["signature"]["out_spec"] = m_graph.info().outputTree; // an edit's
        }
        if (!calls.empty())
            return calls;
        QS_TRY(const ModelStructure structure, modelStructure(m_graph));
        const std::string inputs = m_graph.info().inputTree.empty()
            ? flatInputSpec(m_graph.inputs().size())
            : m_graph.info().inputTree;
        const std::string outputs = m_graph.info().outputTree.empty()
            ? flatOutputSpec(m_graph.output().args.size())
            : m_graph.info().outputTree;
        calls.push_back({{"fqn", ""},
                         {"signature",
                          {{"inputs", Pt2Json::array()},
                           {"outputs", Pt2Json::array()},
                           {"in_spec", inputs},
                           {"out_spec", outputs},
                           {"forward_arg_names", structure.argumentNames}}}});
        for (const ModuleEntry* module : m_graph.modules().inOrder())
            if (!module->path.empty())
                calls.push_back({{"fqn", module->path}, {"signature", nullptr}});
        return calls;
    }

    const Graph& m_graph;
    const Pt2WeightRecords& m_weights;
    const std::vector<StateUpdate>& m_updates;
    const JobContext& m_job;
    Pt2Json m_record, m_module, m_recordedGraph;
    Pt2Json m_specs = Pt2Json::array();
    Pt2Json m_inputs = Pt2Json::array();
};

} // namespace

Result<Pt2Json> pt2Document(const Graph& graph, const Pt2WeightRecords& weights,
                            const std::vector<StateUpdate>& updates, const JobContext& job)
{
    return makeFreedLater<DocumentWriter>(graph, weights, updates, job)->write();
}

} // namespace qs
