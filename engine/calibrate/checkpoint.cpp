// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/checkpoint.h"

#include "engine/base/sha256.h"
#include "engine/configure/observer_json.h"
#include "engine/graph/graph_printer.h"

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
    auto stored = readObservations(m_path, plan.observers);
    if (!stored || stored->key != m_key)
        return std::nullopt;
    return std::move(stored->observations);
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
