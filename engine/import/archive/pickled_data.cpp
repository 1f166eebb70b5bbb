// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickled_data.h"

#include "engine/base/torch_guard.h"
#include "engine/import/archive/pickle_check.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <sstream>

namespace qs {

namespace {

Result<void> checkArchive(const std::string& bytes)
{
    std::istringstream stream(bytes);
    caffe2::serialize::PyTorchStreamReader archive(&stream);
    const auto [pickle, size] = archive.getRecord("data.pkl");
    return checkPickle({static_cast<const char*>(pickle.get()), size},
                       [&](const std::string& key) -> std::optional<std::uint64_t> {
                           const std::string record = "data/" + key;
                           if (!archive.hasRecord(record))
                               return std::nullopt;
                           return archive.getRecordSize(record);
                       });
}

} // namespace

Result<at::IValue> unpickleData(const std::string& bytes)
{
    return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
        QS_CHECK(checkArchive(bytes));
        // Without a type resolver LibTorch's reader builds tensors and plain containers only.
        return torch::jit::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
    });
}

} // namespace qs
