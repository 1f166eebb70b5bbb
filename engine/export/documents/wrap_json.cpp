// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_json.h"

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

WrapKeys wrapKeys(const Graph& model, const std::vector<WrappedScope>& wraps)
{
    WrapKeys keys;
    for (const WrappedScope& wrap : wraps)
        for (const NodeId node : wrap.glue)
            keys[model.get(node).name] = &wrap.key;
    return keys;
}

void markWrapped(Json& node, const WrapKeys& keys)
{
    if (const auto found = keys.find(node["name"].get_ref<const std::string&>());
        found != keys.end())
        node["wrap"] = *found->second;
}

} // namespace qs
