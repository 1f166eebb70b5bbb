// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/image_preprocess_json.h"

#include "engine/configure/keys/key_table.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace qs {

namespace {

using Filter = ImagePreprocess::Filter;
using Channels = ImagePreprocess::Channels;

template<class T>
using Words = std::initializer_list<std::pair<const char*, T>>;

constexpr Words<Filter> kFilters {{"nearest", Filter::Nearest},
                                  {"bilinear", Filter::Bilinear},
                                  {"bicubic", Filter::Bicubic},
                                  {"lanczos", Filter::Lanczos}};
constexpr Words<Channels> kChannels {
    {"rgb", Channels::Rgb}, {"bgr", Channels::Bgr}, {"gray", Channels::Gray}};
constexpr Words<bool> kLayouts {{"nchw", false}, {"nhwc", true}};
constexpr std::int64_t kLargestSide = 1 << 15;

template<class T>
Result<T> readWord(const JsonPlace& place, const Words<T>& words)
{
    QS_TRY(const std::string given, place.string());
    std::string known;
    for (const auto& [word, value] : words) {
        if (given == word)
            return value;
        known += (known.empty() ? "" : ", ") + std::string(word);
    }
    return place.error("'" + given + "' is not known", "use one of: " + known);
}

template<class T>
const char* wordOf(T value, const Words<T>& words)
{
    for (const auto& [word, known] : words)
        if (known == value)
            return word;
    return "";
}

Result<int> readSide(const JsonPlace& place)
{
    QS_TRY(const std::int64_t side, place.integer());
    if (side < 1 || side > kLargestSide)
        return place.error("must be a size from 1 to " + std::to_string(kLargestSide));
    return int(side);
}

// One number, or [height, width].
Result<std::vector<int>> readSize(const JsonPlace& place)
{
    if (!place.value().is_array()) {
        QS_TRY(const int side, readSide(place));
        return std::vector {side};
    }
    if (place.value().size() != 2)
        return place.error("must be one number or [height, width]");
    QS_TRY(const int height, readSide(place.item(0)));
    QS_TRY(const int width, readSide(place.item(1)));
    return std::vector {height, width};
}

// One number, or one a channel.
Result<std::vector<float>> readChannelValues(const JsonPlace& place, bool isDivisor)
{
    const bool many = place.value().is_array();
    const std::size_t count = many ? place.value().size() : 1;
    if (count != 1 && count != 3)
        return place.error("must be one number or one for each channel");
    std::vector<float> out;
    for (std::size_t i = 0; i < count; ++i) {
        const JsonPlace item = many ? place.item(i) : place;
        QS_TRY(const double value, item.number());
        if (isDivisor && float(value) <= 0)
            return item.error("must be greater than 0");
        out.push_back(float(value));
    }
    return out;
}

} // namespace

Result<ImagePreprocess> readImagePreprocess(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "calibration.preprocess").keys()));
    ImagePreprocess out;
    if (place.has("resize")) {
        QS_TRY(out.resize, readSize(place.key("resize")));
    }
    if (place.has("crop")) {
        QS_TRY(out.crop, readSize(place.key("crop")));
        if (out.crop.size() == 1)
            out.crop.push_back(out.crop[0]);
    }
    if (place.has("interpolation")) {
        QS_TRY(out.filter, readWord(place.key("interpolation"), kFilters));
    }
    if (place.has("channels")) {
        QS_TRY(out.channels, readWord(place.key("channels"), kChannels));
    }
    if (place.has("mean")) {
        QS_TRY(out.mean, readChannelValues(place.key("mean"), false));
    }
    if (place.has("std")) {
        QS_TRY(out.std, readChannelValues(place.key("std"), true));
    }
    if (place.has("layout")) {
        QS_TRY(out.channelsLast, readWord(place.key("layout"), kLayouts));
    }
    return out;
}

Json imagePreprocessToJson(const ImagePreprocess& preprocess)
{
    Json out = Json::object();
    if (preprocess.resize.size() == 1)
        out["resize"] = preprocess.resize[0];
    else if (!preprocess.resize.empty())
        out["resize"] = preprocess.resize;
    if (!preprocess.crop.empty())
        out["crop"] = preprocess.crop;
    out["interpolation"] = wordOf(preprocess.filter, kFilters);
    if (preprocess.channels != Channels::Auto)
        out["channels"] = wordOf(preprocess.channels, kChannels);
    if (!preprocess.mean.empty())
        out["mean"] = preprocess.mean;
    if (!preprocess.std.empty())
        out["std"] = preprocess.std;
    out["layout"] = wordOf(preprocess.channelsLast, kLayouts);
    return out;
}

} // namespace qs
