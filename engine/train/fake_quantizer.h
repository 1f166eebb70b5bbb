// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/calibrate/observations.h"
#include "engine/convert/insert_qdq.h"
#include "engine/convert/qparams.h"
#include "engine/graph/given_observations.h"
#include "engine/plan/plan.h"

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

namespace qs {

/// A calibration from whose ranges a training starts; empty: none. Borrows both.
struct StartRanges
{
    const Observations* observations = nullptr;
    const QParamsTable* qparams = nullptr; ///< that follow from them
    explicit operator bool() const { return observations != nullptr; }
};

/// How a fake quantizer gets its scale and zero point.
enum class ScaleSource : std::uint8_t
{
    None, ///< does not round: placeholders, dynamic observers, types of floats
    Fixed, ///< fixed parameters, or those of a calibration
    Current, ///< a weight with a plain observer: the extremes of the weight as it is now
    Running, ///< torch.ao's FakeQuantize: observed, then computed as by the observer
    Fused, ///< torch.ao's FusedMovingAvgObsFakeQuantize, with its kernel
    Learned ///< a trained scale (LSQ: Esser et al., "Learned Step Size Quantization", 2020)
};

/// Rounds one value to integers and back during training, with the gradient of torch.ao's
/// fake-quantize modules: that of the identity where the value is within the range, else zero.
/// Shared by all values that share the observer. One thread at a time. Functions may throw
/// LibTorch's exceptions: call under guardTorch.
class FakeQuantizer
{
public:
    /// Without a start the first batch gives the range, as in torch.ao's prepare. `learns`: the
    /// scale is trained, from the start's. Errors: the observer needs statistics to start from
    /// (`needsCalibration`).
    static Result<FakeQuantizer> create(const PlannedObserver& planned, const StartRanges& start,
                                        bool learns, const at::Device& device);

    /// The value rounded. `observes`: update the range from it first. `saturation`: as in
    /// torch.ao's modules (Observer), or as in a converted model (Storage).
    at::Tensor apply(const at::Tensor& x, bool observes, Saturation saturation);
    /// The trained scale; undefined if it is not trained.
    const at::Tensor& learnedScale() const { return m_learned; }

    /// All that changes in training, to copy it and to put it back.
    std::vector<at::Tensor> state() const;
    void setState(const std::vector<at::Tensor>& state);

    /// The range for the trained model, `observes`: whether a conversion observes the weight once
    /// more, as torch.ao does unless its observer was disabled; with `spec`'s integers; `readers`
    /// and `value` are empty. Nothing if it was never observed, or if conversion computes it from
    /// the weight itself.
    std::optional<GivenObservation> range(bool observes) const;

private:
    FakeQuantizer(const PlannedObserver& planned, ScaleSource source, const at::Device& device);
    at::Tensor fused(const at::Tensor& x, bool observes);
    void observe(const at::Tensor& x, bool starts);
    void setScale();
    void setParameters(const QParams& qparams);
    at::Tensor rounded(const at::Tensor& x, const at::Tensor& scale, const QuantRange& range) const;

    ObserverSpec m_spec;
    bool m_isWeight = false;
    ScaleSource m_source;
    QuantRange m_range, m_stored; ///< integers of the observer and of the type
    at::Tensor m_min, m_max; ///< float32: [], or [channels]; empty = never observed
    at::Tensor m_scale, m_zeroPoint;
    at::Tensor m_learned;
};

/// Whether the observer needs statistics of a calibration before training
/// (`FakeQuantizer::create`).
bool needsCalibration(const PlannedObserver& planned, bool learns);

} // namespace qs
