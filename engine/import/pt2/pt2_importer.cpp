// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_importer.h"

#include "engine/base/log.h"
#include "engine/base/memory/free_later.h"
#include "engine/base/torch_guard.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/operators/state.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/pt2/pt2_graph_reader.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/pt2/pt2_schema.h"
#include "engine/import/pt2/pt2_weights.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace qs {

namespace {

/// Reads one file.
class Pt2Reading
{
public:
    explicit Pt2Reading(std::shared_ptr<Pt2Archive> archive)
        : m_archive(std::move(archive))
        , m_store(std::make_shared<WithGivenObservations<TensorStore>>())
    {
        m_edit.setTensors(m_store);
    }

    Result<Graph> read(const JobContext& job)
    {
        const std::string record = pt2ModelRecord(*m_archive);
        QS_TRY(std::string text, m_archive->read(record));
        QS_CHECK(job.check());
        QS_TRY(JsonDocument made,
               JsonDocument::parse(std::move(text), "the record '" + record + "'"));
        const auto parsed = makeFreedLater<JsonDocument>(std::move(made));
        QS_CHECK(job.check());
        const JsonView document = parsed->root();
        QS_CHECK(checkVersion(document));
        QS_TRY(m_weights, Pt2Weights::open(m_archive, m_store));
        const JsonView module = document.at("graph_module");
        const auto tables = makeFreedLater<Pt2FileGraph>(module.at("graph"));
        const Pt2FileGraph& graph = *tables;
        QS_CHECK(job.check());
        QS_CHECK(readInputs(module, graph));
        QS_CHECK(job.check());
        Pt2GraphReader reader(m_edit, job);
        QS_CHECK(reader.readNodes(graph, m_names));
        QS_CHECK(readOutputs(module));
        QS_CHECK(job.check());
        for (const NodeId id : recompose(m_edit, reader.functionCalls())) {
            Node& weight = m_edit.change(id);
            QS_TRY(weight.tensor, m_weights.findUntrained(weight.target));
        }
        QS_CHECK(job.check());
        eraseUnread(m_edit);
        QS_CHECK(job.check());
        fillInfo(document, graph);
        QS_CHECK(job.check());
        return m_edit.build();
    }

private:
    Error bad(const std::string& what) const
    {
        return makeError(ErrorCode::BadInput, what).inFile(m_archive->path());
    }

    Result<void> checkVersion(JsonView document) const
    {
        const JsonView version = document.at("schema_version");
        const int major = version.at("major").smallInteger();
        const int minor = version.at("minor").smallInteger();
        const std::string text = std::to_string(major) + "." + std::to_string(minor);
        if (major > kSchemaMajor)
            return fail(bad("was written with schema " + text + ", newer than "
                            + std::to_string(kSchemaMajor) + ".x which this program reads")
                            .withHint("export it with torch " QUANTSCOPE_TORCH_VERSION));
        if (major < kSchemaMajor)
            return fail(bad("was written with the old schema " + text)
                            .withHint("export it again with torch " QUANTSCOPE_TORCH_VERSION));
        if (minor > kSchemaMinor)
            note(m_archive->path() + ": written with schema " + text + ", newer than "
                 + std::to_string(kSchemaMajor) + "." + std::to_string(kSchemaMinor)
                 + "; what is unknown is left out");
        return {};
    }

    /// Reads user inputs first, then weights, independent of their order in the file.
    Result<void> readInputs(JsonView module, const Pt2FileGraph& graph)
    {
        const JsonItems specs = module.at("signature").at("input_specs").items();
        for (const JsonView spec : specs)
            if (const auto [tag, held] = unionOf(spec); tag == "user_input")
                for (const auto& declared : schemaOutputs(held.at("arg")))
                    if (!declared.name.empty())
                        addNode(graph, NodeKind::Input, declared, std::string(declared.name));
        for (const JsonView spec : specs)
            QS_CHECK(readWeight(graph, spec));
        return {};
    }

    Node& addNode(const Pt2FileGraph& graph, NodeKind kind, const DeclaredValue& declared,
                  const std::string& target)
    {
        Node node;
        node.kind = kind;
        node.name = declared.name;
        node.target = target;
        node.outputs.push_back({node.name, graph.typeOf(declared.name, declared.kind)});
        node.outputs[0].type.className = declared.className;
        const NodeId id = m_edit.insert(std::move(node));
        m_names[declared.name] = ValueRef {id, 0};
        return m_edit.change(id);
    }

    Result<void> readWeight(const Pt2FileGraph& graph, JsonView spec)
    {
        static constexpr struct
        {
            std::string_view tag;
            const char* nameField;
            NodeKind kind;
        } kKinds[] = {{"parameter", "parameter_name", NodeKind::Parameter},
                      {"buffer", "buffer_name", NodeKind::Parameter},
                      {"tensor_constant", "tensor_constant_name", NodeKind::Constant},
                      {"custom_obj", "custom_obj_name", NodeKind::Constant}};
        const auto [tag, held] = unionOf(spec);
        for (const auto& row : kKinds) {
            if (row.tag != tag)
                continue;
            const std::string path(held.at(row.nameField).text());
            const JsonView arg = held.at("arg");
            DeclaredValue declared {arg.at("name").text(), ValueKind::Tensor, {}};
            if (tag == "custom_obj")
                declared = {declared.name, ValueKind::Custom, arg.text("class_fqn", "")};
            Node& node = addNode(graph, row.kind, declared, path);
            QS_TRY(node.tensor, m_weights.find(path));
            node.isBuffer = tag == "buffer";
            node.persistentBuffer = node.isBuffer && held.boolean("persistent", true);
            node.scope.path = ModuleTree::parentPath(path);
            if (row.kind == NodeKind::Parameter)
                m_edit.modules().addParameter(path);
        }
        return {};
    }

    Result<void> readOutputs(JsonView module)
    {
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        for (const JsonView spec : module.at("signature").at("output_specs").items()) {
            const auto [tag, held] = unionOf(spec);
            if (tag.ends_with("_mutation"))
                QS_CHECK(readMutation(tag, held));
            if (tag != "user_output" && tag != "loss_output")
                continue;
            const JsonView arg = held.at("arg");
            QS_TRY(Argument value,
                   tag == "loss_output" ? Pt2GraphReader::valueOf(arg.at("name").text(), m_names)
                                        : Pt2GraphReader::argument(arg, m_names));
            out.args.push_back({"", std::move(value)});
        }
        m_edit.insert(std::move(out));
        return {};
    }

    /// Reads a mutated buffer or user input, which has a new value after the call.
    Result<void> readMutation(std::string_view tag, JsonView held)
    {
        const auto made = m_names.find(held.at("arg").at("name").text());
        const ValueRef* value = made == m_names.end() ? nullptr : made->second.asRef();
        const bool isInput = tag == "user_input_mutation";
        const std::string target(isInput
                                     ? held.at("user_input_name").text()
                                     : held.text("buffer_name", held.text("parameter_name", "")));
        for (const NodeId id : m_edit.order()) {
            const Node& node = m_edit.get(id);
            const bool isHolder = node.kind == (isInput ? NodeKind::Input : NodeKind::Parameter);
            if (!value || !isHolder || node.target != target)
                continue;
            const ValueType type = m_edit.get(value->node).outputs.at(value->index).type;
            m_edit.insert(makeStateUpdate(Node(node), *value, type));
            return {};
        }
        return fail(bad("changes '" + target + "', which it does not hold"));
    }

    void fillInfo(JsonView document, const Pt2FileGraph& graph)
    {
        ModelInfo info;
        info.path = m_archive->path();
        info.format = "pt2";
        info.producer = "torch " + std::string(document.text("torch_version", "?"));
        info.name = m_edit.modules().root().moduleClass;
        if (info.name.empty())
            info.name = std::filesystem::path(info.path).stem().string();
        const JsonView calls = document.at("graph_module").at("module_call_graph");
        for (const JsonView entry : calls.items())
            if (const auto signature = entry.find("signature");
                signature && entry.text("fqn", "?").empty()) {
                info.inputTree = signature->text("in_spec", "");
                info.outputTree = signature->text("out_spec", "");
                break;
            }
        for (const NodeId id : m_edit.order())
            info.converted |= isQuantizedTarget(m_edit.get(id).target);
        info.exportRecord = withMembers(document, [&](std::string_view key, JsonView value) {
            return key == "graph_module" ? moduleRecord(value, graph) : value.dump();
        });
        m_edit.setInfo(std::move(info));
    }

    /// Returns an object as JSON text; `write` formats its members.
    template<class Write>
    static std::string withMembers(JsonView object, Write&& write)
    {
        std::string text;
        for (const auto& [key, value] : object.members())
            text += (text.empty() ? "{" : ",") + nlohmann::json(key).dump() + ":"
                + write(key, value);
        return text.empty() ? "{}" : text + "}";
    }

    /// Returns the program's JSON without its nodes and the types of their results.
    static std::string moduleRecord(JsonView module, const Pt2FileGraph& graph)
    {
        std::string kept;
        std::unordered_set<std::string_view> seen;
        for (const char* side : {"inputs", "outputs"})
            for (const JsonView value : graph.json().at(side).items())
                for (const auto& declared : schemaOutputs(value))
                    if (const auto meta = graph.tensorMeta(declared.name);
                        meta && seen.insert(declared.name).second)
                        kept += (kept.empty() ? "" : ",") + nlohmann::json(declared.name).dump()
                            + ":" + meta->dump();
        const auto writeGraph = [&](std::string_view key, JsonView value) -> std::string {
            return key == "nodes" ? "[]" : key == "tensor_values" ? "{" + kept + "}" : value.dump();
        };
        return withMembers(module, [&](std::string_view key, JsonView value) {
            return key == "graph" ? withMembers(value, writeGraph) : value.dump();
        });
    }

    std::shared_ptr<Pt2Archive> m_archive;
    std::shared_ptr<TensorStore> m_store;
    Pt2Weights m_weights;
    FreedLater<GraphEdit> m_draft = makeFreedLater<GraphEdit>();
    GraphEdit& m_edit = *m_draft;
    FreedLater<NameScope> m_ownNames = makeFreedLater<NameScope>();
    NameScope& m_names = *m_ownNames;
};

} // namespace

std::string pt2ModelRecord(const Pt2Archive& archive)
{
    std::string found;
    for (const auto& name : archive.names())
        if (name.starts_with("models/") && name.ends_with(".json")
            && (found.empty() || name == "models/model.json"))
            found = name;
    return found;
}

Result<Graph> readPt2(std::shared_ptr<Pt2Archive> archive, const JobContext& job)
{
    const std::string path = archive->path();
    auto graph = guardTorchValue<Graph>([&] { return Pt2Reading(std::move(archive)).read(job); });
    if (graph)
        return graph;
    Error error = std::move(graph).error();
    // An exception of the JSON reader: the fault is the file's, not internal.
    if (error.code == ErrorCode::Internal)
        error = makeError(ErrorCode::BadInput, schemaProblem(error.message));
    return fail(std::move(error).inFile(path));
}

} // namespace qs
