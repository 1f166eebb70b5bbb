// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/images/image.h"

#include <cstdint>
#include <memory>
#include <string>

namespace qs {

/// The images of a dataset, by their number from 0. Each is read when it is asked for. Immutable;
/// any thread.
class ImageSource
{
public:
    virtual ~ImageSource() = default;
    virtual std::int64_t count() const = 0;
    /// Decodes an image, or reads the size in its header. Errors name the file.
    virtual Result<Image> image(std::int64_t number) const = 0;
    virtual Result<ImageSize> size(std::int64_t number) const = 0;
    /// Returns the error with the place of an image: its file, and its name there.
    virtual Error placed(std::int64_t number, Error error) const = 0;
    virtual bool hasLabels() const = 0;
    /// Returns the label of an image; -1 without labels.
    virtual std::int64_t label(std::int64_t number) const = 0;
    /// Returns the number of images, from the first, whose sizes are compared with the model's
    /// when data are opened. The sizes of the others are checked when they are read.
    virtual std::int64_t sizesToCheck() const = 0;
    /// Returns what the data are, for errors: "a folder of images".
    virtual std::string what() const = 0;
};

/// Creates a dataset for a model with one image input (float or uint8); see `openImageDataset`.
/// `options.batches` must be applied to the source.
Result<std::unique_ptr<Dataset>> makeImageDataset(std::shared_ptr<const ImageSource> images,
                                                  const Graph& graph,
                                                  const DatasetOptions& options);

/// Fails if the model does not take one batch of images, which is all that `what` ("a folder of
/// images") can feed.
Result<void> checkTakesImages(const Graph& graph, const DatasetOptions& options,
                              const std::string& what);

} // namespace qs
