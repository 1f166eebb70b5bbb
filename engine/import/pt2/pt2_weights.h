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

/// The weights and constants of a .pt2 by their dotted name, as lazy entries of a TensorStore.
/// Names that share a record (tied weights, slices of one storage) share its memory once it is
/// read.
class Pt2Weights
{
public:
    /// Reads the two payload configurations; no weight is read yet. Errors: a configuration that is
    /// not JSON of the known form.
    static Result<Pt2Weights> open(std::shared_ptr<Pt2Archive> archive,
                                   std::shared_ptr<TensorStore> store);

    /// The key for a parameter, buffer or constant. Errors (BadInput): the file holds no such
    /// value.
    Result<TensorId> find(const std::string& name) const;

    /// The same value without `requires_grad`. Errors: as `find`.
    Result<TensorId> findUntrained(const std::string& name) const;

private:
    Result<void> addPayloads(const std::string& folder, const std::string& config);

    std::shared_ptr<Pt2Archive> m_archive;
    std::shared_ptr<TensorStore> m_store;
    std::map<std::string, TensorId> m_ids;
    std::map<std::string, TensorLayout> m_trained; ///< those that require gradients
    LazyTensors m_tensors;
};

} // namespace qs
