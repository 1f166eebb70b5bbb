// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/convert/converted_model.h"

#include <utility>
#include <vector>

namespace qs {

/// Where the noise of one site enters the twin, and how the reference form makes it.
struct NoisePlace
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef at; ///< of the twin: what the noise is added to
    ValueRef noisy; ///< of the reference form: the same value with the noise in it
    /// Values of the reference form that `noisy` is made from, each with the float value of the
    /// twin that stands for it.
    std::vector<std::pair<ValueRef, ValueRef>> given;
};

/// A stored tensor that is quantized, in the reference form.
struct StoredPair
{
    std::size_t site = 0; ///< index into `FloatTwin::sites`
    ValueRef raw; ///< what is quantized
    ValueRef shown; ///< what its readers see
};

/// The reference form without its quantizers: what it computes if nothing is lost. Each class of
/// readers of a value that was quantized reads it through a separate identity
/// (`kObserveTarget`), the place where that noise enters. Other nodes keep their ids.
struct FloatTwin
{
    GraphPtr reference;
    GraphPtr graph;
    std::vector<BlameSite> sites; ///< in the order of the reference form
    std::vector<NoisePlace> places; ///< of the same order; a site has one or more
    std::vector<StoredPair> stored; ///< of the sites that are weights
};

/// Errors: a cancel.
Result<FloatTwin> floatTwin(const ConvertedModel& converted, const JobContext& job = {});

} // namespace qs
