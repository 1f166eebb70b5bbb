// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One module of the model's hierarchy.
struct ModuleEntry
{
    std::string path; ///< dotted; "" is the root
    std::string moduleClass; ///< "torch.nn.Conv2d", "torchvision.models.resnet.BasicBlock"
    std::vector<std::string> children; ///< full paths, in order of first use
    std::vector<std::string>
        parameters; ///< full paths of the parameters and buffers directly inside
};

/// The module hierarchy. A value; built at import, shared by every graph made from it.
class ModuleTree
{
public:
    /// Adds the module and missing ancestors; does not overwrite a known class.
    void add(const std::string& path, const std::string& moduleClass);
    void addParameter(const std::string& path);

    const ModuleEntry* tryGet(std::string_view path) const;
    const ModuleEntry& root() const;
    /// Every module, parents before children, in order of first use.
    std::vector<const ModuleEntry*> inOrder() const;
    std::size_t size() const { return m_modules.size(); }
    /// The path's parent: "a.b" for "a.b.c", "" for "a".
    static std::string parentPath(std::string_view path);
    /// True if `path` is `ancestor` or below it; every path is below "".
    static bool isWithin(std::string_view path, std::string_view ancestor);

private:
    std::map<std::string, ModuleEntry, std::less<>> m_modules;
};

} // namespace qs
