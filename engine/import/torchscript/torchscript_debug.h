// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memory/free_later.h"
#include "engine/graph/node.h"
#include "engine/import/torchscript/torchscript_file.h"

#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <memory>
#include <optional>
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
    /// (`SourceLocation::function`) is appended. `code`: of the module that the node is in; null
    /// for its own. Empty if the file has none.
    SourceLocation find(const torch::jit::SourceRange& range, const SharedCode* code,
                        const std::string& callers = {}) const;
    /// How the code called the operator `word` ("permute", "add_"), as a .pt2 records it in
    /// `torch_fn`: "function.relu" of torch.nn.functional, "builtin_function_or_method.permute" of
    /// torch, "method_descriptor.permute" of a tensor, including Python's operators; "" if not
    /// recorded. A trace records only torch.nn.functional; a scripted model's text shows all.
    std::string calledAs(const torch::jit::SourceRange& range, const SharedCode* code,
                         const std::string& word) const;

private:
    /// A record, unpickled. Few of its entries are asked for, so each is read on first use.
    struct Table
    {
        struct Entry
        {
            std::size_t offset = 0; ///< in the code from which on this is the origin
            std::size_t index = 0; ///< among the record's entries
            /// An expression, or a stack with one frame per line; empty until read.
            std::optional<torch::jit::SourceRange> range = {};
        };
        at::IValue record;
        std::vector<Entry> entries; ///< by offset
    };
    const torch::jit::SourceRange* origin(const torch::jit::SourceRange& range,
                                          const SharedCode* code) const;
    Table read(const std::string& record) const;
    /// Returns the last entry up to the offset; null without one, or if the record is damaged.
    const torch::jit::SourceRange* rangeUpTo(Table& table, std::size_t offset, bool exactly) const;
    using SourcePtr = std::shared_ptr<torch::jit::Source>;
    /// A text with its file and first line; equal ones are one object.
    SourcePtr sourceOf(const std::string& text, const std::string& file, std::size_t line) const;
    /// The frames of a stack's text; equal calls of a traced model have equal texts.
    const std::vector<SourceLocation>& framesIn(const std::string& text) const;

    std::shared_ptr<const Pt2Archive> m_archive;
    using Tables = std::map<std::string, Table>;
    FreedLater<Tables> m_tables = makeFreedLater<Tables>(); ///< by record
    mutable std::map<std::tuple<std::string, std::string, std::size_t>, SourcePtr> m_sources;
    mutable std::unordered_map<std::string, std::vector<SourceLocation>> m_frames; ///< by text
};

} // namespace qs
