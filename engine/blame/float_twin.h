// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/convert/converted_model.h"

#include <utility>
#include <vector>

namespace qs {

/// A point where the noise of one site is added in the twin, and its source in the reference form.
struct NoisePlace
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef at; ///< value of the twin that the noise is added to
    ValueRef noisy; ///< the same value with noise, in the reference form
    /// Values of the reference form from which `noisy` is computed, each with its counterpart in
    /// the twin.
    std::vector<std::pair<ValueRef, ValueRef>> given;
};

/// A stored tensor that is quantized, in the reference form.
struct StoredPair
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef raw; ///< input of the quantizer; invalid if a cure rounded it, which always changes it
    ValueRef shown; ///< value that the consumers read
};

/// The reference form without its quantizers, which computes its results without quantization
/// noise. Each class of consumers of a quantized value reads it through a separate identity
/// (`kObserveTarget`), where the noise is added. Other nodes keep their ids.
struct FloatTwin
{
    GraphPtr reference;
    GraphPtr graph;
    std::vector<BlameSite> sites; ///< in the order of the reference form
    std::vector<NoisePlace> places; ///< in the same order; at least one for each site
    std::vector<StoredPair> stored; ///< stored tensors of the weight sites
};

/// Builds the twin. Fails only with Cancelled.
Result<FloatTwin> floatTwin(const ConvertedModel& converted, const JobContext& job = {});

} // namespace qs
