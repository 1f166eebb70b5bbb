// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Value names, unique over all graphs of one file, because bodies can read values of outer graphs.
class OnnxNames
{
public:
    /// The name itself, or with a number appended if it is taken.
    std::string unique(const std::string& wanted);
    /// A unique name for an output of the model. An inner value of the same name, such as an output
    /// before its quantization, becomes "NAME_raw".
    std::string output(const std::string& wanted);

private:
    std::unordered_set<std::string> m_taken, m_outputs;
    std::unordered_map<std::string, int> m_last;
};

} // namespace qs
