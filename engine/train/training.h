// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/guard_share.h"
#include "engine/graph/graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

enum class OptimizerKind : std::uint8_t
{
    Adam, ///< torch.optim.Adam with its default betas and eps, without weight decay
    Sgd ///< torch.optim.SGD
};

enum class TrainingLoss : std::uint8_t
{
    Distill, ///< the noise of each output against the float model's, divided by its signal
    Labels ///< cross entropy of the first output of class scores
};

/// Names of options in commands and documents, by enumerator; the schedule's by `decays`.
using OptionNames = std::array<std::string_view, 2>;
inline constexpr OptionNames kOptimizerNames {"adam", "sgd"}, kLossNames {"distill", "labels"},
    kScheduleNames {"constant", "cosine"};
/// Index of a name; `names.size()` for another one.
inline std::size_t indexIn(const OptionNames& names, std::string_view name)
{
    return std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The least and the most of the data that may be the guard, if there is one.
inline constexpr double kLeastGuardShare = 0.01, kMostGuardShare = 0.9;

struct TrainingSettings
{
    int steps = 300;
    std::optional<double> seconds; ///< limit of the whole training
    /// Of all tensors. Empty: each has its own (`usualRates`).
    std::optional<double> rate;
    OptimizerKind optimizer = OptimizerKind::Adam;
    double momentum = 0; ///< of SGD
    bool decays = true; ///< the rate falls to zero along a half cosine, else it is constant
    TrainingLoss loss = TrainingLoss::Distill;
    bool learnsScales = false;
    /// Steps after which batch norms use their running statistics, and fake quantizers keep their
    /// ranges. Empty: never.
    std::optional<int> freezeBatchNorms = 0, freezeObservers;
    std::vector<std::string> frozen; ///< parameters and modules that do not change
    std::uint64_t seed = 0; ///< of the order of batches; 0 = the data's
    double guard = kGuardShare; ///< share of the batches that are only measured; 0 = none
    /// Nodes and modules whose values count in the loss besides the outputs.
    std::vector<std::string> matched;
    std::string device = "cpu";
};

/// Where a training keeps checkpoints, about every 30 s and at a cancel.
struct TrainingStore
{
    std::string path; ///< of the file; empty: none are kept
    std::string key; ///< of everything that the training depends on
    bool resumes = false; ///< continue from the file
};

/// One measurement. Step 0 is before the training.
struct TrainingPoint
{
    int step = 0;
    double loss = 0; ///< mean over the steps since the last point
    std::optional<double> guardDb; ///< SQNR of the worst output on the guard's batches
    double seconds = 0; ///< since the start
};

/// What a training did, and the best of its states. A value.
struct Training
{
    std::vector<TrainingPoint> points; ///< in order
    std::size_t best = 0; ///< index into `points`
    int steps = 0; ///< that ran
    std::int64_t batchSize = 0; ///< samples
    std::int64_t predictedBytes = 0; ///< peak of main memory
    std::int64_t trainedSamples = 0, guardSamples = 0; ///< different ones
    std::string stopped; ///< why it ended: "all steps", "the time is used up", "cancelled"
    std::vector<std::string> notes;
    GraphPtr model; ///< the float model with the best state's tensors and ranges
};

/// Called after each measurement.
using SeeTraining = std::function<void(const Training&)>;

} // namespace qs
