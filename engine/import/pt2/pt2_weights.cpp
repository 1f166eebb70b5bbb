// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_weights.h"

#include "engine/import/archive/json_view.h"
#include "engine/import/archive/pickled_data.h"
#include "engine/import/pt2/pt2_schema.h"

namespace qs {

namespace {

std::vector<std::int64_t> fixedSizes(JsonView list)
{
    std::vector<std::int64_t> out;
    for (const JsonView item : list.items())
        out.push_back(item.at("as_int").integer());
    return out;
}

TensorLayout readPayload(std::string record, JsonView meta)
{
    TensorLayout payload;
    payload.record = std::move(record);
    payload.dtype = schemaDType(meta.at("dtype").smallInteger());
    payload.sizes = fixedSizes(meta.at("sizes"));
    payload.strides = fixedSizes(meta.at("strides"));
    payload.offset = meta.at("storage_offset").at("as_int").integer();
    payload.requiresGrad = meta.boolean("requires_grad", false);
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
    auto value = unpickleObject(bytes);
    if (!value)
        return fail(badWeight(archive, name, "cannot be read: " + value.error().message));
    if (!value->isTensor() && !value->isObject())
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
    QS_TRY(std::string text, m_archive->read(folder + config));
    QS_TRY(const JsonDocument document,
           JsonDocument::parse(std::move(text), "the record '" + folder + config + "'"));
    for (const auto& [key, entry] : document.root().at("config").members()) {
        const std::string name(key);
        std::string record = folder + std::string(entry.at("path_name").text());
        const auto meta = entry.find("tensor_meta");
        if (entry.boolean("use_pickle", false) || !meta) {
            const std::uint64_t bytes = m_archive->size(record);
            m_ids[name] = m_store->addLazy(
                [archive = m_archive, name, record = std::move(record)] {
                    return loadPickled(*archive, name, record);
                },
                bytes);
            continue;
        }
        TensorLayout layout = readPayload(std::move(record), *meta);
        const auto id = m_tensors.add(*m_store, layout);
        if (!id)
            return fail(badWeight(*m_archive, name, id.error().message));
        m_ids[name] = *id;
        if (layout.requiresGrad)
            m_trained[name] = std::move(layout);
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

Result<TensorId> Pt2Weights::findUntrained(const std::string& name) const
{
    const auto it = m_trained.find(name);
    if (it == m_trained.end())
        return find(name);
    TensorLayout layout = it->second;
    layout.requiresGrad = false;
    return m_tensors.add(*m_store, layout);
}

} // namespace qs
