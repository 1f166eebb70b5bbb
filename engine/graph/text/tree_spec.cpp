// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/tree_spec.h"

#include "engine/base/files/read_file.h"
#include "engine/graph/text/tree_spec_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using PlainJson = nlohmann::json;

PlainJson parsed(const std::string& text)
{
    return isDeepJson(text) ? PlainJson(PlainJson::value_t::discarded)
                            : PlainJson::parse(text, nullptr, false);
}

/// Returns a container's context: usually JSON inside a JSON string.
PlainJson contextOf(const PlainJson& node)
{
    const auto it = node.find("context");
    if (it == node.end() || it->is_null())
        return {};
    if (!it->is_string())
        return *it;
    const PlainJson inner = parsed(it->get<std::string>());
    return inner.is_discarded() ? *it : inner;
}

std::string keyText(const PlainJson& key)
{
    return key.is_string() ? key.get<std::string>() : key.dump();
}

/// Returns the keys of a mapping with `count` children; empty if the context does not list them.
std::vector<std::string> childKeys(const PlainJson& given, std::size_t count)
{
    const bool isDefault = given.is_object() && given.contains("dict_context");
    const PlainJson& context = isDefault ? given["dict_context"] : given;
    std::vector<std::string> keys;
    if (context.is_array() && context.size() == count && count > 0)
        for (const PlainJson& key : context)
            keys.push_back(keyText(key));
    return keys;
}

void classify(TreeSpec& spec, const PlainJson& node, const NamedTupleFields& fields)
{
    const PlainJson context = contextOf(node);
    spec.kind = TreeSpec::Kind::Tuple;
    if (spec.typeName == "builtins.list" || spec.typeName == "collections.deque") {
        spec.kind = TreeSpec::Kind::List;
        return;
    }
    if (spec.typeName == "builtins.tuple")
        return;
    if (spec.typeName == "collections.namedtuple" && context.is_string())
        spec.typeName = context.get<std::string>();
    if (const auto named = fields.find(spec.typeName);
        named != fields.end() && named->second.size() == spec.children.size()) {
        spec.kind = TreeSpec::Kind::NamedTuple;
        spec.keys = named->second;
        return;
    }
    spec.keys = childKeys(context, spec.children.size());
    const bool mapping = spec.typeName == "builtins.dict"
        || spec.typeName == "collections.OrderedDict" || spec.typeName == "collections.defaultdict";
    if (mapping || !spec.keys.empty())
        spec.kind = TreeSpec::Kind::Dict;
}

Result<TreeSpec> parseNode(const PlainJson& node, const NamedTupleFields& fields)
{
    if (!node.is_object())
        return fail(ErrorCode::BadInput, "the model's input or output tree is not understood");
    TreeSpec spec;
    const auto type = node.find("type");
    if (type == node.end() || type->is_null())
        return spec;
    spec.typeName = type->is_string() ? type->get<std::string>() : type->dump();
    static const PlainJson kNone = PlainJson::array();
    const auto children = node.find("children_spec");
    for (const PlainJson& child : children == node.end() ? kNone : *children) {
        QS_TRY(TreeSpec part, parseNode(child, fields));
        spec.children.push_back(std::move(part));
    }
    classify(spec, node, fields);
    if (spec.kind == TreeSpec::Kind::Dict && spec.keys.size() != spec.children.size())
        return fail(ErrorCode::BadInput,
                    "the keys of a " + spec.typeName
                        + " among the model's inputs or outputs "
                          "are not understood");
    return spec;
}

/// Returns a tuple of `leaves` leaves.
PlainJson flatTuple(std::size_t leaves)
{
    return specContainer<PlainJson>("builtins.tuple", "null",
                                    std::vector<PlainJson>(leaves, specLeaf<PlainJson>()));
}

} // namespace

std::size_t TreeSpec::leafCount() const
{
    if (kind == Kind::Leaf)
        return 1;
    std::size_t count = 0;
    for (const TreeSpec& child : children)
        count += child.leafCount();
    return count;
}

Result<TreeSpec> parseTreeSpec(const std::string& text, const NamedTupleFields& fields)
{
    const PlainJson json = parsed(text);
    if (json.is_array() && json.size() == 2)
        return parseNode(json[1], fields);
    return parseNode(json, fields);
}

std::string flatInputSpec(std::size_t arguments)
{
    return inputSpecText(flatTuple(arguments));
}

std::string flatOutputSpec(std::size_t outputs)
{
    return specText(outputs == 1 ? specLeaf<PlainJson>() : flatTuple(outputs));
}

} // namespace qs
