// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace qs {

/// How an image becomes a model's input. Terms and results are those of torchvision's transforms:
/// resize, centre crop, scale to [0, 1], subtract mean, divide by std.
struct ImagePreprocess
{
    enum class Filter
    {
        Nearest,
        Bilinear,
        Bicubic,
        Lanczos
    };
    enum class Channels
    {
        Auto, ///< grey if the model takes one channel, else rgb
        Rgb,
        Bgr,
        Gray
    };

    std::vector<int> resize; ///< empty: none; one size: the shorter side; two: height, width
    std::vector<int> crop; ///< empty: none; height, width
    Filter filter = Filter::Bilinear; ///< antialiased when downscaling, as in Pillow
    Channels channels = Channels::Auto;
    std::vector<float> mean, std; ///< empty, one for all channels, or one per channel
    bool channelsLast = false; ///< layout "nhwc"
    friend bool operator==(const ImagePreprocess&, const ImagePreprocess&) = default;
};

} // namespace qs
