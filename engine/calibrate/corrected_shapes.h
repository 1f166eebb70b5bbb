// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A value whose shape in a run differs from the file's record.
struct CorrectedShape
{
    ValueRef value;
    std::vector<Dim> shape; ///< as it is
};

/// The model with these shapes. Its record keeps them (`correctedShapesText`), the file's beside
/// them. Unchanged if `corrected` is empty.
GraphPtr withCorrectedShapes(const GraphPtr& model, const std::vector<CorrectedShape>& corrected);

/// The changes of `withCorrectedShapes` as a JSON list: name of the node, output, recorded and
/// observed sizes. Empty for any other model.
std::string_view correctedShapesText(const ModelInfo& info);

/// Reads such a list for the model that it is of. Values that the model does not have, and those
/// of a model with corrected shapes, are left out. Error (BadInput): not such a list.
Result<std::vector<CorrectedShape>> readCorrectedShapes(const Graph& model, std::string_view text);

} // namespace qs
