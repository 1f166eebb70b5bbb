// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/image_preprocess.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace qs {

/// Pixels with 8 bits per channel, row by row, channels interleaved.
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

/// Decodes a PNG, JPEG, BMP, PPM or PGM as RGB; ignores transparency. The error (BadInput) names
/// the file.
Result<Image> readImage(const std::string& path);
/// Reads an image's size from its header.
Result<ImageSize> readImageSize(const std::string& path);
/// The same for an image that begins where the stream does. `path` names it in errors.
Result<Image> readImage(std::istream& image, const std::string& path);
Result<ImageSize> readImageSize(std::istream& image, const std::string& path);

/// Converts to one channel of luma, as Pillow's convert("L").
Image toGray(const Image& image);
/// Resizes bit-identically to Pillow: fixed-point weights, first along rows, then along columns.
Image resized(const Image& image, ImageSize size, ImagePreprocess::Filter filter);
/// Returns the centre of the image; pads a smaller image with black (torchvision's center_crop).
Image centerCropped(const Image& image, ImageSize size);

/// Return the size of an image of this size after resizing and cropping.
ImageSize sizeAfterResize(ImageSize image, const ImagePreprocess& preprocess);
ImageSize sizeAfterCrop(ImageSize image, const ImagePreprocess& preprocess);

} // namespace qs
