// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// One argument of an operator, for input forms.
struct OperatorArgument
{
    std::string name;
    std::string type; ///< as in schemas: "Tensor", "int[2]", "float?"
    std::string defaultJson; ///< the default as JSON; empty if required
    bool isTensor = false; ///< takes values of the graph, possibly optional
    bool isNeeded() const { return defaultJson.empty(); }
};

/// The dispatcher's schema of an operator. A value type.
struct OperatorSchema
{
    std::string target; ///< "aten.clamp.default"
    std::string text; ///< the schema as PyTorch prints it
    std::vector<OperatorArgument> arguments;
};

/// Returns all operators that an edit may insert: known to the dispatcher, with a tensor operand
/// and a tensor result, without in-place writes or access outside the model. Sorted; computed once.
/// Any thread.
const std::vector<std::string>& operatorTargets();
/// Fails for an unknown operator, with the nearest name.
Result<OperatorSchema> operatorSchema(const std::string& target);

} // namespace qs
