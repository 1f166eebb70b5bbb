// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/result/result_document.h"

namespace qs {

/// Returns a number, or null if JSON cannot represent it (NaN, infinities).
Json numberJson(double value);
/// The same for an optional number; null if missing.
Json numberJson(const std::optional<double>& value);
/// Reads a number; infinity for null. This and the following functions throw Json's exceptions if a
/// key is missing or has another type.
double orInfinity(const Json& owner, const char* key);
/// Returns `{sqnr_db, cosine, mse, max_abs}`, or null; plus `samples` and `standard_error_db` if
/// measured on a subset of the samples.
Json metricsJson(const std::optional<ErrorMetrics>& metrics);
/// Returns the metrics of each term; for y^ - y also `kl`, the divergence of the two distributions
/// in nats.
Json errorJson(const NodeError& error);
/// `{output, top1}`, or null.
Json agreementJson(const std::optional<Agreement>& agreement);

/// Reads all metrics under a key; nullopt if it is absent or null.
std::optional<ErrorMetrics> metricsAt(const Json& owner, std::string_view key);
/// Reads the terms of a node's entry under "nodes"; unmeasured terms are empty. Does not set the
/// node's id.
NodeError errorsAt(const Json& node);

/// `{count, equal, mean, max, histogram[]}`: counts elements by their difference in quantization
/// steps; the histogram has bins from <= -8 to >= 8.
Json stepsJson(const StepCounts& steps);
/// The inverse of `stepsJson`.
StepCounts stepsFromJson(const Json& json);

/// Returns the steps of a departure and, if known, `reference_db` and `lowered_db`: the SQNR of
/// each form relative to the float model.
Json departureJson(const FormDeparture& departure);
/// The inverse of `departureJson`, for the node.
FormDeparture departureFromJson(NodeId node, const Json& json);

} // namespace qs
