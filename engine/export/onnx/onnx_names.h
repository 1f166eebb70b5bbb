// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Names of values, unique over all graphs of one file: bodies see the values around them.
class OnnxNames
{
public:
    /// The name itself, or with a number where it is taken.
    std::string unique(const std::string& wanted);
    /// The same, for an output of the model: an inner value of the same name, such as an output
    /// before its quantization, becomes "NAME_raw".
    std::string output(const std::string& wanted);

private:
    std::unordered_set<std::string> m_taken, m_outputs;
    std::unordered_map<std::string, int> m_last;
};

} // namespace qs
