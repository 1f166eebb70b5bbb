// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_code.h"

#include "engine/base/process/missing_pack.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/class_parts.h"

#include <caffe2/serialize/versions.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace qs {

namespace {

/// Returns why this source must not be compiled: nesting so deep that LibTorch's recursion would
/// overflow the stack. Empty if it is safe.
std::string objectionToSource(const std::string& text)
{
    constexpr int kDeepest = 400;
    // A chain of operators creates a tree as deep as the chain is long.
    constexpr int kLongestRun = 20000;
    int open = 0, indent = 0, run = 0, deepest = 0, widest = 0, longest = 0;
    bool atStart = true;
    for (const char c : text) {
        const auto isOf
            = [c](std::string_view set) { return set.find(c) != std::string_view::npos; };
        const bool ends = c == '\n';
        atStart = ends || (atStart && c == ' ');
        indent = ends ? 0 : indent + (atStart ? 1 : 0);
        run = ends ? 0 : run + (isOf("-+*/~") ? 1 : 0);
        open += (isOf("([{") ? 1 : 0) - (isOf(")]}") ? 1 : 0);
        deepest = std::max(deepest, open);
        widest = std::max(widest, indent);
        longest = std::max(longest, run);
    }
    if (deepest > kDeepest || widest > 2 * kDeepest || longest > kLongestRun)
        return "its code is nested too deeply";
    return {};
}

Error bad(const Pt2Archive& archive, const std::string& what)
{
    return makeError(ErrorCode::BadInput, what).inFile(archive.path());
}

Result<std::uint64_t> formatVersion(const Pt2Archive& archive)
{
    const std::string record = archive.has("version") ? "version" : ".data/version";
    if (!archive.has("data.pkl") || !archive.has(record))
        return fail(bad(archive, "is a TorchScript file of an old form (before torch 1.4)")
                        .withHint("load and save it again with a newer torch"));
    QS_TRY(const std::string text, archive.read(record));
    std::uint64_t version = 0;
    std::from_chars(text.data(), text.data() + text.size(), version);
    if (version < caffe2::serialize::kMinSupportedFileFormatVersion
        || version > caffe2::serialize::kMaxSupportedFileFormatVersion)
        return fail(bad(archive,
                        "was written in TorchScript format " + std::to_string(version)
                            + ", which LibTorch " QUANTSCOPE_TORCH_VERSION " does not read"));
    return version;
}

template<class Words>
bool containsOne(const std::string& text, const Words& words)
{
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return text.find(word) != text.npos; });
}

} // namespace

Result<ScriptCode> ScriptCode::read(const Pt2Archive& archive, const JobContext& job)
{
    return guardTorchValue<ScriptCode>([&]() -> Result<ScriptCode> {
        ScriptCode code;
        QS_TRY(code.m_version, formatVersion(archive));
        QS_CHECK(code.readTexts(archive, job));
        return code;
    });
}

Result<void> ScriptCode::readTexts(const Pt2Archive& archive, const JobContext& job)
{
    // Restoring packed weights reads their elements.
    static constexpr std::array kInCode {"__setstate__", "torch.classes."};
    static constexpr std::array kInPickle {"_rebuild_qtensor", "_rebuild_sparse_tensor",
                                           "_rebuild_meta"};
    for (const auto& record : archive.names()) {
        if (!record.starts_with("code/") || !record.ends_with(".py"))
            continue;
        QS_CHECK(job.check());
        QS_TRY(std::string text, archive.read(record));
        if (const std::string why = objectionToSource(text); !why.empty())
            return fail(bad(archive, "cannot be read: " + why));
        // LibTorch cannot compile code that names an unregistered class.
        for (const std::string& name : foreignClassesIn(text))
            if (!findForeignClass(name))
                return fail(bad(archive,
                                "uses objects of the C++ class " + plainClassName(name)
                                    + ", which this LibTorch does not have")
                                .withHint(kLoadPackHint));
        m_readsNoWeights = m_readsNoWeights && !containsOne(text, kInCode);
        m_texts.emplace(record, std::move(text));
    }
    QS_TRY(const std::string pickle, archive.read("data.pkl"));
    m_readsNoWeights = m_readsNoWeights && !containsOne(pickle, kInPickle);
    m_sharing.emplace(m_texts, job);
    return {};
}

std::shared_ptr<torch::jit::Source> ScriptCode::source(const std::string& qualifier) const
{
    const auto text = m_texts.find(codeRecord(qualifier));
    return text == m_texts.end()
        ? nullptr
        : std::make_shared<torch::jit::Source>(text->second, text->first, 1);
}

const std::string* ScriptCode::compiledFor(const std::string& record) const
{
    return m_sharing ? m_sharing->compiledFor(record) : nullptr;
}

} // namespace qs
