// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_data_reader.h"

#include "engine/base/json/json_reader.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace qs {

namespace {

/// Finds nodes by their names or by the names of their values. Borrows the model.
class NodeNames
{
public:
    explicit NodeNames(const Graph& model)
        : m_model(model)
    {
        for (const NodePtr& node : model.nodes())
            for (const Value& value : node->outputs)
                m_byValue.emplace(value.name, node->id);
    }

    NodeId find(const std::string& name) const
    {
        if (const Node* node = m_model.tryFind(name))
            return node->id;
        const auto it = m_byValue.find(name);
        return it == m_byValue.end() ? NodeId() : it->second;
    }

private:
    const Graph& m_model;
    std::unordered_map<std::string, NodeId> m_byValue;
};

Result<std::string> optionalText(const JsonPlace& place, const char* key)
{
    if (!place.has(key) || place.value()[key].is_null())
        return std::string();
    return place.key(key).string();
}

Result<void> wantObject(const JsonPlace& place)
{
    if (!place.value().is_object())
        return place.error("expected an object");
    return {};
}

Result<std::vector<ColourStop>> readStops(const JsonPlace& graph, const char* key, const char* at)
{
    std::vector<ColourStop> out;
    if (!graph.has(key) || graph.value()[key].is_null())
        return out;
    const JsonPlace list = graph.key(key);
    QS_CHECK(list.array());
    for (std::size_t i = 0; i < list.value().size(); ++i) {
        const JsonPlace item = list.item(i);
        QS_CHECK(wantObject(item));
        if (!item.has(at))
            return item.error(std::string("the key '") + at + "' is missing");
        ColourStop stop;
        QS_TRY(stop.at, item.key(at).number());
        QS_TRY(stop.colour, optionalText(item, "bgColor"));
        QS_TRY(stop.label, optionalText(item, "label"));
        // Skips stops that set only the text colour: here it follows from the background.
        if (!stop.colour.empty())
            out.push_back(std::move(stop));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const ColourStop& a, const ColourStop& b) { return a.at < b.at; });
    return out;
}

Result<ImportedValue> readValue(const JsonPlace& place)
{
    QS_CHECK(wantObject(place));
    ImportedValue out;
    QS_TRY(out.colour, optionalText(place, "bgColor"));
    if (!place.has("value"))
        return out;
    const JsonPlace value = place.key("value");
    if (value.value().is_number())
        out.value = value.value().get<double>();
    else if (value.value().is_string())
        out.text = value.value().get<std::string>();
    else
        return value.error("expected a number or text");
    return out;
}

/// The data of one graph; values sorted by node id.
Result<NodeData> readGraph(const JsonPlace& graph, const NodeNames& names)
{
    QS_CHECK(wantObject(graph));
    NodeData out;
    QS_TRY(out.name, optionalText(graph, "name"));
    QS_TRY(out.thresholds, readStops(graph, "thresholds", "value"));
    QS_TRY(out.gradient, readStops(graph, "gradient", "stop"));
    const JsonPlace results = graph.key("results");
    QS_CHECK(wantObject(results));
    bool any = false;
    for (const auto& [key, unused] : results.value().items()) {
        QS_TRY(ImportedValue value, readValue(results.key(key)));
        if (value.value) {
            out.min = any ? std::min(out.min, *value.value) : *value.value;
            out.max = any ? std::max(out.max, *value.value) : *value.value;
            any = true;
        }
        value.node = names.find(key);
        if (value.node)
            out.values.push_back(std::move(value));
        else if (out.unmatched++ == 0)
            out.firstUnmatched = key;
    }
    std::stable_sort(
        out.values.begin(), out.values.end(),
        [](const ImportedValue& a, const ImportedValue& b) { return a.node < b.node; });
    return out;
}

/// The root itself if it is the data of one graph, else each member that is a graph's data.
Result<std::vector<JsonPlace>> graphsOf(const JsonPlace& root)
{
    if (root.has("results"))
        return std::vector {root};
    std::vector<JsonPlace> out;
    if (root.value().is_object())
        for (const auto& [id, graph] : root.value().items())
            if (graph.is_object() && graph.contains("results"))
                out.push_back(root.key(id));
    if (out.empty())
        return root.error("this is not node data", "expected an object with 'results'");
    return out;
}

} // namespace

const ImportedValue* NodeData::tryGet(NodeId node) const
{
    const auto it = std::lower_bound(
        values.begin(), values.end(), node,
        [](const ImportedValue& value, NodeId wanted) { return value.node < wanted; });
    return it != values.end() && it->node == node ? &*it : nullptr;
}

Result<NodeDataPtr> readNodeData(const std::string& path, const Graph& model)
{
    QS_TRY(const std::string text, readTextFile(path));
    QS_TRY(const Json json, parseJson(text, path));
    QS_TRY(const std::vector<JsonPlace> graphs, graphsOf(JsonPlace(json, path, {})));
    const NodeNames names(model);
    NodeData best;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        QS_TRY(NodeData data, readGraph(graphs[i], names));
        if (i == 0 || data.values.size() > best.values.size())
            best = std::move(data);
    }
    if (best.values.empty())
        return fail(makeError(ErrorCode::BadInput,
                              best.unmatched == 0 ? std::string("'results' is empty")
                                                  : "no key of 'results' is a node of this model, "
                                                    "for example '"
                                      + best.firstUnmatched + "'")
                        .inFile(path)
                        .withHint("use node names as the keys of 'results'"));
    if (best.name.empty())
        best.name = std::filesystem::path(path).stem().string();
    return std::make_shared<const NodeData>(std::move(best));
}

} // namespace qs
