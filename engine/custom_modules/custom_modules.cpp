// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/custom_modules/lstm/lstm_module.h"
#include "engine/custom_modules/pack/pack_module.h"

namespace qs {

namespace {

std::string_view plainClass(std::string_view name)
{
    constexpr std::string_view kMain = "__main__.";
    return name.starts_with(kMain) ? name.substr(kMain.size()) : name;
}

const CustomModulePtr& lstm()
{
    static const CustomModulePtr kLstm = makeLstmModule();
    return kLstm;
}

} // namespace

std::vector<CustomModulePtr> customModules()
{
    std::vector<CustomModulePtr> all {lstm()};
    for (const ExtensionPackPtr& pack : loadedPacks())
        for (const PackModuleSpec& spec : pack->modules)
            all.push_back(makePackModule(spec));
    return all;
}

CustomModulePtr customModuleOf(std::string_view moduleClass)
{
    if (moduleClass.empty())
        return nullptr;
    const std::string_view wanted = plainClass(moduleClass);
    if (plainClass(lstm()->floatClass()) == wanted)
        return lstm();
    for (const ExtensionPackPtr& pack : loadedPacks())
        for (const PackModuleSpec& spec : pack->modules)
            if (plainClass(spec.floatClass) == wanted)
                return makePackModule(spec);
    return nullptr;
}

CustomModulePtr customModuleOf(const Node& node)
{
    if (node.kind != NodeKind::Op)
        return nullptr;
    CustomModulePtr module = customModuleOf(node.scope.moduleClass);
    return module && module->isWhole(node) ? module : nullptr;
}

} // namespace qs
