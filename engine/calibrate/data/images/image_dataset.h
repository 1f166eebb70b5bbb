// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// A folder of images for a model with one image input (float or uint8). `options.preprocess` says
/// how they become tensors; without it they must have the model's size already, and are brought to
/// [0, 1] with a note. Images are decoded when their batch is asked for. Where `options.batches`
/// takes a part of a folder with classes, it is spread evenly over them.
Result<std::unique_ptr<Dataset>> openImageDataset(const std::string& folder, const Graph& graph,
                                                  const DatasetOptions& options);

} // namespace qs
