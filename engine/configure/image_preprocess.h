// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace qs {

/// How an image becomes a model's input, in the words and with the results of torchvision's
/// transforms: resize, centre crop, to [0, 1], minus mean, divided by std.
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
        Auto, ///< grey where the model takes one channel, else rgb
        Rgb,
        Bgr,
        Gray
    };

    std::vector<int> resize; ///< empty: none; one size: the shorter side; two: height, width
    std::vector<int> crop; ///< empty: none; height, width
    Filter filter = Filter::Bilinear; ///< averages when it makes smaller, as Pillow does
    Channels channels = Channels::Auto;
    std::vector<float> mean, std; ///< empty, one for all channels, or one a channel
    bool channelsLast = false; ///< layout "nhwc"
    friend bool operator==(const ImagePreprocess&, const ImagePreprocess&) = default;
};

} // namespace qs
