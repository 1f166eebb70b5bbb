// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Opens a folder of images for a model with one image input (float or uint8). `options.preprocess`
/// defines the conversion to tensors; without it, images must have the model's size and are scaled
/// to [0, 1] with a note. Images are decoded when their batch is requested. If `options.batches`
/// selects a part of a folder with classes, it is spread evenly over the classes.
Result<std::unique_ptr<Dataset>> openImageDataset(const std::string& folder, const Graph& graph,
                                                  const DatasetOptions& options);

} // namespace qs
