// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_debug.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/pt2/script_text.h"

#include <ATen/core/List.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace qs {

namespace {

/// "/path/conv.py(548): _conv_forward", one a line, innermost first.
std::vector<SourceLocation> framesOf(const std::string& text)
{
    std::vector<SourceLocation> frames;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const auto close = line.rfind("): ");
        const auto open = close == std::string::npos ? close : line.rfind('(', close);
        if (open == std::string::npos)
            continue;
        SourceLocation frame;
        frame.file = line.substr(0, open);
        frame.function = line.substr(close + 3);
        std::from_chars(line.data() + open + 1, line.data() + close, frame.line);
        if (frame.line > 0)
            frames.push_back(std::move(frame));
    }
    return frames;
}

} // namespace

ScriptDebug::ScriptDebug(std::shared_ptr<const Pt2Archive> archive)
    : m_archive(std::move(archive))
{
}

ScriptDebug::Table ScriptDebug::read(const std::string& record) const
{
    Table table;
    if (!m_archive->has(record))
        return table;
    const auto bytes = m_archive->read(record);
    if (!bytes)
        return table;
    // (marker, strings, ((offset, ((indices of strings, file, first line), start, end), tag), ...))
    const auto filled = guardTorch([&]() -> Result<void> {
        // Without a type resolver LibTorch's reader builds plain containers only.
        const at::IValue value = torch::jit::unpickle(bytes->data(), bytes->size());
        if (!value.isTuple())
            return {};
        const auto& whole = value.toTupleRef().elements();
        if (whole.size() != 3 || !whole[0].isString())
            return {};
        std::vector<std::string> strings;
        for (const at::IValue& text : whole[1].toTupleRef().elements())
            strings.push_back(text.toStringRef());
        for (const at::IValue& entry : whole[2].toTupleRef().elements()) {
            const auto& parts = entry.toTupleRef().elements();
            const auto& range = parts.at(1).toTupleRef().elements();
            const auto& source = range.at(0).toTupleRef().elements();
            Origin origin;
            for (const auto index : source.at(0).toIntVector())
                origin.text += strings.at(std::size_t(index));
            origin.file = strings.at(std::size_t(source.at(1).toInt()));
            origin.firstLine = std::size_t(source.at(2).toInt());
            origin.start = std::size_t(range.at(1).toInt());
            origin.end = std::size_t(range.at(2).toInt());
            table[std::size_t(parts.at(0).toInt())] = std::move(origin);
        }
        return {};
    });
    if (!filled)
        table.clear();
    return table;
}

const ScriptDebug::Origin* ScriptDebug::origin(const torch::jit::SourceRange& range) const
{
    if (!range.source() || !range.source()->filename())
        return nullptr;
    const std::string& record = *range.source()->filename();
    auto known = m_tables.find(record);
    if (known == m_tables.end())
        known = m_tables.emplace(record, read(record + ".debug_pkl")).first;
    const auto next = known->second.upper_bound(range.start());
    if (next == known->second.begin())
        return nullptr;
    const Origin& found = std::prev(next)->second;
    return found.text.empty() ? nullptr : &found;
}

SourceLocation ScriptDebug::find(const torch::jit::SourceRange& range) const
{
    SourceLocation where;
    const Origin* from = origin(range);
    if (!from)
        return where;
    const auto frames = framesOf(from->text);
    if (!frames.empty()) {
        const auto user = std::find_if(frames.begin(), frames.end(), [](const auto& frame) {
            return !isInsideTorch(frame.file);
        });
        return user == frames.end() ? frames.front() : *user;
    }
    const std::size_t start = std::min(from->start, from->text.size());
    const std::size_t lineStart = start == 0 ? 0 : from->text.rfind('\n', start - 1) + 1;
    where.file = from->file;
    where.line = int(from->firstLine)
        + int(std::count(from->text.begin(), from->text.begin() + std::ptrdiff_t(start), '\n'));
    where.code = std::string(
        trimmed(from->text.substr(lineStart, from->text.find('\n', start) - lineStart)));
    const std::string head = std::string(trimmed(from->text.substr(0, from->text.find('('))));
    if (head.starts_with("def "))
        where.function = std::string(trimmed(head.substr(4)));
    return where;
}

std::string ScriptDebug::calledAs(const torch::jit::SourceRange& range,
                                  const std::string& word) const
{
    const Origin* from = origin(range);
    if (!from)
        return {};
    const auto frames = framesOf(from->text);
    if (frames.empty())
        return calledInText(from->text, from->start, from->end, word);
    std::string found;
    for (const SourceLocation& frame : frames) {
        if (!frame.file.ends_with("torch/nn/functional.py"))
            break; // the innermost frames alone
        found = frame.function;
    }
    return found.empty() ? found : "function." + functionalWord(found);
}

} // namespace qs
