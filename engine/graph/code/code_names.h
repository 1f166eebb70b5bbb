// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Hands out names as torch.fx's namespace does: `conv`, then `conv_1`; letters, digits and
/// underscores only.
class CodeNames
{
public:
    /// Returns a free name near `candidate` and reserves it.
    std::string create(std::string candidate);

private:
    std::unordered_set<std::string> m_used;
    std::unordered_map<std::string, int> m_count;
};

/// Attribute names of the root module: `prefix` with dots as underscores, then the first free
/// number.
class AttributeNames
{
public:
    std::string create(std::string prefix);

private:
    std::unordered_map<std::string, int> m_next;
};

bool isIdentifier(std::string_view text);
/// "layer1.0.convA" as torch.fx names the call of that module: "layer1_0_conv_a".
std::string moduleCallName(std::string_view path);
/// "conv2d" for "aten.conv2d.default", "relu" for "aten.relu_.default".
std::string targetBase(std::string_view target);
/// Returns a valid Python expression for a path: `getattr(self.layer1, "0").conv` for
/// "layer1.0.conv".
std::string attributeText(std::string_view path);

} // namespace qs
