// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"
#include "engine/import/archive/pt2_archive.h"

#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <memory>
#include <string>

namespace qs {

/// The user's name of a function of torch.nn.functional: max_pool2d calls `_max_pool2d`.
inline std::string functionalWord(const std::string& name)
{
    return name.starts_with('_') ? name.substr(1) : name;
}

/// The places of the Python code that a TorchScript program was made from, as recorded in the file.
class ScriptDebug
{
public:
    explicit ScriptDebug(std::shared_ptr<const Pt2Archive> archive);

    /// The innermost frame outside PyTorch that made the node; of a traced model the file holds the
    /// whole stack, of a scripted one a single frame, which `callers` (`SourceLocation::function`)
    /// joins. Empty when the file has none.
    SourceLocation find(const torch::jit::SourceRange& range,
                        const std::string& callers = {}) const;
    /// How the code called the operator `word` ("permute", "add_"), as a .pt2 records it in
    /// `torch_fn`: "function.relu" of torch.nn.functional, "builtin_function_or_method.permute" of
    /// torch, "method_descriptor.permute" of a tensor, Python's operators among them; "" where the
    /// file has none. A trace names torch.nn.functional alone, a scripted model's text all.
    std::string calledAs(const torch::jit::SourceRange& range, const std::string& word) const;

private:
    /// An expression in source code, or in one stack frame a line, by the offset in the record from
    /// which on it is the origin.
    using Table = std::map<std::size_t, torch::jit::SourceRange>;
    const torch::jit::SourceRange* origin(const torch::jit::SourceRange& range) const;
    Table read(const std::string& record) const;

    std::shared_ptr<const Pt2Archive> m_archive;
    mutable std::map<std::string, Table> m_tables;
};

} // namespace qs
