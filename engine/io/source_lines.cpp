// SPDX-License-Identifier: Apache-2.0
#include "engine/io/source_lines.h"

#include "engine/base/files/read_file.h"
#include "engine/base/text.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t(8) << 20;

/// Returns the recorded path, then its suffixes below the folder, longest first.
std::vector<fs::path> candidates(const fs::path& recorded, const std::string& folder)
{
    std::vector<fs::path> out;
    if (recorded.is_absolute())
        out.push_back(recorded);
    if (folder.empty())
        return out;
    std::vector<fs::path> parts;
    for (const fs::path& part : recorded.relative_path())
        if (part == "..")
            parts.clear(); // do not look above the folder
        else if (part != ".")
            parts.push_back(part);
    for (std::size_t from = 0; from < parts.size(); ++from) {
        fs::path path(folder);
        for (std::size_t i = from; i < parts.size(); ++i)
            path /= parts[i];
        out.push_back(std::move(path));
    }
    return out;
}

std::vector<std::string> linesOf(const std::string& text)
{
    std::vector<std::string> lines;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        std::string line = text.substr(from, end - from);
        if (line.ends_with('\r'))
            line.pop_back();
        lines.push_back(printable(std::move(line)));
        from = end + 1;
    }
    return lines;
}

std::optional<SourceExcerpt> excerpt(const fs::path& path, const SourceLocation& recorded,
                                     int around)
{
    const auto text = readWholeFile(path.string(), kMostBytes);
    if (!text)
        return std::nullopt;
    std::vector<std::string> lines = linesOf(*text);
    if (recorded.line < 1 || recorded.line > int(lines.size()))
        return std::nullopt;
    SourceExcerpt out;
    out.path = path.string();
    out.line = recorded.line;
    out.isSame = recorded.code.empty()
        || trimmed(lines[std::size_t(recorded.line - 1)]) == trimmed(printable(recorded.code));
    const int first = around < 0 ? 1 : std::max(1, recorded.line - around);
    const int last
        = around < 0 ? int(lines.size()) : std::min(int(lines.size()), recorded.line + around);
    out.firstLine = first;
    out.lines.assign(lines.begin() + (first - 1), lines.begin() + last);
    return out;
}

} // namespace

Result<SourceExcerpt> sourceLines(const SourceLocation& recorded, const std::string& folder,
                                  int around)
{
    if (recorded.file.empty())
        return fail(ErrorCode::NotFound, "the model does not say which line it came from");
    const fs::path file(recorded.file);
    if (file.extension() != ".py")
        return fail(makeError(ErrorCode::NotFound, "not a Python file").inFile(recorded.file));
    std::optional<SourceExcerpt> changed;
    for (const fs::path& path : candidates(file, folder))
        if (auto found = excerpt(path, recorded, around)) {
            if (found->isSame)
                return std::move(*found);
            if (!changed)
                changed = std::move(found);
        }
    if (changed)
        return std::move(*changed);
    return fail(makeError(ErrorCode::NotFound,
                          "there is no such file with a line " + std::to_string(recorded.line)
                              + " on this machine"
                              + (folder.empty() ? "" : ", nor below " + folder))
                    .inFile(recorded.file));
}

} // namespace qs
