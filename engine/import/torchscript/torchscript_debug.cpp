// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_debug.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/graph/source_frames.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/pt2/script_text.h"

#include <ATen/core/List.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <re2/re2.h>
#include <vector>

namespace qs {

namespace {

/// Parses frames "/path/conv.py(548): _conv_forward", one per line, innermost first.
std::vector<SourceLocation> framesOf(const std::string& text)
{
    static const re2::RE2 kFrame(R"((?m)^(.*)\((\d+)\): (.*)$)");
    std::vector<SourceLocation> frames;
    SourceLocation frame;
    re2::StringPiece rest(text);
    while (re2::RE2::FindAndConsume(&rest, kFrame, &frame.file, &frame.line, &frame.function))
        frames.push_back(frame);
    return frames;
}

} // namespace

ScriptDebug::ScriptDebug(std::shared_ptr<const Pt2Archive> archive)
    : m_archive(std::move(archive))
{
}

/// A record is (marker, strings, ((offset, ((indices of strings, file, first line), start, end),
/// tag), ...)).
ScriptDebug::Table ScriptDebug::read(const std::string& record) const
{
    Table table;
    const auto bytes = m_archive->read(record);
    if (!bytes)
        return table;
    const auto filled = guardTorch([&]() -> Result<void> {
        // Without a type resolver LibTorch's reader builds plain containers only.
        table.record = torch::jit::unpickle(bytes->data(), bytes->size());
        for (const auto& entry : table.record.toTupleRef().elements().at(2).toTupleRef().elements())
            table.entries.push_back(
                {std::size_t(entry.toTupleRef().elements().at(0).toInt()), table.entries.size()});
        return {};
    });
    if (!filled)
        return {};
    std::stable_sort(table.entries.begin(), table.entries.end(),
                     [](const auto& a, const auto& b) { return a.offset < b.offset; });
    return table;
}

const torch::jit::SourceRange* ScriptDebug::rangeUpTo(Table& table, std::size_t offset,
                                                      bool exactly) const
{
    auto next = std::upper_bound(
        table.entries.begin(), table.entries.end(), offset,
        [](std::size_t wanted, const auto& entry) { return wanted < entry.offset; });
    if (next == table.entries.begin() || (exactly && std::prev(next)->offset != offset))
        return nullptr;
    Table::Entry& entry = *std::prev(next);
    const auto read = entry.range ? Result<void>() : guardTorch([&]() -> Result<void> {
        const auto& whole = table.record.toTupleRef().elements();
        const auto& strings = whole.at(1).toTupleRef().elements();
        const auto& range = whole.at(2).toTupleRef().elements().at(entry.index);
        const auto& parts = range.toTupleRef().elements().at(1).toTupleRef().elements();
        const auto& source = parts.at(0).toTupleRef().elements();
        std::string text;
        for (const auto index : source.at(0).toIntVector())
            text += strings.at(std::size_t(index)).toStringRef();
        const auto code
            = sourceOf(text, strings.at(std::size_t(source.at(1).toInt())).toStringRef(),
                       std::size_t(source.at(2).toInt()));
        entry.range.emplace(code, std::size_t(parts.at(1).toInt()),
                            std::size_t(parts.at(2).toInt()));
        return {};
    });
    return read ? &*entry.range : nullptr;
}

ScriptDebug::SourcePtr ScriptDebug::sourceOf(const std::string& text, const std::string& file,
                                             std::size_t line) const
{
    SourcePtr& known = m_sources[{text, file, line}];
    if (!known)
        known = std::make_shared<torch::jit::Source>(text, file, line);
    return known;
}

const torch::jit::SourceRange* ScriptDebug::origin(const torch::jit::SourceRange& range,
                                                   const SharedCode* code) const
{
    if (!range.source() || !range.source()->filename())
        return nullptr;
    const std::string& compiled = *range.source()->filename();
    const std::string& record = code && code->compiled == compiled ? code->own : compiled;
    auto known = m_tables->find(record);
    if (known == m_tables->end())
        known = m_tables->emplace(record, read(record + ".debug_pkl")).first;
    const auto* found = rangeUpTo(known->second, range.start(), false);
    if (!found || found->source()->size() != 0)
        return found;
    // The entry for a called function's name has no text; the entry for the call follows at the
    // name's end.
    const auto* call = rangeUpTo(known->second, range.end(), true);
    return !call || call->source()->size() == 0 ? nullptr : call;
}

const std::vector<SourceLocation>& ScriptDebug::framesIn(const std::string& text) const
{
    const auto [known, isNew] = m_frames.try_emplace(text);
    if (isNew)
        known->second = framesOf(text);
    return known->second;
}

SourceLocation ScriptDebug::find(const torch::jit::SourceRange& range, const SharedCode* code,
                                 const std::string& callers) const
{
    SourceLocation where;
    const auto* from = origin(range, code);
    if (!from)
        return where;
    torch::jit::Source& source = *from->source();
    const std::string text = source.text_str().str();
    const auto& frames = framesIn(text);
    if (!frames.empty()) {
        std::vector<std::string> functions;
        for (const SourceLocation& frame : frames) {
            if (isInsideTorch(frame.file))
                continue;
            if (functions.empty())
                where = frame;
            functions.push_back(frame.function);
        }
        if (functions.empty())
            return frames.front();
        where.function = joinFunctions(std::move(functions));
        return where;
    }
    const std::size_t line = source.lineno_for_offset(from->start());
    where.file = *source.filename();
    where.line = int(source.lineno_to_source_lineno(line));
    where.code = trimmed(source.get_line(line).str());
    const std::string_view head = trimmed(std::string_view(text).substr(0, text.find('(')));
    if (head.starts_with("def "))
        where.function = withCallers(std::string(trimmed(head.substr(4))), callers);
    return where;
}

std::string ScriptDebug::calledAs(const torch::jit::SourceRange& range, const SharedCode* code,
                                  const std::string& word) const
{
    const auto* from = origin(range, code);
    if (!from)
        return {};
    const std::string text = from->source()->text_str().str();
    const auto& frames = framesIn(text);
    if (frames.empty())
        return calledInText(text, from->start(), from->end(), word);
    std::string found;
    for (const SourceLocation& frame : frames) {
        if (!frame.file.ends_with("torch/nn/functional.py"))
            break; // only the innermost frames
        found = frame.function;
    }
    return found.empty() ? found : "function." + functionalWord(found);
}

} // namespace qs
