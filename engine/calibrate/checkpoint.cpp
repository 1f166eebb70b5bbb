// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/checkpoint.h"

#include "engine/configure/image_preprocess_json.h"
#include "engine/configure/observer_json.h"
#include "engine/graph/graph_printer.h"
#include "engine/import/sha256.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <filesystem>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// What changes when a file or something in a folder does.
std::string sourceIdentity(const std::string& source)
{
    std::error_code code;
    std::string text = fs::absolute(source, code).string();
    const auto add = [&](const fs::path& path) {
        text += "\n" + path.string() + " " + std::to_string(fs::file_size(path, code)) + " "
            + std::to_string(fs::last_write_time(path, code).time_since_epoch().count());
    };
    if (fs::is_regular_file(source, code))
        add(source);
    std::vector<fs::path> files;
    if (fs::is_directory(source, code))
        for (const auto& entry : fs::recursive_directory_iterator(source, code))
            if (entry.is_regular_file(code))
                files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& path : files)
        add(path);
    return text;
}

} // namespace

std::string calibrationKey(const PreparedModel& prepared, const std::string& source,
                           const DatasetOptions& options, const std::string& device)
{
    std::string text = prepared.model->info().sha256 + "\n" + printGraph(*prepared.graph);
    for (const auto& planned : prepared.plan->observers)
        text += "\n" + std::to_string(planned.id.value()) + observerToJson(planned.spec).dump();
    text += "\n" + sourceIdentity(source) + "\n" + std::to_string(options.batchSize) + " "
        + std::to_string(options.isSequence) + " " + device + " "
        + std::to_string(at::get_num_threads());
    if (options.preprocess)
        text += imagePreprocessToJson(*options.preprocess).dump();
    std::error_code code;
    if (fs::is_directory(source, code)) // which of its images are taken depends on how many
        text += " " + std::to_string(options.batches);
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
