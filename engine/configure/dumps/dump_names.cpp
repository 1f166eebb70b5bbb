// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/dumps/dump_names.h"

#include "engine/base/log.h"
#include "engine/configure/dumps/python_value.h"
#include "engine/graph/operators/operator_words.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

// PyTorch creates its pooling functions with one wrapper, so Python prints the wrapper's name for
// each.
constexpr std::string_view kWrapped = "<function boolean_dispatch.<locals>.fn>";
constexpr std::array kThreePools {"torch.nn.functional.max_pool1d",
                                  "torch.nn.functional.max_pool2d",
                                  "torch.nn.functional.max_pool3d"};

void collectWrapped(const Json& value, std::vector<std::string>& found)
{
    if (value.is_structured()) {
        for (const auto& child : value)
            collectWrapped(child, found);
        return;
    }
    if (!value.is_string())
        return;
    const std::string text = value.get<std::string>();
    if (withoutAddress(text) == kWrapped
        && std::find(found.begin(), found.end(), text) == found.end())
        found.push_back(text);
}

/// "my_op" of "<function my_op>", "add" of "<method 'add' of 'torch._C.TensorBase' objects>".
std::string wordInside(const std::string& printed)
{
    const auto last = printed.find_last_of(' ');
    for (const std::string_view start : {"<function ", "<built-in function ", "<built-in method "})
        if (printed.starts_with(start)) {
            const auto end = printed.find_first_of(" >", start.size());
            return printed.substr(start.size(), end - start.size());
        }
    const auto open = printed.find('\'');
    const auto close = printed.find('\'', open + 1);
    if (open != std::string::npos && close != std::string::npos)
        return printed.substr(open + 1, close - open - 1);
    return printed.substr(last + 1);
}

} // namespace

Result<DumpNames> DumpNames::make()
{
    DumpNames names;
    QS_TRY(names.m_torch, TorchNames::load());
    return names;
}

Result<DumpNames> DumpNames::forBackend(const Json& document)
{
    QS_TRY(DumpNames names, make());
    collectWrapped(document, names.m_pools);
    return names;
}

Result<std::string> DumpNames::name(const JsonPlace& place) const
{
    QS_TRY(const std::string given, place.string());
    return name(given, place);
}

Result<std::string> DumpNames::name(const std::string& given, const JsonPlace& place) const
{
    if (!given.starts_with('<'))
        return publicTypeName(given);
    const std::string printed = withoutAddress(given);
    const std::vector<std::string>& known = m_torch.printedAs(printed);
    if (known.size() == 1)
        return known.front();
    if (known.empty())
        return printed.starts_with("<class '") ? publicTypeName(classNameOf(printed))
                                               : wordInside(printed);
    const auto pool = std::find(m_pools.begin(), m_pools.end(), given);
    const bool three = m_pools.size() == kThreePools.size();
    if (pool != m_pools.end() && (three || m_pools.size() == 1)) {
        const std::string meant = kThreePools[three ? std::size_t(pool - m_pools.begin()) : 1];
        note(place.file() + ": " + place.path() + ": '" + printed + "' is taken as " + meant);
        return meant;
    }
    std::string list;
    for (const auto& candidate : known)
        list += (list.empty() ? "" : ", ") + candidate;
    return place.error("Python prints several functions as '" + printed + "'",
                       "write the one that is meant: " + list);
}

} // namespace qs
