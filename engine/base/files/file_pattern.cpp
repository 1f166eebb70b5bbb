// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_pattern.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>

namespace qs {

namespace fs = std::filesystem;

namespace {

bool isDigitOfName(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::optional<std::uint64_t> numberOfRange(const std::string& text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

/// Returns the texts of "0000..0012"; empty for other texts and long ranges.
std::vector<std::string> textsOfRange(const std::string& inside)
{
    const auto dots = inside.find("..");
    if (dots == std::string::npos)
        return {};
    const std::string from = inside.substr(0, dots), to = inside.substr(dots + 2);
    const auto first = numberOfRange(from), last = numberOfRange(to);
    if (!first || !last || *last < *first || *last - *first >= kMostNamedFiles)
        return {};
    std::vector<std::string> texts;
    for (std::uint64_t number = *first; texts.size() <= *last - *first; ++number) {
        std::string text = std::to_string(number);
        if (from.size() > text.size() && from[0] == '0')
            text.insert(0, from.size() - text.size(), '0');
        texts.push_back(std::move(text));
    }
    return texts;
}

/// Number of steps to a parent folder, "..".
std::ptrdiff_t parentSteps(const fs::path& path)
{
    return std::count(path.begin(), path.end(), fs::path(".."));
}

/// Returns the texts that the inside of braces stands for; empty for other texts.
std::vector<std::string> textsOfBraces(const std::string& inside)
{
    if (inside.find('/') != std::string::npos)
        return {};
    if (inside.find(',') == std::string::npos)
        return textsOfRange(inside);
    std::vector<std::string> texts;
    std::size_t begin = 0;
    for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
        comma = inside.find(',', begin);
        texts.push_back(inside.substr(begin, comma - begin));
    }
    return texts;
}

/// Returns the paths with all braces replaced; empty if there are too many.
std::vector<std::string> withoutBraces(const std::string& path)
{
    std::vector<std::string> done {std::string()};
    for (std::size_t at = 0; at < path.size();) {
        const auto open = path.find('{', at);
        const auto close = open == std::string::npos ? open : path.find('}', open);
        const auto inside = close == std::string::npos
            ? std::vector<std::string>()
            : textsOfBraces(path.substr(open + 1, close - open - 1));
        const auto next = close == std::string::npos ? path.size() : close + 1;
        const std::string plain
            = path.substr(at, (inside.empty() ? next : open) - at); // no braces of ours
        if (done.size() * std::max<std::size_t>(inside.size(), 1) > kMostNamedFiles)
            return {};
        std::vector<std::string> longer;
        for (const std::string& begin : done) {
            if (inside.empty())
                longer.push_back(begin + plain);
            for (const std::string& text : inside)
                longer.push_back(begin + plain + text);
        }
        done = std::move(longer);
        at = next;
    }
    return done;
}

/// True if the name fits the pattern, in which a star is any text.
bool fitsStars(std::string_view name, std::string_view pattern)
{
    std::size_t at = 0, of = 0, star = std::string_view::npos, retry = 0;
    while (at < name.size()) {
        if (of < pattern.size() && pattern[of] == '*') {
            star = of++;
            retry = at;
        } else if (of < pattern.size() && pattern[of] == name[at]) {
            ++of;
            ++at;
        } else if (star != std::string_view::npos) {
            of = star + 1;
            at = ++retry;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', of) == std::string_view::npos;
}

std::vector<std::string> filesWithStars(const fs::path& path)
{
    const std::string pattern = path.filename().string();
    const fs::path folder = path.parent_path();
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, code)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with('.') && fitsStars(name, pattern))
            found.push_back((folder / name).string());
    }
    std::sort(found.begin(), found.end(), naturallyBefore);
    return found;
}

} // namespace

bool isFilePattern(const std::string& path)
{
    std::error_code code;
    const bool isPlain = path.find_first_of("{*") == std::string::npos;
    return !isPlain && !fs::exists(path, code);
}

std::vector<std::string> namedFiles(const std::string& path)
{
    if (!isFilePattern(path))
        return {path};
    std::vector<std::string> files;
    for (const std::string& one : withoutBraces(path)) {
        if (parentSteps(one) != parentSteps(path)) // braces that leave the folder
            return {path};
        if (fs::path(one).filename().string().find('*') == std::string::npos) {
            files.push_back(one);
            continue;
        }
        for (std::string& found : filesWithStars(one))
            files.push_back(std::move(found));
    }
    return files.empty() ? std::vector {path} : files;
}

bool naturallyBefore(const std::string& a, const std::string& b)
{
    std::size_t i = 0, k = 0;
    while (i < a.size() && k < b.size()) {
        if (!isDigitOfName(a[i]) || !isDigitOfName(b[k])) {
            if (a[i] != b[k])
                return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]);
            ++i;
            ++k;
            continue;
        }
        const auto number = [](const std::string& text, std::size_t& at) {
            while (at < text.size() && text[at] == '0')
                ++at;
            const std::size_t begin = at;
            while (at < text.size() && isDigitOfName(text[at]))
                ++at;
            return text.substr(begin, at - begin);
        };
        const std::string left = number(a, i), right = number(b, k);
        if (left.size() != right.size())
            return left.size() < right.size();
        if (left != right)
            return left < right;
    }
    const bool bothEnded = i == a.size() && k == b.size();
    return bothEnded ? a < b : i == a.size();
}

} // namespace qs
