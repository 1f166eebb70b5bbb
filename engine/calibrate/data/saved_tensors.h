// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/stored_tensor.h"

#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <string>

namespace qs {

/// A file of torch.save whose tensors stay in it: the structure is read, elements are not. Nothing
/// in the file is executed; what is neither tensor, number, text, tuple, list nor dictionary is
/// refused, and so is the old format, which is a bare Python pickle.
class SavedTensors
{
public:
    static Result<SavedTensors> open(const std::string& path);

    /// The saved structure. Its tensors have shape and type but no elements: never compute with
    /// them.
    const at::IValue& value() const { return m_value; }
    /// The place of a tensor of `value()`. Errors (BadInput): not an ordinary dense tensor, a
    /// layout beyond its record; `what` names the tensor.
    Result<StoredTensor> locate(const at::Tensor& tensor, const std::string& what) const;

private:
    std::shared_ptr<const ZipReader> m_archive;
    std::map<std::string, std::size_t>
        m_storages; ///< key to entry; the tensors' contexts point here
    at::IValue m_value;
};

} // namespace qs
