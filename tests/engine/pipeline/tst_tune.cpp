// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/edit_step.h"
#include "engine/import/importer.h"
#include "engine/pipeline/tune/tune.h"
#include "engine/pipeline/tune/tune_json.h"
#include "engine/verify/certificate.h"

#include <QFileInfo>
#include <QRandomGenerator>
#include <QtTest>

#include <limits>
#include <set>

using namespace qs;

namespace {

const char* const kModel = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kData = QS_SOURCE_DIR "/resources/samples/calib.npz";

template<class T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

[[maybe_unused]] Result<void> nobody(const TuneState&)
{
    return {};
}

} // namespace

class TestTune : public QObject
{
    Q_OBJECT

private:
    TuneRequest m_request;

    TuneState tuned(const TuneRequest& request, const KnownTrials& known = {},
                    const SeeTune& see = nobody)
    {
        StageChain chain;
        return must(tune(chain, request, known, see, {}));
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_request.file = must(importModel(kModel));
        m_request.recipe = defaultRecipe();
        m_request.settings = {kData, {}, "cpu"};
        m_request.data = must(dataContent(m_request, {}));
        m_request.goal = {TuneGoal::Kind::Sqnr, 40};
    }

    void goalsAreRead()
    {
        for (const char* text : {"sqnr 20", "cosine 0.98", "top1-drop 0.5", "metric 0.81"})
            QCOMPARE(goalText(must(parseGoal(text))), std::string(text));
        for (const char* text : {"", "sqnr", "sqnr x", "sqnr 20 dB", "psnr 3", "cosine 1.5",
                                 "sqnr 500", "top1-drop -1"})
            QVERIFY2(!parseGoal(text), text);
    }

    void aHealthyModelIsLeftAlone()
    {
        TuneRequest request = m_request;
        request.goal.value = 20;
        const TuneState state = tuned(request);
        QCOMPARE(state.trials.size(), std::size_t(1));
        QVERIFY(state.isReached());
        QVERIFY(tunedRecipe(request.recipe, state.trials[0]) == request.recipe);
        QVERIFY(state.stopped.find("nothing was changed") != std::string::npos);
    }

    void theGoalIsReachedOnTheGuard()
    {
        TuneRequest request = m_request;
        if (!hasDotProduct()) // seven bits reach 39.95 dB
            request.goal.value = 39;
        const TuneState state = tuned(request);
        const Trial& best = state.trials[state.best];
        qInfo("%zu trials: %.2f dB searched, %.2f on the guard, %.1f %% in int8",
              state.trials.size(), best.search.db, best.guard.db, 100 * best.int8Macs);
        QVERIFY(best.guard.db > state.trials[0].guard.db);
        QVERIFY(state.isReached());
        QVERIFY(best.int8Macs >= m_request.keepInt8);
        QVERIFY(state.guardSamples > 0);
    }

    void resumedEqualsUninterrupted()
    {
        const TuneState whole = tuned(m_request);
        std::string written; // after the first trial
        StageChain chain;
        std::stop_source stop;
        const auto see = [&](const TuneState& state) -> Result<void> {
            written = tuneJson(m_request, state);
            if (state.trials.size() == 1)
                stop.request_stop();
            return {};
        };
        QVERIFY(!tune(chain, m_request, {}, see, JobContext(stop.get_token())));
        const KnownTrials known = must(readSearch(written, m_request)).trials;
        QCOMPARE(known.size(), std::size_t(1));
        QCOMPARE(tuneJson(m_request, tuned(m_request, known)), tuneJson(m_request, whole));
    }

    void anotherSearchIsRefused()
    {
        const std::string json = tuneJson(m_request, tuned(m_request));
        TuneRequest other = m_request;
        other.seed = 3;
        const auto read = readSearch(json, other);
        QVERIFY(!read);
        QVERIFY(read.error().message.find("another seed") != std::string::npos);
        QVERIFY(!readSearch("{}", m_request));
        QVERIFY(!readSearch(json.substr(0, json.size() / 2), m_request));
    }

    /// A figure that is not finite is null in the document, and the worst one when it is read.
    void figuresThatAreNotFiniteAreRead()
    {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        TuneRequest request = m_request;
        request.goal = {TuneGoal::Kind::Metric, 0.5};
        request.metricText = "score.py";
        TuneState state;
        Trial trial;
        trial.key = "one";
        trial.search.db = trial.search.cosine = trial.search.noiseError = kNone;
        trial.guard.db = -30;
        trial.guard.metric = -std::numeric_limits<double>::infinity();
        state.trials = {trial};
        const KnownTrials known = must(readSearch(tuneJson(request, state), request)).trials;
        QCOMPARE(known.at("one").search.db, -200.0);
        QCOMPARE(known.at("one").search.cosine, -1.0);
        QCOMPARE(known.at("one").search.noiseError, 0.0);
        QCOMPARE(known.at("one").guard.metric, trial.guard.metric);
        QVERIFY(!known.at("one").search.metric);
    }

    /// A metric that is not finite is worse than any other, and the search goes on.
    void aMetricThatIsNotFiniteIsTheWorst()
    {
        TuneRequest request = m_request;
        request.goal = {TuneGoal::Kind::Metric, 0.5};
        request.metricText = "score.py";
        int calls = 0;
        request.metric = [&calls](const std::string&, const JobContext&) -> Result<double> {
            return calls++ == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.6;
        };
        const TuneState state = tuned(request);
        QVERIFY(state.isReached());
        QCOMPARE(state.best, std::size_t(1));
        const std::string whole = tuneJson(request, state);
        const KnownTrials known = must(readSearch(whole, request)).trials;
        QCOMPARE(tuneJson(request, tuned(request, known)), whole);
        QCOMPARE(calls, 2);
    }

    /// What a resumed search has not come to stays in its state.
    void trialsThatAreNotRepeatedAreKept()
    {
        const KnownTrials all
            = must(readSearch(tuneJson(m_request, tuned(m_request)), m_request)).trials;
        QVERIFY(all.size() > 2);
        std::vector<std::string> written;
        tuned(m_request, all, [&](const TuneState& state) -> Result<void> {
            written.push_back(tuneJson(m_request, state, all));
            return {};
        });
        for (const std::string& text : written)
            QCOMPARE(must(readSearch(text, m_request)).trials.size(), all.size());
        QVERIFY(written.back().find("\"earlier\": []") != std::string::npos);
    }

    void hostileStatesAreRefused()
    {
        for (const std::string& text :
             {std::string("[]"), std::string(R"({"format": 5})"),
              std::string(R"({"format": "quantscope.tune", "version": 2})"),
              std::string(R"({"format": "quantscope.tune", "version": 1, "of": 3})"),
              std::string(100'000, '[')})
            QVERIFY2(!readSearch(text, m_request), text.substr(0, 60).c_str());
        TuneState state;
        for (const double macs : {0.5, 1.5}) {
            state.trials = {Trial {}};
            state.trials[0].key = "one";
            state.trials[0].int8Macs = macs;
            QCOMPARE(readSearch(tuneJson(m_request, state), m_request).has_value(), macs < 1);
        }
    }

    void aBudgetLeavesTheBestSoFar()
    {
        TuneRequest request = m_request;
        request.goal.value = 90;
        request.trials = 2;
        const TuneState state = tuned(request);
        QVERIFY(state.trials.size() <= 3);
        QVERIFY(!state.isReached());
        QVERIFY(!state.stopped.empty());
    }

    void forbiddenCuresAreNotTaken()
    {
        const TuneState free = tuned(m_request);
        const Trial& best = free.trials[free.best];
        const auto first = std::find_if(best.cures.begin(), best.cures.end(), [](const Cure& cure) {
            return cure.at.kind != ValueAddress::Kind::None;
        });
        QVERIFY(first != best.cures.end());
        TuneRequest request = m_request;
        request.forbidden = {{first->kind, addressText(first->at)}};
        const TuneState held = tuned(request);
        for (const Trial& trial : held.trials)
            for (const Cure& cure : trial.cures)
                QVERIFY(cure.kind != first->kind || !(cure.at == first->at));
        request.forbidden = {{CureKind::Float, "con2d"}};
        StageChain chain;
        const auto refused = tune(chain, request, {}, nobody, {});
        QVERIFY(!refused);
        QVERIFY2(refused.error().hint.find("did you mean") != std::string::npos,
                 refused.error().hint.c_str());
        QVERIFY(!parseForbidden("float"));
        QVERIFY(!parseForbidden("flot@conv"));
    }

    void forwardsAreABudget()
    {
        TuneRequest request = m_request;
        request.goal.value = 90;
        request.forwards = 2; // the float model's and the first trial's
        const TuneState state = tuned(request);
        QCOMPARE(state.trials.size(), std::size_t(1));
        QVERIFY(state.stopped.find("forward passes") != std::string::npos);
        QVERIFY(!state.remaining.empty());
    }

    void aMetricIsAGoal()
    {
        TuneRequest request = m_request;
        request.goal = {TuneGoal::Kind::Metric, 0.5};
        int calls = 0;
        request.metric = [&calls](const std::string& file, const JobContext&) -> Result<double> {
            return QFileInfo(QString::fromStdString(file)).size() > 0 ? 0.4 + 0.1 * calls++ : -1;
        };
        const TuneState state = tuned(request);
        QVERIFY(state.isReached());
        QCOMPARE(state.trials.size(), std::size_t(2));
        QVERIFY(std::abs(*state.trials[1].guard.metric - 0.5) < 1e-9);
    }

    /// With times as the cost, the operator that takes much longer as float stays in int8.
    void timesAreACost()
    {
        TuneRequest request = m_request;
        request.goal.value = 42; // some operators have to be float
        request.keepInt8 = 0.2;
        request.cost = TuneCost::Ms;
        const TuneState measured = tuned(request);
        QVERIFY(measured.times.size() > 5);
        for (const UnitTime& time : measured.times)
            QVERIFY(time.floatMs >= 0 && time.int8Ms >= 0 && time.floatMs + time.int8Ms > 0);
        const auto floats = [](const TuneState& state) {
            std::set<std::string> places;
            for (const Trial& trial : state.trials)
                for (const Cure& cure : trial.cures)
                    if (cure.kind == CureKind::Float)
                        places.insert(addressText(cure.at));
            return places;
        };
        for (const bool isDear : {false, true}) {
            request.times = measured.times;
            for (UnitTime& time : request.times) {
                time.int8Ms = 1;
                time.floatMs = 2;
                if (time.node && request.file->get(time.node).name == "linear")
                    time.floatMs = isDear ? 1e6 : 1;
            }
            const TuneState state = tuned(request);
            QVERIFY(state.times == request.times);
            const std::set<std::string> places = floats(state);
            const bool isFloat = std::any_of(places.begin(), places.end(), [](const auto& place) {
                return place.find("head") != std::string::npos;
            });
            QCOMPARE(isFloat, !isDear);
            for (const Trial& trial : state.trials)
                QVERIFY(trial.ms && *trial.ms >= double(request.times.size()));
            QVERIFY(*state.trials.back().ms > *state.trials.front().ms);
        }
    }

    /// The times of an interrupted search go on with it: the rest of it is the same.
    void timesAreKept()
    {
        TuneRequest request = m_request;
        request.cost = TuneCost::Ms;
        request.trials = 3;
        const TuneState whole = tuned(request);
        const std::string text = tuneJson(request, whole);
        const KnownTrials known = must(readSearch(text, request)).trials;
        request.times = must(readSearch(text, request)).times;
        QVERIFY(request.times == whole.times);
        QCOMPARE(tuneJson(request, tuned(request, known)), text);
        for (const auto& [from, to] : {std::pair("\"float_ms\": ", "\"float_ms\": -"),
                                       std::pair("\"name\": \"linear\"", "\"name\": \"l\"")}) {
            std::string damaged = text;
            damaged.replace(damaged.rfind(from), std::string(from).size(), to);
            QVERIFY2(!readSearch(damaged, request), to);
        }
        QVERIFY(!readSearch("[", request));
    }

    void aSmallGuardIsSaid()
    {
        TuneRequest request = m_request;
        request.samples = 16;
        const TuneState state = tuned(request);
        QVERIFY(state.guardSamples > 0 && state.guardSamples < 8);
        QVERIFY(!state.notes.empty());
        QVERIFY(state.notes[0].find("held on all") != std::string::npos);
    }

    /// Fifty cancels, each after a random number of progress reports: what is written can be read,
    /// and a search that goes on from it gives the same bytes.
    void cancelsLeaveAReadableState()
    {
        TuneRequest request = m_request;
        request.trials = 4;
        std::int64_t reports = 0;
        StageChain counting;
        const JobContext counted({}, [&](const Progress&) { ++reports; });
        const std::string whole
            = tuneJson(request, must(tune(counting, request, {}, nobody, counted)));
        QRandomGenerator random(7);
        StageChain chain;
        int interrupted = 0;
        for (int i = 0; i < 50; ++i) {
            const auto stopAt = 1 + random.bounded(int(reports));
            std::string written;
            std::int64_t seen = 0;
            std::stop_source stop;
            const JobContext job(stop.get_token(), [&](const Progress&) {
                if (++seen >= stopAt)
                    stop.request_stop();
            });
            const auto made = tune(
                chain, request, {},
                [&](const TuneState& state) -> Result<void> {
                    written = tuneJson(request, state);
                    return {};
                },
                job);
            if (made)
                continue; // kept results report less
            ++interrupted;
            QVERIFY(made.error().code == ErrorCode::Cancelled);
            if (written.empty())
                continue;
            const KnownTrials known = must(readSearch(written, request)).trials;
            if (i % 10 == 0)
                QCOMPARE(tuneJson(request, must(tune(chain, request, known, nobody, {}))), whole);
        }
        QVERIFY(interrupted > 10);
    }

    void dataWithoutAGuardAreRefused()
    {
        TuneRequest request = m_request;
        request.samples = 1;
        StageChain chain;
        const auto made = tune(chain, request, {}, nobody, {});
        QVERIFY(!made);
        QVERIFY(made.error().message.find("guard") != std::string::npos);
        request.needsGuard = false;
        QVERIFY(tune(chain, request, {}, nobody, {}).has_value());
    }
};

QTEST_GUILESS_MAIN(TestTune)
#include "tst_tune.moc"
