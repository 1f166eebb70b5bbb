// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace qs {

// JSON of a `TreeSpec` as stored in a `.pt2` file. `Json` is one of nlohmann's classes.

template<class Json>
Json specLeaf()
{
    return {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}};
}

/// Returns a container of the Python class; `context` is JSON as text: the keys of a dict.
template<class Json>
Json specContainer(const char* type, const std::string& context, Json children)
{
    return {{"type", type}, {"context", context}, {"children_spec", std::move(children)}};
}

/// Returns the complete spec with its format version.
template<class Json>
std::string specText(Json root)
{
    return Json::array({1, std::move(root)}).dump();
}

/// Returns the spec of `(args, kwargs)` with `arguments` as args and no keyword arguments.
template<class Json>
std::string inputSpecText(Json arguments)
{
    const Json keywords = specContainer<Json>("builtins.dict", "[]", Json::array());
    return specText(specContainer<Json>("builtins.tuple", "null",
                                        Json::array({std::move(arguments), keywords})));
}

} // namespace qs
