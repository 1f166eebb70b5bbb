// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A value whose observed shape differs from the file's record.
struct CorrectedShape
{
    ValueRef value;
    std::vector<Dim> shape; ///< observed shape
};

/// Returns the model with these shapes. Its export record stores them (`correctedShapesText`) in
/// addition to the file's record. Unchanged if `corrected` is empty.
GraphPtr withCorrectedShapes(const GraphPtr& model, const std::vector<CorrectedShape>& corrected);

/// Returns the changes of `withCorrectedShapes` as a JSON list: node name, output, recorded and
/// observed sizes. Empty for any other model.
std::string_view correctedShapesText(const ModelInfo& info);

/// Parses such a list for its model. Ignores values that the model does not have, and all values if
/// its shapes are already corrected. Fails (BadInput) if the text is not such a list.
Result<std::vector<CorrectedShape>> readCorrectedShapes(const Graph& model, std::string_view text);

} // namespace qs
