// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/images/image.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using Filter = ImagePreprocess::Filter;

/// As in Pillow: weights have 22 fractional bits.
constexpr int kPrecisionBits = 32 - 8 - 2;

double supportOf(Filter filter)
{
    return filter == Filter::Lanczos ? 3.0 : filter == Filter::Bicubic ? 2.0 : 1.0;
}

double sinc(double x)
{
    if (x == 0.0)
        return 1.0;
    x *= M_PI;
    return std::sin(x) / x;
}

double weightAt(Filter filter, double x)
{
    const double distance = std::abs(x);
    switch (filter) {
    case Filter::Bicubic: {
        constexpr double a = -0.5;
        if (distance < 1.0)
            return ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1;
        return distance < 2.0 ? (((distance - 5) * distance + 8) * distance - 4) * a : 0.0;
    }
    case Filter::Lanczos:
        return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
    default:
        return distance < 1.0 ? 1.0 - distance : 0.0;
    }
}

/// The first source pixel of one result pixel, and the weights of the source pixels.
struct Taps
{
    int first = 0;
    std::vector<int> weights;
};

std::vector<Taps> tapsOf(int from, int to, Filter filter)
{
    const double scale = double(from) / to;
    const double widening = std::max(scale, 1.0); // antialiases when downscaling
    const double support = supportOf(filter) * widening;
    std::vector<Taps> out;
    std::vector<double> weights;
    for (int i = 0; i < to; ++i) {
        const double center = (i + 0.5) * scale;
        const int first = std::max(int(std::floor(center - support + 0.5)), 0);
        const int end = std::min(int(std::floor(center + support + 0.5)), from);
        weights.clear();
        double sum = 0;
        for (int k = first; k < end; ++k) {
            weights.push_back(weightAt(filter, (k - center + 0.5) * (1.0 / widening)));
            sum += weights.back();
        }
        Taps taps {first, {}};
        for (double weight : weights) {
            if (sum != 0.0)
                weight /= sum;
            const double fixed = weight * (1 << kPrecisionBits);
            taps.weights.push_back(int(weight < 0 ? fixed - 0.5 : fixed + 0.5));
        }
        out.push_back(std::move(taps));
    }
    return out;
}

std::uint8_t rounded(int sum)
{
    return std::uint8_t(std::clamp(sum >> kPrecisionBits, 0, 255));
}

Image alongRows(const Image& image, int width, Filter filter)
{
    const auto taps = tapsOf(image.width, width, filter);
    Image out {image.height, width, image.channels, {}};
    out.pixels.resize(std::size_t(out.height) * std::size_t(width) * std::size_t(out.channels));
    const int step = image.channels;
    for (int y = 0; y < out.height; ++y) {
        std::uint8_t* target = out.row(y);
        for (const Taps& tap : taps)
            for (int c = 0; c < step; ++c) {
                const std::uint8_t* source = image.row(y) + std::ptrdiff_t(tap.first) * step + c;
                int sum = 1 << (kPrecisionBits - 1);
                for (const int weight : tap.weights) {
                    sum += *source * weight;
                    source += step;
                }
                *target++ = rounded(sum);
            }
    }
    return out;
}

Image alongColumns(const Image& image, int height, Filter filter)
{
    const auto taps = tapsOf(image.height, height, filter);
    Image out {height, image.width, image.channels, {}};
    const int rowBytes = image.width * image.channels;
    out.pixels.resize(std::size_t(height) * std::size_t(rowBytes));
    std::vector<int> sums;
    for (int y = 0; y < height; ++y) {
        const Taps& tap = taps[std::size_t(y)];
        sums.assign(std::size_t(rowBytes), 1 << (kPrecisionBits - 1));
        for (std::size_t k = 0; k < tap.weights.size(); ++k) {
            const std::uint8_t* source = image.row(tap.first + int(k));
            for (std::size_t x = 0; x < sums.size(); ++x)
                sums[x] += source[x] * tap.weights[k];
        }
        std::transform(sums.begin(), sums.end(), out.row(y), rounded);
    }
    return out;
}

Image nearest(const Image& image, ImageSize size)
{
    Image out {size.height, size.width, image.channels, {}};
    const auto step = std::size_t(image.channels);
    out.pixels.resize(std::size_t(size.height) * std::size_t(size.width) * step);
    // Accumulated as in Pillow, for identical rounding.
    const double stepX = double(image.width) / size.width;
    const double stepY = double(image.height) / size.height;
    double atY = stepY * 0.5;
    for (int y = 0; y < size.height; ++y, atY += stepY) {
        const std::uint8_t* source = image.row(std::min(int(atY), image.height - 1));
        std::uint8_t* target = out.row(y);
        double atX = stepX * 0.5;
        for (int x = 0; x < size.width; ++x, atX += stepX, target += step)
            std::copy_n(source + std::size_t(std::min(int(atX), image.width - 1)) * step, step,
                        target);
    }
    return out;
}

// Python's round() of half an integer: ties round to even.
int roundedHalf(int value)
{
    const int low = value >> 1;
    return value % 2 == 0 ? low : low + (low & 1);
}

} // namespace

Image toGray(const Image& image)
{
    Image out {image.height, image.width, 1, {}};
    out.pixels.reserve(image.pixels.size() / 3);
    for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3)
        out.pixels.push_back(std::uint8_t((image.pixels[i] * 19595U + image.pixels[i + 1] * 38470U
                                           + image.pixels[i + 2] * 7471U + 0x8000U)
                                          >> 16));
    return out;
}

Image resized(const Image& image, ImageSize size, Filter filter)
{
    if (size == ImageSize {image.height, image.width})
        return image;
    if (filter == Filter::Nearest)
        return nearest(image, size);
    const Image rows = size.width == image.width ? image : alongRows(image, size.width, filter);
    return size.height == image.height ? rows : alongColumns(rows, size.height, filter);
}

Image centerCropped(const Image& image, ImageSize size)
{
    Image out {size.height, size.width, image.channels, {}};
    const int step = image.channels;
    out.pixels.resize(std::size_t(size.height) * std::size_t(size.width) * std::size_t(step));
    // Small images are padded first; the smaller half of the padding precedes the image.
    const int padTop = std::max(size.height - image.height, 0) / 2;
    const int padLeft = std::max(size.width - image.width, 0) / 2;
    const int top = roundedHalf(std::max(image.height - size.height, 0));
    const int left = roundedHalf(std::max(image.width - size.width, 0));
    const int height = std::min(image.height, size.height);
    const int width = std::min(image.width, size.width);
    for (int y = 0; y < height; ++y)
        std::copy_n(image.row(top + y) + std::ptrdiff_t(left) * step, width * step,
                    out.row(padTop + y) + std::ptrdiff_t(padLeft) * step);
    return out;
}

ImageSize sizeAfterResize(ImageSize image, const ImagePreprocess& preprocess)
{
    if (preprocess.resize.size() == 2)
        return {preprocess.resize[0], preprocess.resize[1]};
    if (preprocess.resize.empty())
        return image;
    const int side = preprocess.resize[0];
    const auto longer = [&](int length, int shorter) {
        return std::max(int(double(std::int64_t(side) * length) / shorter), 1);
    };
    if (image.width <= image.height)
        return {longer(image.height, image.width), side};
    return {side, longer(image.width, image.height)};
}

ImageSize sizeAfterCrop(ImageSize image, const ImagePreprocess& preprocess)
{
    if (preprocess.crop.empty())
        return image;
    return {preprocess.crop[0], preprocess.crop[1]};
}

} // namespace qs
