// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2_weights.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/import/pt2_schema.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <mutex>
#include <nlohmann/json.hpp>

namespace qs {

using nlohmann::json;

/// Storages already read, held weakly: who needs one keeps it.
struct Pt2Weights::Records
{
    std::mutex mutex;
    std::map<std::string, c10::weak_intrusive_ptr<c10::StorageImpl>> storages;
};

namespace {

struct Payload
{
    std::string record;
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
};

/// Elements of storage the layout reaches, or nothing when a number is negative or the product
/// overflows.
std::optional<std::uint64_t> reach(const Payload& payload)
{
    if (payload.offset < 0 || payload.sizes.size() != payload.strides.size())
        return std::nullopt;
    std::uint64_t last = std::uint64_t(payload.offset);
    for (std::size_t i = 0; i < payload.sizes.size(); ++i) {
        if (payload.sizes[i] < 0 || payload.strides[i] < 0)
            return std::nullopt;
        if (payload.sizes[i] == 0)
            return 0;
        std::uint64_t step = 0;
        if (__builtin_mul_overflow(std::uint64_t(payload.sizes[i] - 1),
                                   std::uint64_t(payload.strides[i]), &step)
            || __builtin_add_overflow(last, step, &last))
            return std::nullopt;
    }
    return last + 1;
}

std::vector<std::int64_t> fixedSizes(const json& list)
{
    std::vector<std::int64_t> out;
    for (const auto& item : list)
        out.push_back(item.at("as_int").get<std::int64_t>());
    return out;
}

Payload readPayload(const std::string& folder, const json& entry)
{
    const json& meta = entry.at("tensor_meta");
    Payload payload;
    payload.record = folder + entry.at("path_name").get<std::string>();
    payload.dtype = schemaDType(meta.at("dtype").get<int>());
    payload.sizes = fixedSizes(meta.at("sizes"));
    payload.strides = fixedSizes(meta.at("strides"));
    payload.offset = meta.at("storage_offset").at("as_int").get<std::int64_t>();
    return payload;
}

Error badWeight(const Pt2Archive& archive, const std::string& name, const std::string& why)
{
    return makeError(ErrorCode::BadInput, "the weight '" + name + "' " + why)
        .inFile(archive.path());
}

Result<at::IValue> loadPickled(const Pt2Archive& archive, const std::string& name,
                               const std::string& record)
{
    QS_TRY(const std::string bytes, archive.read(record));
    // Without a type resolver the reader builds tensors and plain containers only.
    auto value = guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
        return torch::jit::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
    });
    if (!value || !value->isTensor())
        return fail(badWeight(archive, name, "is an object that this program cannot read"));
    return value;
}

} // namespace

Result<Pt2Weights> Pt2Weights::open(std::shared_ptr<Pt2Archive> archive,
                                    std::shared_ptr<TensorStore> store)
{
    Pt2Weights weights;
    weights.m_archive = std::move(archive);
    weights.m_store = std::move(store);
    weights.m_records = std::make_shared<Records>();
    QS_CHECK(weights.addPayloads("data/weights/", "model_weights_config.json"));
    QS_CHECK(weights.addPayloads("data/constants/", "model_constants_config.json"));
    return weights;
}

Result<void> Pt2Weights::addPayloads(const std::string& folder, const std::string& config)
{
    if (!m_archive->has(folder + config))
        return {};
    QS_TRY(const std::string text, m_archive->read(folder + config));
    QS_TRY(const json document, parseJson(text));
    for (const auto& [name, entry] : document.at("config").items()) {
        if (entry.value("use_pickle", false) || !entry.contains("tensor_meta")
            || entry["tensor_meta"].is_null()) {
            const std::string record = folder + entry.at("path_name").get<std::string>();
            m_ids[name] = m_store->addLazy([archive = m_archive, name = name,
                                            record] { return loadPickled(*archive, name, record); },
                                           m_archive->size(record));
            continue;
        }
        const Payload payload = readPayload(folder, entry);
        const int itemSize = dtypeSize(payload.dtype);
        const auto elements = reach(payload);
        const std::uint64_t held = m_archive->size(payload.record);
        if (itemSize == 0)
            return fail(
                badWeight(*m_archive, name, "has an element type this program cannot read"));
        if (!elements || *elements > held / std::uint64_t(itemSize))
            return fail(badWeight(*m_archive, name,
                                  "does not fit its record (" + std::to_string(held) + " bytes)"));
        auto load
            = [archive = m_archive, records = m_records, payload, held]() -> Result<at::IValue> {
            return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
                std::lock_guard lock(records->mutex);
                c10::Storage storage;
                if (const auto it = records->storages.find(payload.record);
                    it != records->storages.end())
                    if (auto alive = it->second.lock())
                        storage = c10::Storage(std::move(alive));
                if (!storage) {
                    const at::Tensor bytes = at::empty({std::int64_t(held)}, at::kByte);
                    if (held > 0)
                        QS_CHECK(archive->readInto(payload.record, bytes.mutable_data_ptr(), held));
                    storage = bytes.storage();
                    records->storages.insert_or_assign(
                        payload.record,
                        c10::weak_intrusive_ptr<c10::StorageImpl>(
                            c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
                                storage.unsafeGetStorageImpl())));
                }
                at::Tensor tensor = at::empty({0}, toScalarType(payload.dtype));
                tensor.set_(storage, payload.offset, payload.sizes, payload.strides);
                return at::IValue(tensor);
            });
        };
        m_ids[name] = m_store->addLazy(std::move(load), *elements * std::uint64_t(itemSize));
    }
    return {};
}

Result<TensorId> Pt2Weights::find(const std::string& name) const
{
    const auto it = m_ids.find(name);
    if (it == m_ids.end())
        return fail(badWeight(*m_archive, name, "is used by the graph but not in the file"));
    return it->second;
}

} // namespace qs
