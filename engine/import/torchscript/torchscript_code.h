// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/pt2_archive.h"
#include "engine/import/torchscript/torchscript_sharing.h"

#include <memory>
#include <optional>

namespace torch::jit {
struct Source;
}

namespace qs {

/// The code of a TorchScript file, checked before LibTorch compiles it. Reading it runs none of
/// LibTorch's compiler.
class ScriptCode
{
public:
    /// Fails (BadInput) if the archive is not TorchScript or has an old format, if the code is
    /// nested so deeply that compiling would overflow the stack, or names a C++ class unknown to
    /// LibTorch.
    static Result<ScriptCode> read(const Pt2Archive& archive, const JobContext& job);
    /// The version of the file's format.
    std::uint64_t version() const { return m_version; }
    /// Returns the text of "__torch__.a.B" for LibTorch's compiler; null if the file has none.
    std::shared_ptr<torch::jit::Source> source(const std::string& qualifier) const;
    /// True if opening the file reads no weights: it restores no packed or quantized ones.
    bool readsNoWeights() const { return m_readsNoWeights; }
    /// Returns the record that is compiled instead of this one; null if it is compiled itself.
    const std::string* compiledFor(const std::string& record) const;

private:
    Result<void> readTexts(const Pt2Archive& archive, const JobContext& job);

    std::uint64_t m_version = 0;
    ScriptTexts m_texts;
    std::optional<ScriptSharing> m_sharing;
    bool m_readsNoWeights = true;
};

} // namespace qs
