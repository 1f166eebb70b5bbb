// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// One argument of an operator, as a form asks for it.
struct OperatorArgument
{
    std::string name;
    std::string type; ///< as schemas are printed: "Tensor", "int[2]", "float?"
    std::string defaultJson; ///< the default as JSON; empty where one must be given
    bool isTensor = false; ///< takes values of the graph, optional ones too
    bool isNeeded() const { return defaultJson.empty(); }
};

/// The dispatcher's schema of an operator. A value.
struct OperatorSchema
{
    std::string target; ///< "aten.clamp.default"
    std::string text; ///< the schema as PyTorch prints it
    std::vector<OperatorArgument> arguments;
};

/// Every operator that an edit may put into a graph: known to the dispatcher, reading a tensor and
/// giving one, writing to nothing, reaching outside for nothing. Sorted; made once. Any thread.
const std::vector<std::string>& operatorTargets();
/// Errors: an unknown operator, with the nearest name.
Result<OperatorSchema> operatorSchema(const std::string& target);

} // namespace qs
