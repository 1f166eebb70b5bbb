// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/execute/tensor_store.h"
#include "engine/import/archive/lazy_tensors.h"
#include "engine/import/archive/pt2_archive.h"

#include <map>
#include <memory>
#include <string>

namespace qs {

/// The weights and constants of a .pt2 by dotted name, as lazy entries of a TensorStore. Names with
/// the same record (tied weights, slices of one storage) share its memory.
class Pt2Weights
{
public:
    /// Reads the two payload configurations, but no weights. Fails if a configuration is not JSON
    /// of the known structure.
    static Result<Pt2Weights> open(std::shared_ptr<Pt2Archive> archive,
                                   std::shared_ptr<TensorStore> store);

    /// Returns the key of a parameter, buffer or constant. Fails (BadInput) if the file has no such
    /// value.
    Result<TensorId> find(const std::string& name) const;

    /// Returns the key of the same value without `requires_grad`. Errors as `find`.
    Result<TensorId> findUntrained(const std::string& name) const;

private:
    Result<void> addPayloads(const std::string& folder, const std::string& config);

    std::shared_ptr<Pt2Archive> m_archive;
    std::shared_ptr<TensorStore> m_store;
    std::map<std::string, TensorId> m_ids;
    std::map<std::string, TensorLayout> m_trained; ///< tensors that require gradients
    LazyTensors m_tensors;
};

} // namespace qs
