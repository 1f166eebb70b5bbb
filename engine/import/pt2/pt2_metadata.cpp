// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_metadata.h"

#include "engine/base/text.h"
#include "engine/graph/source_frames.h"

#include <algorithm>
#include <charconv>

namespace qs {

namespace {

int toInt(std::string_view text)
{
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Removes the text up to `separator` from the front of `rest` and returns it.
std::string_view takeUntil(std::string_view& rest, char separator)
{
    const auto at = rest.find(separator);
    const std::string_view head = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    return head;
}

/// The same up to a comma outside brackets.
std::string_view takePart(std::string_view& rest)
{
    int depth = 0;
    std::size_t at = 0;
    for (; at < rest.size() && (rest[at] != ',' || depth > 0); ++at)
        depth += rest[at] == '(' || rest[at] == '[' ? 1
            : rest[at] == ')' || rest[at] == ']'    ? -1
                                                    : 0;
    const std::string_view head = rest.substr(0, at);
    rest = at == rest.size() ? std::string_view() : rest.substr(at + 1);
    return head;
}

/// Limits paths to 400 levels, because every level becomes a module of the tree with its whole
/// path.
std::string withoutDepths(std::string path)
{
    int levels = 400;
    for (std::size_t i = 0; i < path.size(); ++i)
        if (path[i] == '.' && --levels == 0)
            path.resize(i);
    return path;
}

/// "layer-1.0" for `getattr(L['self'], 'layer-1')._modules['0']`: strict exports write the
/// expression if a module's name is not an identifier.
std::string plainPath(std::string_view text)
{
    if (text.find_first_of("[(") == std::string_view::npos)
        return withoutDepths(std::string(text));
    constexpr std::string_view kCall = "getattr(", kSelf = "L['self']";
    while (text.starts_with(kCall))
        text.remove_prefix(kCall.size());
    if (text.starts_with(kSelf))
        text.remove_prefix(kSelf.size());
    std::string path, word;
    char quote = 0;
    const auto finish = [&] {
        if (!word.empty() && word != "_modules")
            path += (path.empty() ? "" : ".") + word;
        word.clear();
    };
    for (const char c : text) {
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (quote || std::string_view(".,[]() ").find(c) == std::string_view::npos)
            word += c;
        else
            finish();
    }
    finish();
    return withoutDepths(std::move(path));
}

/// `File "a/b.py", line 12, in forward`
bool parseFrameHead(std::string_view line, SourceLocation& frame)
{
    line = trimmed(line);
    if (!line.starts_with("File \""))
        return false;
    line.remove_prefix(6);
    const auto quote = line.rfind("\", line ");
    if (quote == std::string_view::npos)
        return false;
    frame = {};
    frame.file = line.substr(0, quote);
    std::string_view rest = line.substr(quote + 8);
    frame.line = toInt(takeUntil(rest, ','));
    rest = trimmed(rest);
    if (rest.starts_with("in "))
        frame.function = rest.substr(3);
    return true;
}

} // namespace

bool isInsideTorch(std::string_view file)
{
    if (file.starts_with("torch/"))
        return true;
    for (const std::string_view part :
         {"-packages/torch/", "/torch/nn/", "/torch/functional.py", "/torch/_tensor.py"})
        if (file.find(part) != std::string_view::npos)
            return true;
    return false;
}

std::string publicClassName(std::string_view moduleClass)
{
    constexpr std::string_view kInside = "torch.nn.modules.";
    if (!moduleClass.starts_with(kInside))
        return std::string(moduleClass);
    return "torch.nn." + lastPart(moduleClass);
}

std::vector<Scope> parseModuleStack(std::string_view text)
{
    std::vector<Scope> levels;
    while (!text.empty()) {
        std::string_view level = takeUntil(text, ';');
        std::string_view key = takePart(level);
        std::string_view path = takePart(level);
        Scope scope;
        // The second call of a module is marked on its key, by some versions on its path.
        for (std::string_view* marked : {&path, &key})
            if (const auto at = marked->rfind('@'); at != std::string_view::npos) {
                scope.callIndex = toInt(marked->substr(at + 1));
                *marked = marked->substr(0, at);
            }
        if (path == kNoModule)
            continue;
        scope.path = plainPath(path);
        scope.moduleClass = publicClassName(trimmed(level));
        levels.push_back(std::move(scope));
    }
    return levels;
}

SourceLocation parseStackTrace(std::string_view text)
{
    SourceLocation best, frame;
    std::vector<std::string> callers; // in user code, outermost first
    bool bestOutside = false, inFrame = false;
    const auto finish = [&] {
        if (!inFrame)
            return;
        const bool outside = !isInsideTorch(frame.file);
        if (outside || !bestOutside) {
            best = frame;
            bestOutside = outside;
        }
        if (outside)
            callers.push_back(frame.function);
        inFrame = false;
    };
    while (!text.empty()) {
        const std::string_view line = takeUntil(text, '\n');
        SourceLocation head;
        if (parseFrameHead(line, head)) {
            finish();
            frame = head;
            inFrame = true;
        } else if (inFrame && frame.code.empty()) {
            frame.code = trimmed(line);
        }
    }
    finish();
    std::reverse(callers.begin(), callers.end());
    if (!callers.empty())
        best.function = joinFunctions(std::move(callers));
    return best;
}

} // namespace qs
