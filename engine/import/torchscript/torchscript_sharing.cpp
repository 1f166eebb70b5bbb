// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_sharing.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace qs {

namespace {

constexpr std::string_view kMangle = "___torch_mangle_", kFolder = "code/", kEnding = ".py";

/// A text that names a class with a number.
struct NumberedName
{
    std::size_t at = 0; ///< of the digits
    std::size_t digits = 0;
    std::size_t file = 0; ///< of the class
};

struct CodeFile
{
    const std::string* record = nullptr;
    std::string* text = nullptr;
    std::vector<NumberedName> names;
    int group = 0; ///< equal so far
};

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isOfName(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

/// Returns where the number stands in the record of a file with one numbered class; npos if it is
/// not one.
std::size_t numberIn(std::string_view record)
{
    const auto slash = record.rfind('/');
    if (slash == record.npos || !record.ends_with(kEnding)
        || !record.substr(slash + 1).starts_with(kMangle))
        return record.npos;
    const std::size_t at = slash + 1 + kMangle.size(), end = record.size() - kEnding.size();
    return at < end && std::all_of(record.begin() + at, record.begin() + end, isDigit)
        ? at
        : record.npos;
}

/// True if the text is a single module class without comments and escapes, so that its names and
/// strings are found without a parser.
bool isPlainModule(std::string_view text)
{
    if (!text.starts_with("class ") || text.find_first_of("#\\") != text.npos
        || text.find("\"\"\"") != text.npos || text.find("'''") != text.npos
        || !text.substr(0, text.find('\n')).ends_with("(Module):"))
        return false;
    for (auto end = text.find('\n'); end < text.size(); end = text.find('\n', end + 1))
        if (end + 1 < text.size() && text[end + 1] != ' ' && text[end + 1] != '\n')
            return false;
    return true;
}

using FileIndex = std::unordered_map<std::string_view, std::size_t>; ///< by record

/// Finds the names of the index's classes in the text, except in strings.
std::vector<NumberedName> numberedNames(std::string_view text, const FileIndex& files)
{
    std::vector<NumberedName> names;
    std::size_t scanned = 0;
    char quote = 0;
    for (auto at = text.find(kMangle); at != text.npos; at = text.find(kMangle, at + 1)) {
        for (; scanned < at; ++scanned)
            if (const char c = text[scanned]; quote && c == '\\')
                ++scanned;
            else if (quote ? c == quote : c == '"' || c == '\'')
                quote = quote ? 0 : c;
        if (quote)
            continue;
        std::size_t begin = at, end = at + kMangle.size();
        while (begin > 0 && isOfName(text[begin - 1]))
            --begin;
        while (end < text.size() && isDigit(text[end]))
            ++end;
        if (end == text.size() || text[end] != '.')
            continue;
        const auto found = files.find(codeRecord(text.substr(begin, end - begin)));
        if (found != files.end())
            names.push_back({at + kMangle.size(), end - at - kMangle.size(), found->second});
    }
    return names;
}

/// Groups files by their texts without the numbers of names. Others are in no group (-1).
int groupByText(std::vector<CodeFile>& files)
{
    std::unordered_map<std::string, int> groups;
    for (CodeFile& file : files) {
        file.group = -1;
        const std::size_t number = numberIn(*file.record);
        if (number == std::string::npos || !isPlainModule(*file.text))
            continue;
        std::string text = *file.text, record = *file.record;
        for (const NumberedName& name : file.names)
            text.replace(name.at, name.digits, name.digits, '#');
        const std::size_t digits = record.rfind('.') - number;
        record.replace(number, digits, digits, '#');
        std::string key = std::to_string(record.size()) + record + text;
        file.group = groups.try_emplace(std::move(key), int(groups.size())).first->second;
    }
    return int(groups.size());
}

/// Splits the groups until classes of a group name classes of the same groups, in the same order.
/// False if that takes too long or the job is cancelled.
bool splitGroups(std::vector<CodeFile>& files, int count, const JobContext& job)
{
    constexpr std::size_t kMostSteps = 8'000'000;
    for (std::size_t steps = 0; steps < kMostSteps && !job.cancelled();) {
        std::map<std::vector<int>, int> groups;
        std::vector<int> next;
        for (const CodeFile& file : files) {
            steps += 1 + file.names.size();
            if (file.group < 0) {
                next.push_back(-1);
                continue;
            }
            std::vector<int> key {file.group};
            for (const NumberedName& name : file.names) // a class in no group equals only itself
                key.push_back(files[name.file].group >= 0 ? files[name.file].group
                                                          : -1 - int(name.file));
            next.push_back(groups.try_emplace(std::move(key), int(groups.size())).first->second);
        }
        for (std::size_t i = 0; i < files.size(); ++i)
            files[i].group = next[i];
        if (int(groups.size()) == count)
            return true;
        count = int(groups.size());
    }
    return false;
}

/// True if the code can distinguish classes while it runs.
bool distinguishesClasses(const ScriptTexts& texts)
{
    return std::any_of(texts.begin(), texts.end(), [](const auto& text) {
        return text.second.find("isinstance") != std::string::npos;
    });
}

} // namespace

std::string codeRecord(std::string_view qualifier)
{
    std::string record(qualifier);
    std::replace(record.begin(), record.end(), '.', '/');
    return std::string(kFolder) + record + std::string(kEnding);
}

std::string codeQualifier(std::string_view record)
{
    record.remove_prefix(kFolder.size());
    record.remove_suffix(kEnding.size());
    std::string qualifier(record);
    std::replace(qualifier.begin(), qualifier.end(), '/', '.');
    return qualifier;
}

ScriptSharing::ScriptSharing(ScriptTexts& texts, const JobContext& job)
{
    if (distinguishesClasses(texts))
        return;
    FileIndex index;
    std::vector<CodeFile> files;
    for (auto& [record, text] : texts) {
        if (numberIn(record) != record.npos)
            index.emplace(record, files.size());
        files.push_back({&record, &text, {}, 0});
    }
    for (CodeFile& file : files)
        file.names = numberedNames(*file.text, index);
    if (!splitGroups(files, groupByText(files), job))
        return;
    std::unordered_map<int, const CodeFile*> firsts;
    for (const CodeFile& file : files)
        if (file.group >= 0)
            if (const CodeFile& first = *firsts.try_emplace(file.group, &file).first->second;
                first.record != file.record)
                m_compiled.emplace(*file.record, *first.record);
    for (CodeFile& file : files)
        for (const NumberedName& name : file.names)
            if (const CodeFile& named = files[name.file]; named.group >= 0) {
                const std::string& record = *firsts.at(named.group)->record;
                file.text->replace(name.at, name.digits, record, numberIn(record), name.digits);
            }
}

const std::string* ScriptSharing::compiledFor(const std::string& record) const
{
    const auto found = m_compiled.find(record);
    return found == m_compiled.end() ? nullptr : &found->second;
}

} // namespace qs
