// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/convert/converted_model.h"

#include <utility>
#include <vector>

namespace qs {

/// A point where the noise of one site enters the twin, and its source in the reference form.
struct NoisePlace
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef at; ///< value of the twin that the noise is added to
    ValueRef noisy; ///< value of the reference form: the same with noise
    /// Values of the reference form from which `noisy` is computed, each with its counterpart in
    /// the twin.
    std::vector<std::pair<ValueRef, ValueRef>> given;
};

/// A stored tensor that is quantized, in the reference form.
struct StoredPair
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef raw; ///< input of the quantizer
    ValueRef shown; ///< value that the readers get
};

/// The reference form without its quantizers: its result without quantization noise. Each class
/// of readers of a quantized value reads it through a separate identity
/// (`kObserveTarget`), where its noise enters. Other nodes keep their ids.
struct FloatTwin
{
    GraphPtr reference;
    GraphPtr graph;
    std::vector<BlameSite> sites; ///< in the order of the reference form
    std::vector<NoisePlace> places; ///< in the same order; one or more for each site
    std::vector<StoredPair> stored; ///< of the weight sites
};

/// Errors: a cancel.
Result<FloatTwin> floatTwin(const ConvertedModel& converted, const JobContext& job = {});

} // namespace qs
