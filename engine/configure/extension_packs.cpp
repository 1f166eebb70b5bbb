// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/extension_packs.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/graph/operators/class_parts.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace qs {

namespace {

// Process-wide, like LibTorch's registry of operators.
struct Registry
{
    std::shared_mutex mutex;
    std::vector<ExtensionPackPtr> packs;
};

Registry& registry()
{
    static Registry registry;
    return registry;
}

} // namespace

std::string qualifiedName(std::string target)
{
    if (const auto dot = target.find('.');
        dot != std::string::npos && target.find("::") == std::string::npos)
        target.replace(dot, 1, "::");
    return target;
}

std::vector<ExtensionPackPtr> loadedPacks()
{
    Registry& known = registry();
    const std::shared_lock lock(known.mutex);
    return known.packs;
}

void addLoadedPack(ExtensionPackPtr pack)
{
    addOperators(pack->operators);
    Registry& known = registry();
    const std::unique_lock lock(known.mutex);
    known.packs.push_back(std::move(pack));
}

std::optional<PackClassSpec> adaptedClass(std::string_view className)
{
    const std::string name = plainClassName(className);
    for (const ExtensionPackPtr& pack : loadedPacks())
        for (const PackClassSpec& spec : pack->classes)
            if (spec.name == name)
                return spec;
    return std::nullopt;
}

Backend withPackPatterns(Backend backend)
{
    const auto has = [&backend](const BackendPattern& wanted) {
        return std::any_of(
            backend.patterns.begin(), backend.patterns.end(), [&](const BackendPattern& own) {
                return own.pattern == wanted.pattern && own.complexFormat == wanted.complexFormat
                    && own.dtypeConfigs.empty() == wanted.dtypeConfigs.empty();
            });
    };
    for (const ExtensionPackPtr& pack : loadedPacks())
        for (const BackendPattern& pattern : pack->patterns)
            if (!has(pattern))
                backend.patterns.push_back(pattern);
    return backend;
}

Result<void> checkPacksLoaded(const std::vector<std::string>& names)
{
    std::vector<std::string> loaded;
    for (const ExtensionPackPtr& pack : loadedPacks())
        loaded.push_back(pack->name);
    for (const std::string& name : names) {
        if (std::find(loaded.begin(), loaded.end(), name) != loaded.end())
            continue;
        const std::string near = nearestName(name, loaded);
        return fail(makeError(ErrorCode::BadInput,
                              "extensions: the pack " + inQuotes(name) + " is not loaded")
                        .withHint(near.empty() ? "give its folder: --extension DIR"
                                               : "did you mean " + inQuotes(near) + "?"));
    }
    return {};
}

std::string loadedPacksKey()
{
    std::string key;
    for (const ExtensionPackPtr& pack : loadedPacks())
        key += (key.empty() ? "" : ",") + pack->sha256;
    return key;
}

} // namespace qs
