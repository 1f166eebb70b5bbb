// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/attribute.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A tree of operators, seen from the last one: the producer of a value and, as `inputs`, the
/// producers of its inputs. Matched by `matchPattern`.
struct GraphPattern
{
    std::string name; ///< name of the value in a match; "" = not bound
    std::vector<std::string> targets; ///< one of them makes the value; none = any value or constant
    std::optional<Argument> constant; ///< this one alone; numbers by value (0 is 0.0)
    std::string argument; ///< of its reader; "" = the reader's next input
    bool isOptional = false; ///< the reader may be without that argument
    std::vector<GraphPattern> inputs; ///< none = whatever flows in

    bool isOpen() const { return targets.empty() && !constant; }
    /// Operators and open places, by which torch.ao sorts patterns: the longest is tried first.
    std::size_t size() const;
};

/// Reads a pattern in the text form of a graph without ids, results and facts; the last line is the
/// root of the pattern:
///
///     %wide = op "aten.unsqueeze.default" (self=%input, dim=%after)
///     op "aten.expand.default|aten.repeat.default" (self=%wide, size=%sizes)
///
/// A target may be one of several. A name that no earlier line makes matches any value or constant,
/// the same one wherever the name occurs. With a "?" after it ("bias=%bias?") the argument may be
/// absent; the name is then unbound. An argument that is not written may be anything. Errors
/// (BadInput) name the line.
Result<GraphPattern> parsePattern(std::string_view text);

/// The chain of operators, in forward order, each of which reads the one before.
GraphPattern chainPattern(const std::vector<std::string>& targets);

} // namespace qs
