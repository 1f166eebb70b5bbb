// SPDX-License-Identifier: Apache-2.0
// Pytree texts as torch.export writes them. Apart from the test: moc loses its way in raw strings
// full of brackets.
#pragma once

#include <string>
#include <vector>

namespace qs::test {

inline std::string leafSpec()
{
    return R"({"type": null, "context": null, "children_spec": []})";
}

/// The JSON text of a dict's context: its keys as a list inside a string.
inline std::string keyContext(const std::vector<std::string>& keys)
{
    std::string text = "[";
    for (const std::string& key : keys)
        text += (text.size() > 1 ? ", " : "") + (R"(\")" + key + R"(\")");
    return text + "]";
}

inline std::string container(const std::string& type, const std::string& context,
                             const std::string& children)
{
    return R"({"type": ")" + type + R"(", "context": ")" + context + R"(", "children_spec": [)"
        + children + "]}";
}

inline std::string specOf(const std::string& type, const std::string& context,
                          const std::string& children)
{
    return "[1, " + container(type, context, children) + "]";
}

/// {"a": leaf, "t": (leaf, [leaf])}
inline std::string nestedSpec()
{
    const std::string list = container("builtins.list", "null", leafSpec());
    const std::string tuple = container("builtins.tuple", "null", leafSpec() + ", " + list);
    return specOf("builtins.dict", keyContext({"a", "t"}), leafSpec() + ", " + tuple);
}

} // namespace qs::test
