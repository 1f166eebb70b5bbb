// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace qs {

/// The code of a TorchScript file: texts by record.
using ScriptTexts = std::map<std::string, std::string>;

/// "code/__torch__/a/B.py" for the qualifier "__torch__.a.B".
std::string codeRecord(std::string_view qualifier);
/// The reverse.
std::string codeQualifier(std::string_view record);

/// Module classes of one file of code that are equal up to the numbers in the names of classes:
/// tracing writes a class for each module. Of equal ones the first is compiled for all. Classes of
/// which an attribute, an argument or a call names another class are equal if these are. Numbers
/// of equal classes have as many digits, so offsets in their texts agree.
class ScriptSharing
{
public:
    /// Changes the names of equal classes in the texts to the name of the first. Nothing is shared
    /// if the code can distinguish classes while it runs (`isinstance`), or if comparing them takes
    /// too long.
    explicit ScriptSharing(ScriptTexts& texts, const JobContext& job = {});

    /// Returns the record that is compiled instead of this one; null if it is compiled itself.
    const std::string* compiledFor(const std::string& record) const;

private:
    std::unordered_map<std::string, std::string> m_compiled;
};

} // namespace qs
