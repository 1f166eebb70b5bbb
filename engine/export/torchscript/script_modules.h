// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_calls.h"

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// The tree of modules of a TorchScript file under construction: the root, the modules that hold
/// the graph's tensors under their path ("layer1.0.weight"), and those that are called. Functions
/// may throw exceptions of LibTorch.
class ScriptModules
{
public:
    /// The place of an attribute: the module's path, "" the root, and its name there.
    struct Place
    {
        std::string path, name;
    };

    ScriptModules(const Graph& graph, const CodeCalls& names);

    bool has(const std::string& path) const { return m_modules.contains(path); }
    /// Of those there are.
    torch::jit::Module& at(const std::string& path) { return m_modules.at(path).module; }
    /// A place for an attribute of about that name in a module that there is.
    Place place(const std::string& path, const std::string& wanted);
    /// The place of a number under exactly that name, or near it where another number has it.
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

/// The text with everything but letters, digits and underscores replaced, never starting with a
/// digit.
std::string identifier(const std::string& text);

} // namespace qs
