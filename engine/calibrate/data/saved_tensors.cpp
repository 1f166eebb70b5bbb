// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/saved_tensors.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/import/archive/pickle_check.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

namespace qs {

namespace {

/// A structure without elements is small; a larger one is not plausible.
constexpr std::uint64_t kMaxStructure = std::uint64_t(256) << 20;

/// True for an assertion of LibTorch's reader, which describes its source, not the file.
bool isInside(const std::string& message)
{
    return message.find("INTERNAL ASSERT") != std::string::npos;
}

Error unreadable(const std::string& why)
{
    return makeError(ErrorCode::BadInput, "cannot be read as saved tensors: " + why);
}

constexpr const char* kNotAModel
    = "save the model's inputs: torch.save(inputs, path); a model or its state_dict is not data";

Result<void> checkStart(const std::string& path)
{
    std::array<char, 4> start {};
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(ErrorCode::NotFound, "cannot be opened");
    if (!file.read(start.data(), start.size()))
        return fail(ErrorCode::BadInput, "is empty or truncated");
    if (start[0] == 'P' && start[1] == 'K')
        return {};
    const bool pickle = start[0] == '\x80';
    return fail(makeError(ErrorCode::BadInput,
                          pickle ? "is a bare Python pickle (torch.save's old format), which is "
                                   "never read"
                                 : "is not a file of torch.save")
                    .withHint("save the tensors again with torch.save(data, path)"));
}

Result<std::string> readText(const ZipReader& archive, std::size_t entry)
{
    const std::uint64_t size = archive.entries()[entry].size;
    if (size > kMaxStructure)
        return fail(unreadable("its structure claims " + std::to_string(size) + " bytes"));
    std::string text(size, '\0');
    if (auto read = archive.read(entry, 0, size, text.data()); !read)
        return fail(unreadable(archive.entries()[entry].name + " " + read.error().message));
    return text;
}

// True if a pickle contains sparse, quantized or other special tensors, which cannot be built
// without their elements.
bool holdsSpecialTensors(std::string_view pickle)
{
    constexpr std::string_view kRebuild = "_rebuild_";
    constexpr std::array<std::string_view, 3> kPlain {"tensor_v2\n", "tensor\n", "parameter\n"};
    for (auto at = pickle.find(kRebuild); at != std::string_view::npos;
         at = pickle.find(kRebuild, at + 1)) {
        const std::string_view rest = pickle.substr(at + kRebuild.size());
        if (std::none_of(kPlain.begin(), kPlain.end(),
                         [&](std::string_view name) { return rest.starts_with(name); }))
            return true;
    }
    return false;
}

Result<at::IValue> unpickle(std::string_view pickle, std::map<std::string, std::size_t>& storages)
{
    std::size_t position = 0;
    const auto reader = [&](char* target, std::size_t wanted) {
        const std::size_t given = std::min(wanted, pickle.size() - position);
        std::memcpy(target, pickle.data() + position, given);
        position += given;
        return given;
    };
    // Returns a storage without memory; its context identifies its record.
    const auto findRecord = [&](const std::string& key) {
        const auto it = storages.find(key);
        TORCH_CHECK(it != storages.end(), "the record of storage ", key, " is missing");
        return at::DataPtr(
            nullptr, &it->second, [](void*) {}, at::kCPU);
    };
    return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
        // Without a type resolver LibTorch's reader builds tensors and plain containers only.
        torch::jit::Unpickler unpickler(reader, nullptr, nullptr, findRecord, at::kCPU);
        return unpickler.parse_ivalue();
    });
}

} // namespace

Result<SavedTensors> SavedTensors::open(const std::string& path)
{
    QS_CHECK(checkStart(path));
    auto archive = ZipReader::open(path);
    if (!archive)
        return fail(unreadable(archive.error().message));
    SavedTensors out;
    out.m_archive = *archive;
    const auto& entries = out.m_archive->entries();
    const auto pickle = std::find_if(entries.begin(), entries.end(), [](const auto& entry) {
        return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
    });
    if (pickle == entries.end())
        return fail(unreadable("it holds no data.pkl"));
    const std::string root = pickle->name.substr(0, pickle->name.size() - std::strlen("data.pkl"));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].name == root + "byteorder") {
            QS_TRY(const std::string order, readText(*out.m_archive, i));
            if (order == "big")
                return fail(unreadable("it was written by a big-endian machine"));
        }
        if (entries[i].name.starts_with(root + "data/"))
            out.m_storages[entries[i].name.substr(root.size() + std::strlen("data/"))] = i;
    }
    QS_TRY(const std::string text, readText(*out.m_archive, std::size_t(pickle - entries.begin())));
    if (holdsSpecialTensors(text))
        return fail(unreadable("it holds a sparse, quantized or otherwise special tensor, no "
                               "ordinary dense one"));
    // Tensors are checked against their records when they are read.
    if (auto sound = checkPickle(text, [](const std::string&) { return UINT64_MAX; }); !sound)
        return fail(unreadable(sound.error().message).withHint(kNotAModel));
    auto value = unpickle(text, out.m_storages);
    if (!value)
        return fail(
            unreadable(isInside(value.error().message) ? kNotPlainData : value.error().message)
                .withHint(kNotAModel));
    out.m_value = std::move(*value);
    return out;
}

Result<StoredTensor> SavedTensors::locate(const at::Tensor& tensor, const std::string& what) const
{
    if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_quantized()
        || tensor.is_conj() || tensor.is_neg())
        return fail(ErrorCode::BadInput, what + " is not a dense tensor");
    StoredTensor stored;
    stored.archive = m_archive;
    stored.layout = {"", fromScalarType(tensor.scalar_type()), tensor.sizes().vec(),
                     tensor.strides().vec(), tensor.storage_offset()};
    const auto* entry = static_cast<const std::size_t*>(tensor.storage().data_ptr().get_context());
    if (entry)
        stored.entry = *entry;
    if ((!entry && tensor.numel() > 0) || !fitsEntry(stored))
        return fail(ErrorCode::BadInput, what + " does not fit its record: the file is damaged");
    return stored;
}

} // namespace qs
