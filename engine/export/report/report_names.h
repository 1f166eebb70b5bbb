// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/result/result_document.h"

#include <string>
#include <unordered_map>

namespace qs {

/// What a report calls the nodes of a result: the module's path first, the operator second.
class ReportNames
{
public:
    explicit ReportNames(const ResultDocument::Json& result);
    /// The title of the node that the result document calls so; the name itself where it has none.
    std::string of(const std::string& name) const;
    /// The title of one of its nodes.
    std::string of(const ResultDocument::Json& node) const { return of(fieldText(node, "name")); }

private:
    std::unordered_map<std::string, std::string> m_titles; ///< by name
};

} // namespace qs
