// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// torch.ao's observer classes, in the words of a recipe.
enum class ObserverKind : std::uint8_t
{
    MinMax, ///< "minmax": MinMaxObserver
    MovingAverageMinMax, ///< "moving_average_minmax"
    PerChannelMinMax, ///< "per_channel_minmax"
    MovingAveragePerChannelMinMax, ///< "moving_average_per_channel_minmax"
    Histogram, ///< "histogram": HistogramObserver
    FixedQParams, ///< "fixed_qparams"
    Placeholder, ///< "placeholder": says a dtype, sees nothing
    ReuseInput ///< "reuse_input": ReuseInputObserver
};
std::string_view observerKindName(ObserverKind kind);
std::optional<ObserverKind> observerKindFromName(std::string_view name);

enum class QScheme : std::uint8_t
{
    PerTensorAffine,
    PerTensorSymmetric,
    PerChannelAffine,
    PerChannelSymmetric,
    PerChannelAffineFloatQParams
};
std::string_view qschemeName(QScheme scheme);
std::optional<QScheme> qschemeFromName(std::string_view name);
bool isPerChannel(QScheme scheme);
bool isSymmetric(QScheme scheme);

/// How one value is observed: torch.ao's constructor arguments with its defaults. A value type.
struct ObserverSpec
{
    ObserverKind kind = ObserverKind::MinMax;
    DType dtype = DType::QUInt8;
    QScheme qscheme = QScheme::PerTensorAffine;
    std::optional<std::int64_t> quantMin; ///< both or neither
    std::optional<std::int64_t> quantMax;
    bool reduceRange = false;
    double eps = 1.1920928955078125e-07; ///< smallest scale: float32's epsilon, 2^-23
    int chAxis = 0;
    double averagingConstant = 0.01; ///< moving average observers
    int bins = 2048; ///< histogram
    double scale = 1; ///< fixed_qparams
    std::int64_t zeroPoint = 0; ///< fixed_qparams
    bool isDynamic = false;
    friend bool operator==(const ObserverSpec&, const ObserverSpec&) = default;
};

/// The integer range a spec quantizes to: its own, or the dtype's (torch.ao `calculate_qmin_qmax`,
/// with reduce_range).
struct QuantRange
{
    std::int64_t min = 0;
    std::int64_t max = 255;
    friend bool operator==(const QuantRange&, const QuantRange&) = default;
};
QuantRange quantRange(const ObserverSpec& spec);

/// True when a value under this spec is really quantized to integers (not float16/float32
/// placeholders).
bool isIntegerDType(DType dtype);

} // namespace qs
