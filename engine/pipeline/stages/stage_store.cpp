// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stages/stage_store.h"

#include "engine/base/files/file_signature.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/execute/tensor_store.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"

namespace qs {

namespace {

/// Number of datasets kept open: for calibration, comparison and preview.
constexpr std::size_t kOpenData = 3;

} // namespace

std::size_t heldBytes(const Graph& graph)
{
    const auto store = tensorsOf(graph);
    return graph.nodes().size() * 1024 + (store ? std::size_t(store->ownBytes()) : 0);
}

StageStore::StageStore(Options options)
    : m_options(std::move(options))
    , m_memo(m_options.resultBytes)
    , m_statistics(m_options.statisticsBytes)
    , m_work(m_options.valueBytes)
    , m_previewWork(m_options.previewBytes)
{
}

Result<std::shared_ptr<const Dataset>>
StageStore::data(const Graph& model, const std::string& source, const CalibrationSettings& cut)
{
    const Key key = KeyBuilder("open data")
                        .add(modelKey(model))
                        .add(source)
                        .add(fileSignature(source))
                        .add(cutKey(cut))
                        .key();
    const std::lock_guard lock(m_dataMutex);
    for (auto it = m_opened.begin(); it != m_opened.end(); ++it)
        if (it->key == key) {
            m_opened.splice(m_opened.begin(), m_opened, it);
            return it->data;
        }
    QS_TRY(auto opened, openDataset(source, model, datasetOptions(cut)));
    std::shared_ptr<const Dataset> data = std::move(opened);
    m_opened.push_front({key, data});
    if (m_opened.size() > kOpenData)
        m_opened.pop_back();
    return data;
}

std::shared_ptr<const Dataset> StageStore::inSmallBatches(const Graph& model,
                                                          const std::string& source,
                                                          const CalibrationSettings& cut)
{
    const auto opened = data(model, source, cut);
    if (!opened || (*opened)->batchCount() == 0)
        return nullptr;
    const auto first = (*opened)->batch(0);
    return first && first->samples <= cut.batchSize ? *opened : nullptr;
}

} // namespace qs
