// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"

#include <string>
#include <vector>

namespace qs {

/// Watches calibration data for inputs that never vary: ranges from such data say little about
/// others. Stops watching an input as soon as it varied.
class InputVariety
{
public:
    explicit InputVariety(const Graph& graph);

    /// Takes the next batch, before it leaves the CPU.
    void see(const Batch& batch);

    /// Warns, a line an input, of floating inputs that held one value throughout or the same sample
    /// again and again; of others it is noted, masks and types of tokens being constant often.
    void report() const;

private:
    struct Seen
    {
        std::string name;
        at::Tensor first; ///< of the first batch; undefined before it
        bool isOneValue = true; ///< all elements are alike
        bool isOneSample = true; ///< all rows are alike
        std::int64_t samples = 0;
    };
    std::vector<Seen> m_inputs;
};

} // namespace qs
