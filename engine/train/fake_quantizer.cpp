// SPDX-License-Identifier: Apache-2.0
#include "engine/train/fake_quantizer.h"

#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/execute/value_conversion.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr double kNoEps = 1e-38; ///< lower than any scale that was in use

bool isOfExtremes(const ObserverSpec& spec)
{
    return isMovingAverage(spec.kind) || spec.kind == ObserverKind::MinMax
        || spec.kind == ObserverKind::PerChannelMinMax;
}

ScaleSource sourceOf(const PlannedObserver& planned, bool learns)
{
    const ObserverSpec& spec = planned.spec;
    const bool isDynamic = spec.isDynamic && spec.fakeQuantize == FakeQuantize::None;
    if (!choosesQParams(spec.kind) || !isIntegerDType(spec.dtype) || isDynamic)
        return ScaleSource::None;
    if (spec.kind == ObserverKind::FixedQParams)
        return ScaleSource::Fixed;
    if ((learns || spec.fakeQuantize == FakeQuantize::Learnable)
        && spec.qscheme != QScheme::PerChannelAffineFloatQParams && !spec.isDynamic)
        return ScaleSource::Learned;
    if (!isOfExtremes(spec))
        return ScaleSource::Fixed;
    if (spec.fakeQuantize == FakeQuantize::FusedMovingAverage)
        return ScaleSource::Fused;
    if (spec.fakeQuantize != FakeQuantize::None)
        return ScaleSource::Running;
    return planned.isWeight ? ScaleSource::Current : ScaleSource::Fixed;
}

at::Tensor vectorOf(const std::vector<float>& values, const at::Device& device)
{
    return at::tensor(values, at::kFloat).to(device);
}

} // namespace

bool needsCalibration(const PlannedObserver& planned, bool learns)
{
    const ScaleSource source = sourceOf(planned, learns);
    return source == ScaleSource::Learned
        || (source == ScaleSource::Fixed && planned.spec.kind != ObserverKind::FixedQParams);
}

FakeQuantizer::FakeQuantizer(const PlannedObserver& planned, ScaleSource source,
                             const at::Device& device)
    : m_spec(planned.spec)
    , m_isWeight(planned.isWeight)
    , m_source(source)
{
    m_range = quantRange(m_spec);
    const DType stored = storageDType(m_spec.dtype);
    m_stored = stored == DType::Unknown || m_spec.groupSize > 0 ? m_range : storageRange(stored);
    const at::TensorOptions floats = at::TensorOptions(at::kFloat).device(device);
    m_min = isPerChannel(m_spec.qscheme)
        ? at::empty({0}, floats)
        : at::full({}, std::numeric_limits<float>::infinity(), floats);
    m_max = -m_min;
    m_scale = at::ones({1}, floats);
    m_zeroPoint = at::zeros({1}, floats.dtype(at::kInt));
}

Result<FakeQuantizer> FakeQuantizer::create(const PlannedObserver& planned,
                                            const StartRanges& start, bool learns,
                                            const at::Device& device)
{
    FakeQuantizer made(planned, sourceOf(planned, learns), device);
    const ObserverStats* seen = start ? start.observations->tryGet(planned.id) : nullptr;
    const bool isKnown = seen && seen->everRan();
    if (made.m_source == ScaleSource::None || made.m_source == ScaleSource::Current)
        return made;
    if (planned.spec.kind == ObserverKind::FixedQParams) {
        ObserverStats fixed;
        fixed.spec = planned.spec;
        made.setParameters(chooseQParams(fixed));
        return made;
    }
    if (isKnown) {
        const auto chosen = start.qparams->find(planned.id);
        made.setParameters(chosen == start.qparams->end() ? chooseQParams(*seen) : chosen->second);
        if (isOfExtremes(planned.spec)) {
            const bool isEach = isPerChannel(planned.spec.qscheme);
            made.m_min = isEach ? vectorOf(seen->channelMin, device)
                                : at::full_like(made.m_min, seen->min);
            made.m_max = isEach ? vectorOf(seen->channelMax, device)
                                : at::full_like(made.m_max, seen->max);
        }
    } else if (made.m_source == ScaleSource::Fixed || made.m_source == ScaleSource::Learned) {
        return fail(ErrorCode::BadInput, "its range needs a calibration before training");
    }
    if (made.m_source == ScaleSource::Learned)
        made.m_learned = made.m_scale.clone().set_requires_grad(true);
    return made;
}

void FakeQuantizer::setParameters(const QParams& qparams)
{
    m_scale = vectorOf(qparams.scale, m_min.device());
    if (!qparams.floatZeroPoint.empty())
        m_zeroPoint = vectorOf(qparams.floatZeroPoint, m_min.device());
    else
        m_zeroPoint = at::tensor(qparams.zeroPoint, at::kLong).to(m_min.device(), at::kInt);
}

/// Extends or averages the range by the value's extremes, as torch.ao's observers do.
void FakeQuantizer::observe(const at::Tensor& x, bool starts)
{
    const at::Tensor seen = x.detach().to(at::kFloat);
    if (seen.numel() == 0)
        return;
    const bool isEach = isPerChannel(m_spec.qscheme);
    at::Tensor low, high;
    if (m_spec.groupSize > 0) {
        std::tie(low, high) = at::aminmax(seen.reshape({-1, m_spec.groupSize}), 1);
    } else if (isEach) {
        const at::Tensor rows = seen.movedim(m_spec.chAxis, 0).flatten(1);
        std::tie(low, high) = at::aminmax(rows, 1);
    } else {
        std::tie(low, high) = at::aminmax(seen);
    }
    const bool isFirst = starts || m_min.numel() == 0 || !at::isfinite(m_min).all().item<bool>();
    if (isFirst) {
        m_min = low.clone();
        m_max = high.clone();
    } else if (isMovingAverage(m_spec.kind)) {
        m_min = m_min + m_spec.averagingConstant * (low - m_min);
        m_max = m_max + m_spec.averagingConstant * (high - m_max);
    } else {
        m_min = at::minimum(m_min, low);
        m_max = at::maximum(m_max, high);
    }
    setScale();
}

void FakeQuantizer::setScale()
{
    setParameters(qparamsFromRange(m_spec, floatsOf(m_min), floatsOf(m_max)));
}

at::Tensor FakeQuantizer::rounded(const at::Tensor& x, const at::Tensor& scale,
                                  const QuantRange& range) const
{
    const bool learns = m_source == ScaleSource::Learned;
    // torch.ao's _LearnableFakeQuantize with use_grad_scaling.
    const double factor = learns ? 1 / std::sqrt(double(x.numel()) * double(m_range.max)) : 1;
    if (!isPerChannel(m_spec.qscheme)) {
        if (learns)
            return at::_fake_quantize_learnable_per_tensor_affine(
                x, scale, m_zeroPoint.to(at::kFloat), range.min, range.max, factor);
        return at::fake_quantize_per_tensor_affine(x, scale, m_zeroPoint, range.min, range.max);
    }
    const bool inGroups = m_spec.groupSize > 0;
    const at::Tensor rows = inGroups ? x.reshape({-1, m_spec.groupSize}) : x;
    const std::int64_t axis = inGroups ? 0 : m_spec.chAxis;
    const at::Tensor made = learns
        ? at::_fake_quantize_learnable_per_channel_affine(rows, scale, m_zeroPoint.to(at::kFloat),
                                                          axis, range.min, range.max, factor)
        : at::fake_quantize_per_channel_affine(rows, scale, m_zeroPoint, axis, range.min,
                                               range.max);
    return inGroups ? made.reshape(x.sizes()) : made;
}

/// FusedMovingAvgObsFakeQuantize, with its kernel.
at::Tensor FakeQuantizer::fused(const at::Tensor& x, bool observes)
{
    const at::Tensor on = at::ones({1}, m_min.options().dtype(at::kLong));
    return at::fused_moving_avg_obs_fake_quant(
        x, observes ? on : at::zeros_like(on), on, m_min, m_max, m_scale, m_zeroPoint,
        m_spec.averagingConstant, m_range.min, m_range.max, m_spec.chAxis,
        isPerChannel(m_spec.qscheme), isSymmetric(m_spec.qscheme));
}

at::Tensor FakeQuantizer::apply(const at::Tensor& x, bool observes, Saturation saturation)
{
    if (m_source == ScaleSource::None || x.scalar_type() != at::kFloat || x.numel() == 0)
        return x;
    const bool asStored = saturation == Saturation::Storage;
    if (m_source == ScaleSource::Fused) {
        if (!asStored)
            return fused(x, observes);
        if (observes)
            fused(x.detach(), true);
    } else if (m_source == ScaleSource::Current) {
        observe(x, true);
    } else if (m_source == ScaleSource::Running && observes) {
        observe(x, false);
    }
    const bool learns = m_source == ScaleSource::Learned;
    return rounded(x, learns ? m_learned : m_scale, asStored ? m_stored : m_range);
}

std::vector<at::Tensor> FakeQuantizer::state() const
{
    return {m_min, m_max, m_scale, m_zeroPoint, m_learned};
}

void FakeQuantizer::setState(const std::vector<at::Tensor>& state)
{
    m_min = state.at(0);
    m_max = state.at(1);
    m_scale = state.at(2);
    m_zeroPoint = state.at(3);
    if (state.at(4).defined())
        m_learned = state.at(4).detach().set_requires_grad(true);
}

std::optional<GivenObservation> FakeQuantizer::range(bool observes) const
{
    if (m_source == ScaleSource::None || m_source == ScaleSource::Current
        || m_spec.kind == ObserverKind::FixedQParams || m_spec.groupSize > 0 || m_spec.isDynamic)
        return std::nullopt;
    GivenObservation given;
    given.isWeight = m_isWeight;
    given.quantMin = m_range.min;
    given.quantMax = m_range.max;
    given.isSymmetric = isSymmetric(m_spec.qscheme);
    given.isPerChannel = isPerChannel(m_spec.qscheme);
    given.axis = m_spec.chAxis;
    if (m_source == ScaleSource::Running || m_source == ScaleSource::Fused) {
        given.seesWeight = m_isWeight && observes;
        given.averaging = isMovingAverage(m_spec.kind) ? m_spec.averagingConstant : 0;
        given.eps = m_spec.eps;
        given.min = floatsOf(m_min);
        given.max = floatsOf(m_max);
        const bool isSeen = !given.min.empty() && std::isfinite(given.min.front());
        return isSeen ? std::optional(given) : std::nullopt;
    }
    // The range with exactly this scale and zero point.
    given.eps = kNoEps;
    const at::Tensor scale = m_learned.defined() ? m_learned.detach() : m_scale;
    const at::Tensor exact = scale.to(at::kDouble);
    const at::Tensor zero = m_zeroPoint.to(at::kDouble);
    const double reach = double(m_range.max - m_range.min) / 2;
    given.min
        = floatsOf(given.isSymmetric ? -(exact * reach) : (double(m_range.min) - zero) * exact);
    given.max = floatsOf(given.isSymmetric ? exact * reach : (double(m_range.max) - zero) * exact);
    return given;
}

} // namespace qs
