// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/image_preprocess.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// Pixels of 8 bits a channel, row by row, the channels of a pixel together.
struct Image
{
    int height = 0, width = 0, channels = 3;
    std::vector<std::uint8_t> pixels;

    const std::uint8_t* row(int y) const
    {
        return pixels.data() + std::size_t(y) * std::size_t(width) * std::size_t(channels);
    }
    std::uint8_t* row(int y)
    {
        return pixels.data() + std::size_t(y) * std::size_t(width) * std::size_t(channels);
    }
};

struct ImageSize
{
    int height = 0, width = 0;
    friend bool operator==(const ImageSize&, const ImageSize&) = default;
    std::string text() const { return std::to_string(height) + " x " + std::to_string(width); }
};

/// Decodes a PNG, JPEG, BMP, PPM or PGM as RGB; transparency is dropped. The error (BadInput) names
/// the file.
Result<Image> readImage(const std::string& path);
/// Its size, from the header alone.
Result<ImageSize> readImageSize(const std::string& path);

/// Luma as Pillow's convert("L") computes it: one channel.
Image toGray(const Image& image);
/// Pillow's resize, to the bit: fixed-point weights, first along rows, then along columns.
Image resized(const Image& image, ImageSize size, ImagePreprocess::Filter filter);
/// The middle of the image; black around an image that is smaller (torchvision's center_crop).
Image centerCropped(const Image& image, ImageSize size);

/// The size that resizing and cropping give an image of this size.
ImageSize sizeAfterResize(ImageSize image, const ImagePreprocess& preprocess);
ImageSize sizeAfterCrop(ImageSize image, const ImagePreprocess& preprocess);

} // namespace qs
