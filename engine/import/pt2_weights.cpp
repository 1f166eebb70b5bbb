// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2_weights.h"

#include "engine/base/torch_guard.h"
#include "engine/import/pt2_schema.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <nlohmann/json.hpp>

namespace qs {

using nlohmann::json;

namespace {

std::vector<std::int64_t> fixedSizes(const json& list)
{
    std::vector<std::int64_t> out;
    for (const auto& item : list)
        out.push_back(item.at("as_int").get<std::int64_t>());
    return out;
}

TensorLayout readPayload(const std::string& folder, const json& entry)
{
    const json& meta = entry.at("tensor_meta");
    TensorLayout payload;
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
    weights.m_tensors = LazyTensors(weights.m_archive);
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
        const auto id = m_tensors.add(*m_store, readPayload(folder, entry));
        if (!id)
            return fail(badWeight(*m_archive, name, id.error().message));
        m_ids[name] = *id;
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
