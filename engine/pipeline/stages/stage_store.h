// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memo.h"
#include "engine/compare/sweep/comparison_cache.h"
#include "engine/distribute/group.h"
#include "engine/pipeline/engine_service.h"
#include "engine/pipeline/kept_statistics.h"
#include "engine/pipeline/keys/data_identity.h"

#include <list>
#include <mutex>

namespace qs {

class Dataset;

/// Caches that all stages share: results by the keys of their inputs, statistics, values from which
/// runs continue, open data and hashes of their content. Bounded; see `Memo`. Thread safe.
class StageStore : public EngineService
{
public:
    struct Options
    {
        std::string checkpointFolder; ///< of interrupted calibrations, to resume from; "" = none
        std::size_t resultBytes = std::size_t(1) << 30; ///< of cached results
        std::size_t statisticsBytes = std::size_t(128) << 20; ///< of cached statistics
        /// Of cached values that a later comparison continues from; 0 for a program that compares
        /// once.
        std::size_t valueBytes = 0;
        /// Of cached values of the samples of previews.
        std::size_t previewBytes = std::size_t(256) << 20;
        /// The ranks that run calibrations and comparisons together.
        std::shared_ptr<Group> group = singleProcess();
    };
    explicit StageStore(Options options);

    /// Sets the folder for checkpoints of later calibrations.
    void setCheckpointFolder(std::string folder) { m_options.checkpointFolder = std::move(folder); }
    const std::shared_ptr<Group>& group() const { return m_options.group; }
    /// The ranks of later stages; every rank calls the same ones, in the same order.
    void setGroup(std::shared_ptr<Group> group) { m_options.group = std::move(group); }

    /// Data cut by the settings (`batches` 0: all of them); recently used data stay open.
    Result<std::shared_ptr<const Dataset>> data(const Graph& model, const std::string& source,
                                                const CalibrationSettings& cut);

    /// The same if the batches are then as small as the settings ask for, else null: the model or
    /// the data may fix the size, as a list of calls does.
    std::shared_ptr<const Dataset> inSmallBatches(const Graph& model, const std::string& source,
                                                  const CalibrationSettings& cut);

    /// Bytes of all cached results.
    std::size_t keptBytes() const
    {
        return m_memo.bytes() + m_statistics.bytes() + m_work.bytes() + m_previewWork.bytes();
    }

protected:
    Options m_options;
    ContentHashes m_hashes;
    Memo m_memo;
    KeptStatistics m_statistics;
    ComparisonCache m_work, m_previewWork;

private:
    struct OpenedData
    {
        Key key;
        std::shared_ptr<const Dataset> data;
    };
    std::mutex m_dataMutex;
    std::list<OpenedData> m_opened; ///< most recently used first
};

/// Approximate number of bytes that releasing a graph would free: its nodes and the tensors that no
/// other owner shares.
std::size_t heldBytes(const Graph& graph);

} // namespace qs
