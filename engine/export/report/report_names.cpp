// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_names.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = ResultDocument::Json;

/// Documents of programs before this one hold no titles.
std::string titleOf(const Json& node)
{
    return fieldText(node, node.contains("title") ? "title" : "name");
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
