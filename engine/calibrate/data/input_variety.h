// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

#include <string>
#include <vector>

namespace qs {

/// Detects inputs that never vary in calibration data, since ranges from such data are not
/// representative. Stops checking an input once it varies.
class InputVariety
{
public:
    explicit InputVariety(const Graph& graph);

    /// Adds the next batch, on the CPU.
    void see(const Batch& batch);

    /// Reports inputs with only one value or only equal samples, one line per input: a warning for
    /// floating-point inputs, else a note, since masks and token types are often constant.
    void report() const;

    /// What this rank saw, for the rank that reports.
    std::string packed() const;
    /// Adds what another rank saw (`packed`). Errors (Internal): damaged bytes.
    Result<void> add(const std::string& bytes);

private:
    struct Seen
    {
        std::string name;
        at::Tensor first; ///< data of the first batch; undefined before it
        bool isOneValue = true; ///< all elements are equal
        bool isOneSample = true; ///< all rows are equal
        std::int64_t samples = 0;
    };
    std::vector<Seen> m_inputs;
};

} // namespace qs
