// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/keys/decision_keys.h"
#include "tests/support/fake_engine.h"

#include <chrono>
#include <thread>

namespace qs {

namespace {

struct FakeTrial
{
    const char* stage;
    double predictedDb, db, int8Macs;
    std::size_t floats; ///< operators that stay float
};
constexpr FakeTrial kFakeTrials[] = {{"start", 0, 12.0, 1, 0},
                                     {"free", 0, 15.5, 1, 1},
                                     {"float", 19.5, 18.9, 0.92, 2},
                                     {"float", 20.6, 21.2, 0.85, 4},
                                     {"less float", 20.2, 20.6, 0.88, 3}};

std::vector<Cure> fakeFloats(const Graph& model, std::size_t count)
{
    std::vector<Cure> cures;
    for (const NodePtr& node : model.nodes()) {
        if (!node->isOperator() || cures.size() == count)
            continue;
        Cure cure;
        cure.at.kind = ValueAddress::Kind::Operator;
        cure.at.module = node->scope.path;
        cure.at.op = node->target;
        cures.push_back(cure);
    }
    return cures;
}

} // namespace

Result<TuneState> FakeEngine::tune(const TuneRequest& request, const KnownTrials& known,
                                   const SeeTune& see, const JobContext& job)
{
    ++searches;
    lastSearch = request;
    if (failSearch)
        return fail(makeError(ErrorCode::Usage, "1 sample: no guard").withHint("give 16 or more"));
    TuneState state;
    state.searchSamples = 48;
    state.guardSamples = 16;
    QS_CHECK(see(state));
    for (const FakeTrial& told : kFakeTrials) {
        Trial trial;
        trial.stage = told.stage;
        if (told.predictedDb > 0)
            trial.predictedDb = told.predictedDb;
        trial.search.db = told.db + 0.2;
        trial.guard.db = told.db;
        trial.guard.cosine = 1 - shareOfDb(told.db) / 2;
        trial.int8Macs = told.int8Macs;
        trial.reached = request.goal.kind == TuneGoal::Kind::Cosine
            ? trial.guard.cosine >= request.goal.value
            : trial.guard.db >= request.goal.value;
        trial.cures = fakeFloats(*request.file, told.floats);
        trial.key
            = KeyBuilder("fake trial").add(planningKey(tunedRecipe(request.recipe, trial))).key();
        trial.forwards = state.forwards += 2;
        job.report("tune", "trial " + std::to_string(state.trials.size() + 1), 0);
        if (!known.contains(trial.key))
            ++measuredTrials;
        const Trial* best = state.trials.empty() ? nullptr : &state.trials[state.best];
        if (!best
            || (trial.reached ? !best->reached || trial.int8Macs > best->int8Macs
                              : !best->reached && trial.guard.db > best->guard.db))
            state.best = state.trials.size();
        state.trials.push_back(std::move(trial));
        if (!state.blame) {
            QS_TRY(const PlanPtr plan, this->plan(request.file, request.recipe, job));
            state.blame = fakeBlame(*plan);
            state.causes = fakeCauses(*request.file, *state.blame, causeCount);
        }
        do {
            QS_CHECK(see(state));
            job.report("tune", "trial " + std::to_string(state.trials.size() + 1), 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        } while (waitInSearch && state.trials.size() == 3 && !job.cancelled());
        if (job.cancelled() && !tellsAfterCancel)
            return fail(ErrorCode::Cancelled, "cancelled");
    }
    if (job.cancelled())
        return fail(ErrorCode::Cancelled, "cancelled");
    state.stopped = state.isReached() ? "the goal is reached" : "no further cure is predicted";
    if (!state.isReached())
        state.neededInt8 = 0.72;
    QS_CHECK(see(state));
    return state;
}

} // namespace qs
