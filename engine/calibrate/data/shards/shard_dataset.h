// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

namespace qs {

/// True for tar archives: a `.tar` (also compressed, to be refused), a path that names several
/// (`namedFiles`), or a folder that holds `.tar` files and no image.
bool isShards(const std::string& source);

/// Opens WebDataset shards (see `isShards`). A sample is the neighbouring members with one key (the
/// name up to the first dot): an image, or `.npy`, or `.NAME.npy` for each input, and its label in
/// `.cls` or in the key "label", "cls" or "class" of `.json`. Archives of a folder are in natural
/// order of their names, samples in the archive's order; `options.batches` takes the first. Headers
/// are read once, up to the last sample needed; a batch reads its own samples only.
Result<std::unique_ptr<Dataset>> openShardDataset(const std::string& source, const Graph& graph,
                                                  const DatasetOptions& options);

} // namespace qs
