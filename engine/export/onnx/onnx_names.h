// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Names of values that no two graphs of one file share: bodies see what stands around them.
class OnnxNames
{
public:
    /// The name itself, or with a number where it is taken.
    std::string unique(const std::string& wanted);
    /// The same, for an output of the model: a value within that wants the name too, as what is
    /// quantized before it leaves does, becomes "NAME_raw".
    std::string output(const std::string& wanted);

private:
    std::unordered_set<std::string> m_taken, m_outputs;
    std::unordered_map<std::string, int> m_last;
};

} // namespace qs
