// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"
#include "engine/import/archive/pt2_archive.h"

#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace qs {

/// The user's name of a function of torch.nn.functional: max_pool2d calls `_max_pool2d`.
inline std::string functionalWord(const std::string& name)
{
    return name.starts_with('_') ? name.substr(1) : name;
}

/// Source locations of a TorchScript program in its Python code, as recorded in the file.
class ScriptDebug
{
public:
    explicit ScriptDebug(std::shared_ptr<const Pt2Archive> archive);

    /// Returns the innermost frame outside PyTorch of the node. A traced model's file has the whole
    /// stack; a scripted model's has a single frame, to which `callers`
    /// (`SourceLocation::function`) is appended. Empty if the file has none.
    SourceLocation find(const torch::jit::SourceRange& range,
                        const std::string& callers = {}) const;
    /// How the code called the operator `word` ("permute", "add_"), as a .pt2 records it in
    /// `torch_fn`: "function.relu" of torch.nn.functional, "builtin_function_or_method.permute" of
    /// torch, "method_descriptor.permute" of a tensor, including Python's operators; "" if not
    /// recorded. A trace records only torch.nn.functional; a scripted model's text shows all.
    std::string calledAs(const torch::jit::SourceRange& range, const std::string& word) const;

private:
    /// Source ranges (an expression, or a stack with one frame per line) by the record offset from
    /// which on they are the origin.
    using Table = std::map<std::size_t, torch::jit::SourceRange>;
    const torch::jit::SourceRange* origin(const torch::jit::SourceRange& range) const;
    Table read(const std::string& record) const;
    using SourcePtr = std::shared_ptr<torch::jit::Source>;
    /// A text with its file and first line; equal ones are one object.
    SourcePtr sourceOf(const std::string& text, const std::string& file, std::size_t line) const;
    /// The frames of a stack's text; equal calls of a traced model have equal texts.
    const std::vector<SourceLocation>& framesIn(const std::string& text) const;

    std::shared_ptr<const Pt2Archive> m_archive;
    mutable std::map<std::string, Table> m_tables;
    mutable std::map<std::tuple<std::string, std::string, std::size_t>, SourcePtr> m_sources;
    mutable std::unordered_map<std::string, std::vector<SourceLocation>> m_frames; ///< by text
};

} // namespace qs
