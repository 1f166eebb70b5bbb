// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/result/result_document.h"

namespace qs {

/// A number, or null where JSON has no word for it (NaN, infinities).
Json numberJson(double value);
/// The same of what may be missing, which is null too.
Json numberJson(const std::optional<double>& value);
/// A number back: infinity for null. This and what follows throws Json's exceptions where a key is
/// missing or of another type.
double orInfinity(const Json& owner, const char* key);
/// `{sqnr_db, cosine, mse, max_abs}`, or null; with `samples` and `standard_error_db` where it was
/// measured on a part of the samples.
Json metricsJson(const std::optional<ErrorMetrics>& metrics);
/// That of each term; of y^ - y with `kl`, the divergence of the two distributions in nats.
Json errorJson(const NodeError& error);
/// `{output, top1}`, or null.
Json agreementJson(const std::optional<Agreement>& agreement);

/// All metrics under a key; nothing where it is absent or null.
std::optional<ErrorMetrics> metricsAt(const Json& owner, std::string_view key);
/// Of a node's entry under "nodes"; no term where it was not measured. Without the node's id.
NodeError errorsAt(const Json& node);

/// `{count, equal, mean, max, histogram[]}`: elements by their difference in steps; the histogram
/// goes from -8 and less to 8 and more.
Json stepsJson(const StepCounts& steps);
/// The same back.
StepCounts stepsFromJson(const Json& json);

/// The steps of a departure and, where they are known, `reference_db` and `lowered_db`: how far
/// each form is from the float model.
Json departureJson(const FormDeparture& departure);
/// The same back, of the node.
FormDeparture departureFromJson(NodeId node, const Json& json);

} // namespace qs
