// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"
#include "tests/support/fake_engine.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace qs {

Result<TrainingForecast> FakeEngine::forecast(const TrainRequest&, const JobContext&)
{
    return TrainingForecast {8, std::int64_t(560) << 20, "about 560 MB of memory for batches of 8",
                             labelled};
}

Result<SavedTraining> FakeEngine::train(const TrainRequest& request, const std::string& path,
                                        const SeeTraining& see, const JobContext& job)
{
    constexpr double kDb[] = {34.2, 34.6, 34.9, 35.1, 35.4, 35.6, 35.8, 36.0, 36.1, 36.0, 35.9};
    ++trainings;
    lastTraining = request;
    if (failTraining)
        return fail(makeError(ErrorCode::Numeric, "the loss is not finite at step 1")
                        .withHint("a lower --lr"));
    SavedTraining made;
    Training& training = made.training;
    training.stopped = "all steps";
    training.guardSamples = 32;
    for (int i = 0; i < int(std::size(kDb)); ++i) {
        training.steps = request.training.steps * i / int(std::size(kDb) - 1);
        const double fraction = double(training.steps) / request.training.steps;
        training.points.push_back({training.steps, i == 0 ? 0 : 0.01 / i, kDb[i], double(i) / 100});
        if (kDb[i] > *training.points[training.best].guardDb)
            training.best = std::size_t(i);
        see(training);
        do {
            job.report("train",
                       "step " + std::to_string(training.steps) + " of "
                           + std::to_string(request.training.steps),
                       fraction);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        } while (i == 3 && waitInTraining && !job.cancelled());
        if (job.cancelled()) {
            training.stopped = "cancelled";
            if (!request.checkpoint.empty())
                std::ofstream(request.checkpoint) << "a checkpoint without settings";
            break;
        }
    }
    if (request.isDiscarded && *request.isDiscarded)
        return fail(ErrorCode::Cancelled, "the training was stopped");
    std::error_code code;
    if (!job.cancelled())
        std::filesystem::remove(request.checkpoint, code);
    std::ofstream(path) << "trained " << trainings;
    made.cure.kind = CureKind::Train;
    made.cure.file = path;
    made.cure.by = "train";
    QS_TRY(made.cure.sha256, fileSha256(path));
    return made;
}

} // namespace qs
