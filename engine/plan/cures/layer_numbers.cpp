// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/cures/layer_numbers.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace qs {

namespace {

std::string arrayName(const std::string& layer, const char* part)
{
    return layer + "/" + part;
}

/// Moves the array of that name out of the list; empty without one.
std::optional<NpyArray> takeArray(std::vector<NpyArray>& arrays, const std::string& name)
{
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const NpyArray& array) { return array.name == name; });
    return found == arrays.end() ? std::nullopt : std::optional(std::move(*found));
}

Result<void> checkFinite(const std::string& file, const NpyArray& array)
{
    for (std::size_t at = 0; at + sizeof(float) <= array.bytes.size(); at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, array.bytes.data() + at, sizeof value);
        if (!std::isfinite(value))
            return fail(makeError(ErrorCode::BadInput,
                                  "the array " + inQuotes(array.name) + " holds NaN or infinity")
                            .inFile(file));
    }
    return {};
}

Result<void> checkArray(const std::string& file, const NpyArray& array,
                        const std::vector<DType>& types)
{
    if (std::find(types.begin(), types.end(), array.dtype) != types.end())
        return array.dtype == DType::Float32 ? checkFinite(file, array) : Result<void>();
    return fail(makeError(ErrorCode::BadInput,
                          "the array " + inQuotes(array.name) + " is of type "
                              + std::string(dtypeName(array.dtype)) + ", not "
                              + std::string(dtypeName(types.front())))
                    .inFile(file));
}

} // namespace

Result<std::vector<LayerNumbers>> readLayerNumbers(const std::string& file,
                                                   const std::vector<std::string>& layers)
{
    QS_TRY(NpzContent content, readNpz(file));
    std::vector<LayerNumbers> out;
    for (const std::string& layer : layers) {
        LayerNumbers& numbers = out.emplace_back();
        numbers.steps = takeArray(content.arrays, arrayName(layer, kStepsArray));
        numbers.scales = takeArray(content.arrays, arrayName(layer, kScalesArray));
        numbers.shift = takeArray(content.arrays, arrayName(layer, kShiftArray));
        if (numbers.steps.has_value() != numbers.scales.has_value()
            || (!numbers.steps && !numbers.shift))
            return fail(makeError(ErrorCode::BadInput, "it has no numbers for " + inQuotes(layer))
                            .inFile(file));
        if (numbers.steps) {
            QS_CHECK(checkArray(file, *numbers.steps, {DType::Int8, DType::Int16}));
            QS_CHECK(checkArray(file, *numbers.scales, {DType::Float32}));
        }
        if (numbers.shift)
            QS_CHECK(checkArray(file, *numbers.shift, {DType::Float32}));
    }
    return out;
}

std::vector<NpyArray> layerArrays(const std::string& layer, const LayerNumbers& numbers)
{
    std::vector<NpyArray> arrays;
    const auto add = [&](const std::optional<NpyArray>& array, const char* part) {
        if (array) {
            arrays.push_back(*array);
            arrays.back().name = arrayName(layer, part);
        }
    };
    add(numbers.steps, kStepsArray);
    add(numbers.scales, kScalesArray);
    add(numbers.shift, kShiftArray);
    return arrays;
}

} // namespace qs
