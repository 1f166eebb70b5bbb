// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

namespace qs {

/// Returns the multi-operator patterns that shipped backends fuse, without duplicates: those that
/// `withFusion` can add. Computed once; any thread.
const std::vector<std::vector<std::string>>& knownFusions();

/// Returns their fuser methods, without duplicates.
const std::vector<std::string>& knownFuserMethods();

/// True if the backend has both entries to quantize the pattern as one operator: the fusion, and
/// the entry that quantizes the resulting module.
bool hasFusion(const Backend& backend, const std::vector<std::string>& pattern);

/// Returns the backend with the missing entries of `hasFusion` appended. Modules and fuser methods
/// are those of the shipped backends. Dtype configs are the backend's own for the same root module,
/// else for any operator with a weight, else the shipped ones. Fails (NotFound) if no shipped
/// backend fuses the pattern.
Result<Backend> withFusion(Backend backend, const std::vector<std::string>& pattern);

/// Returns the backend with an added entry that quantizes the fused module of `fusion`. Fails
/// (NotFound) if no shipped backend has that module.
Result<Backend> withPartner(Backend backend, const BackendPattern& fusion);

/// True for a fusion whose fused module has no entry in the backend.
bool lacksPartner(const Backend& backend, const BackendPattern& entry);

} // namespace qs
