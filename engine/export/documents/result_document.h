// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace qs {

using ResultDocument = nlohmann::ordered_json;

/// Reads `result.json` of a result folder and makes something of it. Errors name the file: there is
/// none, it is not a result document, or `make` missed a key in it; Cancelled, while it is parsed.
Result<std::string>
fromResultFolder(const std::string& folder,
                 const std::function<Result<std::string>(const ResultDocument&)>& make,
                 const JobContext& job = {});

/// The value of a key as text: a string as it is, else as JSON; "" where it is absent or null.
std::string fieldText(const ResultDocument& json, const char* key);

/// The number under a key; nothing if it is absent or not a number, or `json` is not an object.
std::optional<double> numberAt(const ResultDocument& json, const char* key);

/// The errors are those against the model before its edits.
bool isAgainstOriginal(const ResultDocument& json);

/// One term of an error ("isolated", "cumulative") of a node, or of an output: the terms beside its
/// name. Nothing where it has no number; `metric` as in the document ("sqnr_db").
std::optional<double> errorTerm(const ResultDocument& owner, const char* term,
                                const char* metric = "sqnr_db");

} // namespace qs
