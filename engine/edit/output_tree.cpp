// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/output_tree.h"

#include "engine/graph/text/tree_spec.h"
#include "engine/graph/text/tree_spec_json.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

/// Parses the text "[1, {...}]".
Json parsed(const std::string& tree, std::size_t outputs)
{
    return Json::parse(tree.empty() ? flatOutputSpec(outputs) : tree, nullptr, false);
}

bool isLeaf(const Json& node)
{
    return node.is_object() && node.value("type", Json()).is_null();
}

bool isTuple(const Json& node)
{
    return node.is_object() && node.value("type", Json()) == "builtins.tuple";
}

/// Removes leaf number `leaf` below `node`; decrements `leaf` for each leaf passed. Returns true
/// when done.
Result<bool> dropLeaf(Json& node, std::size_t& leaf)
{
    Json& children = node["children_spec"];
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (!isLeaf(children[i])) {
            QS_TRY(const bool done, dropLeaf(children[i], leaf));
            if (done)
                return true;
            continue;
        }
        if (leaf-- > 0)
            continue;
        const std::string type = node.value("type", std::string());
        if (type != "builtins.tuple" && type != "builtins.list")
            return fail(makeError(ErrorCode::Unsupported,
                                  "the output is in a " + type + ", whose class would change")
                            .withHint("only outputs in tuples and lists can be dropped"));
        children.erase(i);
        return true;
    }
    return false;
}

} // namespace

std::string withLeaf(const std::string& tree, std::size_t outputs)
{
    Json spec = parsed(tree, outputs);
    if (!spec.is_array() || spec.size() != 2)
        return flatOutputSpec(outputs + 1);
    Json& root = spec[1];
    if (isTuple(root))
        root["children_spec"].push_back(specLeaf<Json>());
    else
        root = specContainer<Json>("builtins.tuple", "null", Json::array({root, specLeaf<Json>()}));
    return spec.dump();
}

Result<std::string> withoutLeaf(const std::string& tree, std::size_t outputs, std::size_t leaf)
{
    Json spec = parsed(tree, outputs);
    if (!spec.is_array() || spec.size() != 2 || isLeaf(spec[1]))
        return flatOutputSpec(outputs - 1);
    QS_TRY(const bool done, dropLeaf(spec[1], leaf));
    return done ? spec.dump() : flatOutputSpec(outputs - 1);
}

} // namespace qs
