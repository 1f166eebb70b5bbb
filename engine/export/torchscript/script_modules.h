// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_calls.h"

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// The module tree of a TorchScript file under construction: the root, the modules that hold the
/// graph's tensors under their path ("layer1.0.weight"), and the modules that are called. Functions
/// may throw LibTorch's exceptions.
class ScriptModules
{
public:
    /// The place of an attribute: the module's path ("" for the root) and the attribute's name.
    struct Place
    {
        std::string path, name;
    };

    ScriptModules(const Graph& graph, const CodeCalls& names);

    bool has(const std::string& path) const { return m_modules.contains(path); }
    /// The module at an existing path.
    torch::jit::Module& at(const std::string& path) { return m_modules.at(path).module; }
    /// Reserves a place for an attribute in an existing module; the name is `wanted`, made valid
    /// and unique.
    Place place(const std::string& path, const std::string& wanted);
    /// The place of a number under the given name. Reuses an attribute of that name and value; if
    /// the name has another value, adds an attribute with a similar name.
    Place keepNumber(const std::string& path, const std::string& name, const at::IValue& number);

private:
    struct Branch
    {
        torch::jit::Module module;
        std::unordered_set<std::string> names; ///< of its attributes and children
    };
    void add(const std::string& path);
    void keep(const std::string& path, torch::jit::Module module);

    std::unordered_map<std::string, std::string> m_classes; ///< by path
    std::unordered_map<std::string, Branch> m_modules; ///< by path
};

/// The text with all characters except letters, digits and underscores replaced. Never starts with
/// a digit.
std::string identifier(const std::string& text);

} // namespace qs
