// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// torch.ao's observer classes, with their names in recipes.
enum class ObserverKind : std::uint8_t
{
    MinMax, ///< "minmax": MinMaxObserver
    MovingAverageMinMax, ///< "moving_average_minmax"
    PerChannelMinMax, ///< "per_channel_minmax"
    MovingAveragePerChannelMinMax, ///< "moving_average_per_channel_minmax"
    Histogram, ///< "histogram": HistogramObserver
    FixedQParams, ///< "fixed_qparams"
    Placeholder, ///< "placeholder": specifies a dtype, observes nothing
    ReuseInput, ///< "reuse_input": ReuseInputObserver
    Noop, ///< "noop": like a placeholder; torch.ao's default dtype is float16
    Recording, ///< "recording": keeps values for inspection, never chooses a scale
    Identity ///< "identity": torch.nn.Identity in place of an observer
};
std::string_view observerKindName(ObserverKind kind);
std::optional<ObserverKind> observerKindFromName(std::string_view name);
std::vector<std::string> observerKindNames();
/// True for observers that choose a scale and a zero point. The others specify at most a dtype:
/// with them, an integer dtype is possible only in dynamic quantization.
bool choosesQParams(ObserverKind kind);
/// True for observers whose range is a moving average of the batches' ranges.
bool isMovingAverage(ObserverKind kind);

/// torch.ao's fake-quantize modules: they contain an observer and simulate its rounding in
/// training.
enum class FakeQuantize : std::uint8_t
{
    None, ///< a plain observer
    Plain, ///< "fake_quantize": FakeQuantize, any observer inside
    FixedQParams, ///< "fixed_qparams_fake_quantize"; inside: fixed_qparams
    FusedMovingAverage, ///< "fused_moving_avg_obs_fake_quantize"; inside: a moving average observer
    Learnable ///< "learnable_fake_quantize": _LearnableFakeQuantize, any observer inside
};
std::string_view fakeQuantizeName(FakeQuantize kind); ///< "" for None
std::optional<FakeQuantize> fakeQuantizeFromName(std::string_view name);
std::vector<std::string> fakeQuantizeNames();

/// How a histogram observer derives the quantization range from its counts.
enum class RangeMethod : std::uint8_t
{
    Search, ///< "search": torch.ao's `HistogramObserver._non_linear_param_search`
    MinMax, ///< "minmax": the full observed range
    Percentile, ///< "percentile": the central percentage of the values
    Entropy, ///< "entropy": minimal Kullback-Leibler divergence
    Mse ///< "mse": minimal expected squared error
};
std::string_view rangeMethodName(RangeMethod method);
std::optional<RangeMethod> rangeMethodFromName(std::string_view name);
std::vector<std::string> rangeMethodNames();

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

/// How one value is observed: torch.ao's constructor arguments with its defaults. A fake-quantize
/// is described by the observer inside it, which is what calibration uses. A value type.
struct ObserverSpec
{
    ObserverKind kind = ObserverKind::MinMax;
    FakeQuantize fakeQuantize = FakeQuantize::None;
    DType dtype = DType::QUInt8;
    QScheme qscheme = QScheme::PerTensorAffine;
    std::optional<std::int64_t> quantMin; ///< both or neither
    std::optional<std::int64_t> quantMax;
    bool reduceRange = false;
    double eps = 1.1920928955078125e-07; ///< smallest scale: float32's epsilon, 2^-23
    int chAxis = 0;
    /// Per-channel observers: number of consecutive values of a row that share a scale and a zero
    /// point; 0 = the whole row. Weights of linears only. Not in torch.ao's observers: the
    /// parameters are those of `quantized_decomposed.quantize_per_channel_group`.
    int groupSize = 0;
    double averagingConstant = 0.01; ///< moving average observers
    int bins = 2048; ///< histogram
    RangeMethod range = RangeMethod::Search; ///< histogram
    double percentile
        = 99.99; ///< histogram with RangeMethod::Percentile: percent kept, in (0, 100]
    double scale = 1; ///< fixed_qparams
    std::int64_t zeroPoint = 0; ///< fixed_qparams
    bool isDynamic = false;
    std::string customOpName; ///< placeholder, noop: a name for graph passes; kept, not used
    std::optional<DType> computeDType; ///< placeholder: torch.ao only warns about it; kept
    friend bool operator==(const ObserverSpec&, const ObserverSpec&) = default;
};

/// The integer range of a spec: its own, or the dtype's (torch.ao `calculate_qmin_qmax`, with
/// reduce_range).
struct QuantRange
{
    std::int64_t min = 0;
    std::int64_t max = 255;
    friend bool operator==(const QuantRange&, const QuantRange&) = default;
};
QuantRange quantRange(const ObserverSpec& spec);

/// True for weights that Quantscope adds to torch.ao's backends for linears: quantized in groups,
/// or stored as plain int8 or uint8.
bool isPlainWeight(const ObserverSpec& weight);

/// True for dtypes that quantize to integers (not the float16 and float32 of placeholders).
bool isIntegerDType(DType dtype);

} // namespace qs
