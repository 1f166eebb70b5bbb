// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_names.h"

namespace qs {

namespace {

using Json = ResultDocument;

/// "conv2d" of "aten.conv2d.default"; words without dots, as of inputs, are left out.
std::string operatorWord(const std::string& target)
{
    const std::size_t from = target.find('.');
    return from == std::string::npos
        ? std::string()
        : target.substr(from + 1, target.find('.', from + 1) - from - 1);
}

std::string titleOf(const Json& node)
{
    const std::string module = fieldText(node, "module"),
                      word = operatorWord(fieldText(node, "op"));
    if (module.empty() || word.empty())
        return module.empty() ? fieldText(node, "name") : module;
    return module + " · " + word;
}

} // namespace

ReportNames::ReportNames(const Json& result)
{
    for (const Json& node : result.at("nodes"))
        m_titles[fieldText(node, "name")] = titleOf(node);
}

std::string ReportNames::of(const std::string& name) const
{
    const auto found = m_titles.find(name);
    return found == m_titles.end() ? name : found->second;
}

} // namespace qs
