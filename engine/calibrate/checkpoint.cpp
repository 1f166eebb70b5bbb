// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/checkpoint.h"

#include "engine/base/log.h"
#include "engine/base/sha256.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/graph/text/graph_printer.h"

#include <ATen/Parallel.h>

#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

std::string calibrationKey(const PreparedModel& prepared, const std::string& dataKey,
                           const std::string& device)
{
    std::string text = prepared.model->info().sha256 + "\n" + printGraph(*prepared.graph);
    for (const auto& planned : prepared.plan->observers)
        text += "\n" + std::to_string(planned.id.value()) + observerToJson(planned.spec).dump();
    text += "\n" + dataKey + " " + device + " " + std::to_string(at::get_num_threads());
    Sha256 hash;
    hash.update(text.data(), text.size());
    return hash.hex();
}

std::optional<Observations> Checkpoint::load(const Plan& plan) const
{
    std::error_code code;
    if (!fs::exists(fs::symlink_status(m_path, code)))
        return std::nullopt;
    const auto key = observationsKey(m_path);
    if (!key) {
        setAside(key.error());
        return std::nullopt;
    }
    if (*key != m_key)
        return std::nullopt;
    auto stored = readObservations(m_path, plan.observers);
    if (!stored) {
        setAside(stored.error());
        return std::nullopt;
    }
    return std::move(stored->observations);
}

void Checkpoint::setAside(const Error& why) const
{
    std::error_code code;
    const std::string target = m_path + ".damaged"; // replaces an earlier damaged file
    fs::rename(m_path, target, code);
    if (!code)
        warn("the statistics of an interrupted calibration cannot be used (" + why.message
             + "): calibrating from the first batch; they were moved to " + target);
}

Result<void> Checkpoint::save(const Observations& observations) const
{
    return writeObservations(observations, m_path, m_key);
}

void Checkpoint::remove() const
{
    std::error_code code;
    fs::remove(m_path, code);
}

} // namespace qs
