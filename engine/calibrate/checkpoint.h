// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/prepare/prepared_model.h"

#include <optional>
#include <string>

namespace qs {

/// Everything that a calibration's statistics depend on, as one hash (hex SHA-256): the model's
/// file, the prepared graph and its observers, the data (`dataKey`: their content, how they are cut
/// into batches), device and threads.
std::string calibrationKey(const PreparedModel& prepared, const std::string& dataKey,
                           const std::string& device);

/// Name of the file, in any folder.
inline constexpr const char* kCheckpointFile = "calibration.partial.npz";

/// The file where an interrupted calibration leaves its statistics, to go on from there.
class Checkpoint
{
public:
    /// `key` as `calibrationKey` makes it.
    Checkpoint(std::string path, std::string key)
        : m_path(std::move(path))
        , m_key(std::move(key))
    {
    }
    /// The statistics of an earlier run of the same calibration; nothing without any or if the
    /// key differs. Moves a damaged or foreign file aside with a warning, over one moved there
    /// before.
    std::optional<Observations> load(const Plan& plan) const;
    Result<void> save(const Observations& observations) const;
    /// Removes the file.
    void remove() const;
    const std::string& path() const { return m_path; }

private:
    void setAside(const Error& why) const;

    std::string m_path;
    std::string m_key;
};

} // namespace qs
