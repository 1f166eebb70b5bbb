// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/source_frames.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::string_view kForward = "forward";
/// Maximum number of frames kept; a recursion may have more.
constexpr std::size_t kMostFrames = 64;

std::vector<std::string> splitFunctions(std::string_view text)
{
    std::vector<std::string> functions;
    while (!text.empty()) {
        const auto at = text.find(kCalledBy);
        functions.emplace_back(text.substr(0, at));
        text = at == std::string_view::npos ? "" : text.substr(at + kCalledBy.size());
    }
    return functions;
}

std::string joinedText(std::vector<std::string> functions)
{
    if (functions.size() > kMostFrames)
        functions.resize(kMostFrames);
    while (functions.size() > 1 && functions.back() == kForward)
        functions.pop_back();
    std::string text;
    for (const std::string& function : functions)
        text += (text.empty() ? "" : std::string(kCalledBy)) + function;
    return text;
}

} // namespace

std::string joinFunctions(std::vector<std::string> innermostFirst)
{
    // Callers of the model belong to none of its modules.
    const auto outermost = std::find(innermostFirst.rbegin(), innermostFirst.rend(), kForward);
    if (outermost != innermostFirst.rend())
        innermostFirst.erase(outermost.base(), innermostFirst.end());
    return joinedText(std::move(innermostFirst));
}

std::string withCallers(const std::string& function, const std::string& callers)
{
    std::vector<std::string> functions = splitFunctions(callers);
    functions.insert(functions.begin(), function);
    return joinedText(std::move(functions));
}

std::string innermostFunction(const SourceLocation& source)
{
    return source.function.substr(0, source.function.find(kCalledBy));
}

std::vector<std::string> callingFunctions(const SourceLocation& source)
{
    std::vector<std::string> functions = splitFunctions(source.function);
    if (!functions.empty())
        functions.erase(functions.begin());
    return functions;
}

std::vector<std::string> functionsOfCaller(const SourceLocation& source, std::size_t depth)
{
    std::vector<std::string> own;
    for (const std::string& function : splitFunctions(source.function)) {
        if (depth == 0 && function != kForward)
            own.push_back(function);
        if (function != kForward)
            continue;
        if (depth-- == 0)
            break;
    }
    own.emplace_back(kForward);
    return own;
}

} // namespace qs
