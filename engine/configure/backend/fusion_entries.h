// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

namespace qs {

/// The patterns of several operators that shipped backends run as one, each once: those that
/// `withFusion` can add. Read once; any thread.
const std::vector<std::vector<std::string>>& knownFusions();

/// The fuser methods that they use, each once.
const std::vector<std::string>& knownFuserMethods();

/// True if the backend has both entries to quantize the pattern as one operator: the fusion, and
/// the entry that quantizes the resulting module.
bool hasFusion(const Backend& backend, const std::vector<std::string>& pattern);

/// The backend with the missing ones appended. Modules and fuser methods are those of the shipped
/// backends; dtype configs those that the backend has for the same root module, else for any
/// operator with a weight, else the shipped ones. Fails (NotFound) if no shipped backend fuses the
/// pattern.
Result<Backend> withFusion(Backend backend, const std::vector<std::string>& pattern);

/// The backend with the entry that quantizes the result of this one of its fusions. Fails
/// (NotFound) if no shipped backend makes that module.
Result<Backend> withPartner(Backend backend, const BackendPattern& fusion);

/// True for a fusion whose partner the backend lacks.
bool lacksPartner(const Backend& backend, const BackendPattern& entry);

} // namespace qs
