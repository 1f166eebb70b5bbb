// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_json.h"
#include "engine/export/file_origin.h"
#include "engine/graph/bodies.h"
#include "engine/graph/source_frames.h"
#include "engine/import/trace_report.h"

#include <unordered_map>

namespace qs {

namespace {

Json namedType(const std::string& name, const ValueType& type)
{
    Json json = typeJson(type), named;
    named["name"] = name;
    named["dtype"] = std::move(json["dtype"]);
    named["shape"] = std::move(json["shape"]);
    return named;
}

Json bodyJson(const Node& owner, std::size_t index);

Json nodeJson(const Graph& model, const Node& node)
{
    Json inputs = Json::array();
    for (const InputRef& ref : inputRefs(node))
        inputs.push_back(model.value(ref.value).name);
    Json outputs = Json::array();
    for (const Value& value : node.outputs)
        outputs.push_back(namedType(value.name, value.type));
    Json json; // set member by member: an initializer list first builds each pair as a list
    json["name"] = node.name;
    json["op"] = opName(node);
    json["module"] = node.scope.path;
    json["module_class"] = node.scope.moduleClass;
    json["call_index"] = node.scope.callIndex;
    json["inputs"] = std::move(inputs);
    json["outputs"] = std::move(outputs);
    if (node.isStored())
        json["path"] = node.target;
    if (!node.originalTarget.empty())
        json["original_op"] = node.originalTarget;
    if (!node.opaqueReason.empty())
        json["opaque"] = node.opaqueReason;
    if (!node.source.file.empty()) {
        Json& source = json["source"];
        source["file"] = node.source.file;
        source["line"] = node.source.line;
        source["function"] = innermostFunction(node.source);
        if (const auto callers = callingFunctions(node.source); !callers.empty())
            source["callers"] = callers;
        source["code"] = node.source.code;
    }
    for (std::size_t i = 0; i < node.subgraphs.size(); ++i)
        json["bodies"].push_back(bodyJson(node, i));
    return json;
}

/// A body of a node (`owner.subgraphs[index]`), in the layout of a graph; includes nested bodies.
Json bodyJson(const Node& owner, std::size_t index)
{
    const Graph& body = *owner.subgraphs[index];
    Json inputs = Json::array(), outputs = Json::array(), nodes = Json::array();
    for (const Node* node : body.inputs())
        for (const Value& value : node->outputs)
            inputs.push_back(namedType(value.name, value.type));
    for (const InputRef& ref : inputRefs(body.output()))
        outputs.push_back(namedType(body.value(ref.value).name, body.value(ref.value).type));
    for (const NodePtr& node : body.nodes())
        if (node->kind != NodeKind::Output)
            nodes.push_back(nodeJson(body, *node));
    return {{"title", bodyTitle(owner, index)},
            {"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)},
            {"nodes", std::move(nodes)}};
}

std::string textOf(const Json& json)
{
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// Text of a list that is a member of the document. Items are converted to text one by one, because
/// a JSON tree of tens of thousands of nodes is slow to build, walk and free.
class ListText
{
public:
    void add(const Json& item)
    {
        m_text += m_text.empty() ? "[\n    " : ",\n    ";
        for (const char c : textOf(item)) {
            m_text += c;
            if (c == '\n')
                m_text += "    ";
        }
    }
    /// Replaces the empty list `name` at the top level of `document`.
    void putInto(std::string& document, const std::string& name) const
    {
        if (m_text.empty())
            return;
        const std::string line = "\n  \"" + name + "\": "; // JSON strings have no raw line end
        document.replace(document.find(line + "[]") + line.size(), 2, m_text + "\n  ]");
    }

private:
    std::string m_text;
};

/// Stored quantization parameters with the keys of a result document; null without parameters.
Json storedJson(const std::optional<QParams>& qparams)
{
    if (!qparams)
        return nullptr;
    Json scales = Json::array();
    for (const float scale : qparams->scale)
        scales.push_back(numberJson(scale));
    Json json = {{"dtype", dtypeName(qparams->dtype)}, {"qscheme", qschemeName(qparams->qscheme)},
                 {"scale", std::move(scales)},         {"zero_point", qparams->zeroPoint},
                 {"quant_min", qparams->quantMin},     {"quant_max", qparams->quantMax}};
    if (isPerChannel(qparams->qscheme))
        json["axis"] = qparams->axis;
    return json;
}

Json traceJson(const TraceReport& trace)
{
    Json findings = Json::array();
    for (const TraceFinding& finding : trace.findings) {
        Json json = {{"kind", traceKindName(finding.kind)},
                     {"module", finding.module},
                     {"module_class", finding.moduleClass},
                     {"file", finding.file},
                     {"line", finding.line},
                     {"code", finding.code},
                     {"what", finding.what},
                     {"hint", finding.hint}};
        if (finding.kind == TraceFinding::Kind::Failure)
            json["attempts"] = finding.attempts;
        if (finding.kind == TraceFinding::Kind::Untaken) {
            json["modules"] = finding.modules;
            json["taken_elsewhere"] = finding.takenElsewhere;
        }
        findings.push_back(std::move(json));
    }
    return {{"path", trace.path},
            {"producer", trace.producer},
            {"mode", trace.mode.empty() ? Json() : Json(trace.mode)},
            {"findings", std::move(findings)}};
}

} // namespace

std::string inspectJson(const Graph& model, const TraceReport* trace, const Recipe* recipe,
                        const std::vector<StoredQParams>* stored,
                        const std::optional<ExportRecord>& record)
{
    Json inputs = Json::array();
    for (const Node* node : model.inputs())
        for (const Value& value : node->outputs)
            inputs.push_back(namedType(value.name, value.type));
    Json outputs = Json::array();
    for (const InputRef& ref : inputRefs(model.output()))
        outputs.push_back(namedType(model.value(ref.value).name, model.value(ref.value).type));
    Json modules = Json::array();
    for (const ModuleEntry* entry : model.modules().inOrder())
        modules.push_back({{"path", entry->path},
                           {"class", entry->moduleClass},
                           {"children", entry->children},
                           {"parameters", entry->parameters}});
    ListText nodes;
    std::unordered_map<NodeId, const StoredQParams*> storedOf;
    const std::vector<StoredQParams> none;
    for (const StoredQParams& entry : stored ? *stored : none)
        storedOf[entry.node] = &entry;
    const auto wraps = recipe ? wrapsOf(model, *recipe) : std::vector<WrappedScope>();
    const WrapKeys keys = wrapKeys(model, wraps);
    for (const NodePtr& node : model.nodes()) {
        if (node->kind == NodeKind::Output)
            continue;
        Json json = nodeJson(model, *node);
        if (const auto it = storedOf.find(node->id); it != storedOf.end())
            json["quantization"] = {{"output", storedJson(it->second->output)},
                                    {"weight", storedJson(it->second->weight)}};
        markWrapped(json, keys);
        nodes.add(json);
    }
    const ModelInfo& info = model.info();
    Json json = {{"format", "quantscope.inspect"},
                 {"version", 1},
                 {"model",
                  {{"path", info.path},
                   {"sha256", info.sha256},
                   {"format", info.format},
                   {"name", info.name},
                   {"producer", info.producer},
                   {"converted", info.converted}}},
                 {"inputs", std::move(inputs)},
                 {"outputs", std::move(outputs)},
                 {"modules", std::move(modules)},
                 {"nodes", Json::array()},
                 {"trace", trace ? traceJson(*trace) : Json()}};
    if (record) {
        json["origin"] = {{"quantscope", record->program},
                          {"torch", record->torch},
                          {"engine", record->engine},
                          {"recipe_sha256", record->recipeSha256},
                          {"model_sha256", record->modelSha256}};
        json["findings"] = originFindings(record);
    }
    if (!wraps.empty())
        json["wraps"] = wrapsJson(model, wraps);
    std::string text = textOf(json);
    nodes.putInto(text, "nodes");
    return text + "\n";
}

} // namespace qs
