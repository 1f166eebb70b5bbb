// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/stored_tensor.h"

#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <string>

namespace qs {

/// The structure of a torch.save file; tensor elements stay in the file. Executes nothing from the
/// file. Accepts only tensors, numbers, strings, tuples, lists and dictionaries; rejects the old
/// format, which is a bare Python pickle.
class SavedTensors
{
public:
    static Result<SavedTensors> open(const std::string& path);

    /// The saved structure. Its tensors have shape and type but no elements: do not compute with
    /// them.
    const at::IValue& value() const { return m_value; }
    /// Returns the location of a tensor of `value()`. Fails (BadInput) if it is not a strided dense
    /// tensor or its layout exceeds its record; `what` names the tensor.
    Result<StoredTensor> locate(const at::Tensor& tensor, const std::string& what) const;

private:
    std::shared_ptr<const ZipReader> m_archive;
    std::map<std::string, std::size_t>
        m_storages; ///< maps keys to entries; the tensors' contexts point here
    at::IValue m_value;
};

} // namespace qs
