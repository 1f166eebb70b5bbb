// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/attribute.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A tree of operators whose root is the last operator: the producer of a value and, as `inputs`,
/// the producers of its inputs. Matched by `matchPattern`.
struct GraphPattern
{
    std::string name; ///< name of the value in a match; "" = not bound
    /// Alternatives for the producer; none = any value or constant.
    std::vector<std::string> targets;
    std::optional<Argument> constant; ///< matches only this; numbers compare by value (0 is 0.0)
    std::string argument; ///< argument of the consumer; "" = the consumer's next input
    bool isOptional = false; ///< the consumer may omit that argument
    std::vector<GraphPattern> inputs; ///< none = any inputs

    bool isOpen() const { return targets.empty() && !constant; }
    /// Number of operators and unbound inputs. torch.ao tries patterns in descending order of it.
    std::size_t size() const;
};

/// Reads a pattern in the text form of a graph without ids, results and facts; the last line is the
/// root of the pattern:
///
///     %wide = op "aten.unsqueeze.default" (self=%input, dim=%after)
///     op "aten.expand.default|aten.repeat.default" (self=%wide, size=%sizes)
///
/// "|" separates alternative targets. A name that no earlier line defines matches any value or
/// constant, the same one at each occurrence. With a "?" after it ("bias=%bias?") the argument may
/// be absent; the name is then unbound. Arguments not listed may have any value. Errors (BadInput)
/// name the line.
Result<GraphPattern> parsePattern(std::string_view text);

/// Returns a chain of operators in forward order; each reads the previous one's result.
GraphPattern chainPattern(const std::vector<std::string>& targets);

} // namespace qs
