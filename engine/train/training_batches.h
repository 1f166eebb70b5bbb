// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/train/training.h"

#include <ATen/Device.h>

#include <cstdint>
#include <vector>

namespace qs {

/// A batch on the training's device; its samples are finite.
struct TrainingBatch
{
    std::int64_t samples = 0;
    std::vector<at::IValue> inputs;
    at::Tensor labels; ///< undefined without labels
};

/// The data of a training, divided into the batches that are trained on and the guard. Borrows
/// them. Any thread.
class TrainingBatches
{
public:
    /// Errors (BadInput): too few batches for a guard, none to train on, no labels to train by.
    static Result<TrainingBatches> create(const Dataset& data, const TrainingSettings& settings);

    const std::vector<std::int64_t>& trained() const { return m_trained; } ///< numbers, in order
    const std::vector<std::int64_t>& guard() const { return m_guard; }
    /// Errors: those of the data; numbers that are not finite.
    Result<TrainingBatch> read(std::int64_t number) const;

private:
    TrainingBatches(const Dataset& data, const TrainingSettings& settings);

    const Dataset* m_data;
    at::Device m_device;
    std::vector<std::int64_t> m_trained, m_guard;
};

} // namespace qs
