// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/class_parts.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace qs {

namespace {

constexpr std::string_view kParts = "parts", kSecond = "_parts", kDefault = "default";
constexpr std::string_view kClasses = "__torch__.torch.classes.", kGetter = "_getter";

std::string withOverload(std::string_view target, std::string_view overload)
{
    std::string made(target.substr(0, target.size() - operatorParts(target).overload.size()));
    return made.append(overload);
}

/// Returns the identifier at the start of the text.
std::string_view wordOf(std::string_view text)
{
    const auto end = std::find_if(text.begin(), text.end(), [](char c) {
        return c != '_' && !std::isalnum(static_cast<unsigned char>(c));
    });
    return text.substr(0, std::size_t(end - text.begin()));
}

} // namespace

std::string partsOverload(std::string_view overload)
{
    return overload.empty() ? std::string(kParts) : std::string(overload) + std::string(kSecond);
}

std::string partsTarget(std::string_view target)
{
    const std::string_view overload = operatorParts(target).overload;
    return withOverload(target, partsOverload(overload == kDefault ? "" : overload));
}

bool isPartsTarget(std::string_view target)
{
    const std::string_view overload = operatorParts(target).overload;
    return overload == kParts || overload.ends_with(kSecond);
}

std::string wholeTarget(std::string_view target)
{
    std::string_view overload = operatorParts(target).overload;
    if (overload == kParts)
        return withOverload(target, kDefault);
    if (overload.ends_with(kSecond))
        overload.remove_suffix(kSecond.size());
    return withOverload(target, overload);
}

bool callsAny(const Node& node, const std::vector<std::string>& ops)
{
    return std::any_of(ops.begin(), ops.end(), [&](const std::string& op) {
        return node.isOp(operatorTarget(op) + "." + std::string(kDefault));
    });
}

std::string plainClassName(std::string_view className)
{
    if (!className.starts_with(kClasses))
        return std::string(className);
    className.remove_prefix(kClasses.size());
    const auto dot = className.rfind('.');
    if (dot == std::string_view::npos)
        return std::string(className);
    return std::string(className.substr(0, dot)) + "::" + std::string(className.substr(dot + 1));
}

std::string torchClassName(std::string_view plain)
{
    std::string name(plain);
    if (const auto colons = name.find("::"); colons != std::string::npos)
        name.replace(colons, 2, ".");
    return name.starts_with(kClasses) ? name : std::string(kClasses) + name;
}

bool isForeignClass(std::string_view className)
{
    static constexpr std::array<std::string_view, 15> kOwn {
        "quantized::", "rnn::",          "sparse::",    "xnnpack::", "mkldnn::",
        "vulkan::",    "metal::",        "_nnapi::",    "aten::",    "c10d::",
        "dist_rpc::",  "backendutils::", "profiling::", "cuda::",    "dist_c10d::"};
    const std::string plain = plainClassName(className);
    return className.starts_with(kClasses)
        && std::none_of(kOwn.begin(), kOwn.end(),
                        [&](std::string_view own) { return plain.starts_with(own); });
}

std::vector<std::string> foreignClassesIn(std::string_view text)
{
    std::vector<std::string> found;
    for (auto at = text.find(kClasses); at != std::string_view::npos;
         at = text.find(kClasses, at + 1)) {
        const std::string_view rest = text.substr(at + kClasses.size());
        const std::string_view space = wordOf(rest);
        if (space.empty() || space.size() == rest.size() || rest[space.size()] != '.')
            continue;
        const std::string_view own = wordOf(rest.substr(space.size() + 1));
        std::string name(text.substr(at, kClasses.size() + space.size() + 1 + own.size()));
        if (!own.empty() && isForeignClass(name)
            && std::find(found.begin(), found.end(), name) == found.end())
            found.push_back(std::move(name));
    }
    return found;
}

std::string_view memberName(std::string_view method)
{
    if (method.ends_with(kGetter))
        method.remove_suffix(kGetter.size());
    return method;
}

std::string methodOperator(std::string_view className, std::string_view method)
{
    const std::string_view name = method == "__init__" ? "new" : memberName(method);
    return plainClassName(className) + "_" + std::string(name);
}

} // namespace qs
