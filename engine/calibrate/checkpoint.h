// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/prepare/prepared_model.h"

#include <optional>
#include <string>

namespace qs {

/// Returns one hash (hex SHA-256) of everything that a calibration's statistics depend on: the
/// model's file, the prepared graph and its observers, the data (`dataKey`: content and division
/// into batches), device and number of threads.
std::string calibrationKey(const PreparedModel& prepared, const std::string& dataKey,
                           const std::string& device);

/// File name of a checkpoint.
inline constexpr const char* kCheckpointFile = "calibration.partial.npz";

/// The file with the statistics of an interrupted calibration, from which it can continue.
class Checkpoint
{
public:
    /// `key`: the result of `calibrationKey`.
    Checkpoint(std::string path, std::string key)
        : m_path(std::move(path))
        , m_key(std::move(key))
    {
    }
    /// Returns the statistics of an earlier run of the same calibration; nullopt without them,
    /// or if the key differs. Renames a damaged or foreign file with a warning, replacing an
    /// earlier renamed one.
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
