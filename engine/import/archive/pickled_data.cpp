// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickled_data.h"

#include "engine/base/process/missing_pack.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/import/archive/pickle_check.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>
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

/// Resolves only classes of packs, which the user chose to trust. LibTorch's own classes do not
/// validate their state.
c10::StrongTypePtr packClass(const c10::QualifiedName& name)
{
    c10::ClassTypePtr type = findForeignClass(name.qualifiedName());
    TORCH_CHECK(type, "it is an object of the C++ class ", plainClassName(name.qualifiedName()),
                "; ", kLoadPackHint);
    return {nullptr, std::move(type)};
}

c10::intrusive_ptr<c10::ivalue::Object> packObject(const c10::StrongTypePtr& type,
                                                   const at::IValue& state)
{
    auto made = c10::ivalue::Object::create(type, 1);
    type.type_->expectRef<c10::ClassType>().getMethod("__setstate__")({made, state});
    return made;
}

} // namespace

Result<at::IValue> unpickleObject(const std::string& bytes)
{
    return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
        QS_CHECK(checkArchive(bytes));
        std::istringstream stream(bytes);
        caffe2::serialize::PyTorchStreamReader archive(&stream);
        return torch::jit::readArchiveAndTensors("data", "", "", packClass, packObject,
                                                 std::nullopt, archive);
    });
}

Result<at::IValue> unpickleData(const std::string& bytes)
{
    return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
        QS_CHECK(checkArchive(bytes));
        // Without a type resolver LibTorch's reader builds tensors and plain containers only.
        return torch::jit::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
    });
}

} // namespace qs
