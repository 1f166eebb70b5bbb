// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/classes/class_json.h"

#include "engine/extensions/argument_json.h"
#include "engine/graph/operators/class_parts.h"

#include <algorithm>

namespace qs {

namespace {

/// Reads the name of a method or an operator; returns the operator.
Result<std::string> readOne(const JsonPlace& place, const std::string& className)
{
    QS_TRY(const std::string name, place.string());
    if (name.find("::") == std::string::npos)
        return methodOperator(className, name);
    QS_CHECK(readPackTarget(place, name));
    return name;
}

/// Reads one name or a list of names.
Result<std::vector<std::string>> readAccess(const JsonPlace& place, const std::string& className)
{
    std::vector<std::string> all;
    const bool isList = place.value().is_array();
    const std::size_t count = isList ? place.value().size() : 1;
    for (std::size_t i = 0; i < count; ++i) {
        QS_TRY(std::string one, readOne(isList ? place.item(i) : place, className));
        all.push_back(std::move(one));
    }
    if (all.empty())
        return place.error("the list is empty");
    return all;
}

Result<PackClassSpec> readClass(const JsonPlace& place)
{
    QS_CHECK(place.object({"class", "field", "get", "replace"}));
    for (const char* key : {"class", "field", "replace"})
        if (!place.has(key))
            return place.error("the key '" + std::string(key) + "' is missing");
    PackClassSpec spec;
    QS_TRY(spec.name, place.key("class").string());
    if (spec.name.find("::") == std::string::npos || !isForeignClass(torchClassName(spec.name)))
        return place.key("class").error("'" + spec.name + "' is not a class of the pack's own",
                                        "write it as TORCH_LIBRARY and class_ do, "
                                        "\"mypack::SparseTensor\"; named tuples need no entry");
    QS_TRY(spec.field, place.key("field").string());
    QS_TRY(spec.get, readAccess(place.key(place.has("get") ? "get" : "field"), spec.name));
    QS_TRY(spec.replace, readAccess(place.key("replace"), spec.name));
    return spec;
}

} // namespace

Result<std::vector<PackClassSpec>> readClasses(const JsonPlace& place)
{
    QS_CHECK(place.array());
    std::vector<PackClassSpec> classes;
    for (std::size_t i = 0; i < place.value().size(); ++i) {
        QS_TRY(PackClassSpec spec, readClass(place.item(i)));
        if (std::any_of(classes.begin(), classes.end(),
                        [&](const PackClassSpec& other) { return other.name == spec.name; }))
            return place.item(i).error("the class '" + spec.name + "' is there twice");
        classes.push_back(std::move(spec));
    }
    return classes;
}

} // namespace qs
