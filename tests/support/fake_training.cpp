// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"
#include "tests/support/fake_engine.h"

#include <chrono>
#include <fstream>
#include <thread>

namespace qs {

Result<SavedTraining> FakeEngine::train(const TrainRequest& request, const std::string& path,
                                        const SeeTraining& see, const JobContext& job)
{
    constexpr double kDb[] = {34.2, 34.6, 34.9, 35.1, 35.4, 35.6, 35.8, 36.0, 36.1, 36.0, 35.9};
    ++trainings;
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
            break;
        }
    }
    std::ofstream(path) << "trained " << trainings;
    made.cure.kind = CureKind::Train;
    made.cure.file = path;
    made.cure.by = "train";
    QS_TRY(made.cure.sha256, fileSha256(path));
    return made;
}

} // namespace qs
