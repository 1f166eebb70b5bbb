// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/calibration_json.h"

#include "engine/base/json/json_fields.h"
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

template<const auto& words>
auto readWord(const JsonPlace& place) -> Result<decltype(words.begin()->second)>
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

template<const auto& words>
Json wordOf(decltype(words.begin()->second) value)
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

Result<std::vector<int>> readCrop(const JsonPlace& place)
{
    QS_TRY(const std::vector<int> sides, readSize(place));
    return std::vector {sides.front(), sides.back()};
}

Json sizeToJson(const std::vector<int>& sides)
{
    return sides.size() == 1 ? Json(sides[0]) : Json(sides);
}

// One number, or one per channel.
template<bool isDivisor>
Result<std::vector<float>> readChannelValues(const JsonPlace& place)
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

using Preprocess = ImagePreprocess;
constexpr std::array kPreprocessFields {
    jsonField<&Preprocess::resize, readSize, sizeToJson>("resize"),
    jsonField<&Preprocess::crop, readCrop>("crop"),
    jsonField<&Preprocess::filter, readWord<kFilters>, wordOf<kFilters>>("interpolation", true),
    jsonField<&Preprocess::channels, readWord<kChannels>, wordOf<kChannels>>("channels"),
    jsonField<&Preprocess::mean, readChannelValues<false>>("mean"),
    jsonField<&Preprocess::std, readChannelValues<true>>("std"),
    jsonField<&Preprocess::channelsLast, readWord<kLayouts>, wordOf<kLayouts>>("layout", true)};

Result<ImagePreprocess> readPreprocess(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "calibration.preprocess").keys()));
    return readFields(place, kPreprocessFields);
}

} // namespace

Json imagePreprocessToJson(const ImagePreprocess& preprocess)
{
    return fieldsToJson(kPreprocessFields, preprocess);
}

namespace {

template<int least>
Result<int> readCount(const JsonPlace& place)
{
    constexpr std::int64_t kMost = 1000000000;
    QS_TRY(const std::int64_t count, place.integer());
    if (count < least)
        return place.error("must be at least " + std::to_string(least));
    if (count > kMost)
        return place.error("must be at most " + std::to_string(kMost));
    return int(count);
}

using Calibrating = CalibrationSettings;
constexpr std::array kCalibrationFields {
    jsonField<&Calibrating::batchSize, readCount<1>>("batch_size", true),
    jsonField<&Calibrating::batches, readCount<0>>("batches", true),
    jsonField<&Calibrating::isSequence>("sequence"),
    jsonField<&Calibrating::preprocess, readPreprocess, imagePreprocessToJson>("preprocess")};

} // namespace

Result<CalibrationSettings> readCalibration(const JsonPlace& place)
{
    QS_CHECK(place.object(keyTable("recipe", "calibration").keys()));
    return readFields(place, kCalibrationFields);
}

Json calibrationToJson(const CalibrationSettings& settings)
{
    return fieldsToJson(kCalibrationFields, settings);
}

} // namespace qs
