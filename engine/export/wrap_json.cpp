// SPDX-License-Identifier: Apache-2.0
#include "engine/export/node_json.h"

namespace qs {

Json wrapsJson(const Graph& model, const std::vector<WrappedScope>& wraps)
{
    Json json = Json::array();
    for (const WrappedScope& wrap : wraps) {
        Json nodes = Json::array();
        for (const NodeId node : wrap.glue)
            nodes.push_back(model.get(node).name);
        json.push_back({{"name", wrap.key},
                        {"module", wrap.path},
                        {"function", wrap.function.empty() ? Json() : Json(wrap.function)},
                        {"nodes", std::move(nodes)},
                        {"modules", wrap.modules}});
    }
    return json;
}

void markWrapped(Json& nodes, const Graph& model, const std::vector<WrappedScope>& wraps)
{
    std::unordered_map<std::string, const std::string*> keys;
    for (const WrappedScope& wrap : wraps)
        for (const NodeId node : wrap.glue)
            keys[model.get(node).name] = &wrap.key;
    for (Json& node : nodes)
        if (const auto found = keys.find(node["name"].get<std::string>()); found != keys.end())
            node["wrap"] = *found->second;
}

} // namespace qs
