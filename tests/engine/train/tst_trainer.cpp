// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/given_observations.h"
#include "engine/train/interrupted_training.h"
#include "engine/train/trainer.h"
#include "engine/train/usual_rates.h"
#include "tests/support/tiny_graph.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <chrono>
#include <thread>

using namespace qs;
using namespace qs::test;

namespace {

/// Eight batches of four random samples.
class RandomBatches : public Dataset
{
public:
    explicit RandomBatches(double scale = 1)
        : m_x(at::randn({8, 4, 6}) * scale)
    {
    }
    std::int64_t batchCount() const override { return m_x.size(0); }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override { return Batch {{m_x[index]}, {}, 4}; }

private:
    at::Tensor m_x;
};

/// Two linears with a relu between, each with observers of its input and weight; `kind`: of all of
/// them. A batch norm with running statistics may come after the first.
struct Model
{
    GraphPtr graph;
    std::shared_ptr<Plan> plan = std::make_shared<Plan>();

    explicit Model(FakeQuantize kind, bool hasNorm = false)
    {
        at::manual_seed(3);
        TinyGraph tiny;
        const ValueRef x = tiny.input("x", {4, 6});
        const ValueRef w1 = tiny.parameter("one.weight", at::randn({5, 6}));
        const ValueRef w2 = tiny.parameter("two.weight", at::randn({3, 5}));
        const ValueRef a = tiny.op("aten.linear.default", {{"input", x}, {"weight", w1}}, {4, 5});
        const ValueRef n = !hasNorm
            ? a
            : tiny.op("aten.batch_norm.default",
                      {{"input", a},
                       {"weight", tiny.parameter("norm.weight", at::ones({5}))},
                       {"bias", tiny.parameter("norm.bias", at::zeros({5}))},
                       {"running_mean", tiny.parameter("norm.running_mean", at::zeros({5}))},
                       {"running_var", tiny.parameter("norm.running_var", at::ones({5}))},
                       {"training", false},
                       {"momentum", 0.1},
                       {"eps", 1e-5},
                       {"cudnn_enabled", false}},
                      {4, 5});
        const ValueRef r = tiny.op("aten.relu.default", {{"self", n}}, {4, 5});
        const ValueRef y = tiny.op("aten.linear.default", {{"input", r}, {"weight", w2}}, {4, 3});
        graph = tiny.finish({y});
        plan->nodes.resize(graph->nodes().size());
        observe(x, {}, kind);
        observe(r, {}, kind);
        observe(w1, a.node, kind);
        observe(w2, y.node, kind);
    }

    void observe(ValueRef value, NodeId owner, FakeQuantize kind)
    {
        PlannedObserver& added = plan->observers.emplace_back();
        added.id = ObserverId(std::uint32_t(plan->observers.size()));
        added.isWeight = bool(owner);
        added.weightOwner = owner;
        added.edges.push_back({value, {}});
        added.spec.kind = ObserverKind::MovingAverageMinMax;
        added.spec.fakeQuantize = kind;
        added.spec.dtype = owner ? DType::QInt8 : DType::QUInt8;
        added.spec.qscheme = owner ? QScheme::PerTensorSymmetric : QScheme::PerTensorAffine;
        if (owner) {
            added.spec.quantMin = -8;
            added.spec.quantMax = 7;
        }
    }

    Result<Training> train(const Dataset& data, const TrainingSettings& settings,
                           const TrainingStore& store = {}, const SeeTraining& see = {},
                           const JobContext& job = {}) const
    {
        QS_TRY(const TrainingGraphPtr made,
               prepareForTraining(graph, plan, NormFactors::OfTraining));
        return qs::train({*made, graph, data}, settings, store, see, job);
    }

    /// Trains with a limit on the values of a step.
    Result<Training> trainWithin(std::size_t bytes, const Dataset& data,
                                 const TrainingSettings& settings) const
    {
        QS_TRY(const TrainingGraphPtr made,
               prepareForTraining(graph, plan, NormFactors::OfTraining));
        TrainingTask task {*made, graph, data};
        task.valueBytes = bytes;
        return qs::train(task, settings, {}, {}, {});
    }
};

at::Tensor parameterOf(const Graph& graph, const std::string& path)
{
    for (const NodePtr& node : graph.nodes())
        if (node->target == path)
            return *tensorsOf(graph)->getTensor(node->tensor);
    return {};
}

bool isSame(const Graph& a, const Graph& b)
{
    const GivenObservations& one = givenObservations(a);
    const GivenObservations& other = givenObservations(b);
    bool same = one.size() == other.size();
    for (std::size_t i = 0; same && i < one.size(); ++i)
        same = one[i].min == other[i].min && one[i].max == other[i].max;
    for (const char* path : {"one.weight", "two.weight"})
        same = same && at::equal(parameterOf(a, path), parameterOf(b, path));
    return same;
}

} // namespace

class TestTrainer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void lossFalls_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("FakeQuantize") << int(FakeQuantize::Plain);
        QTest::newRow("FusedMovingAvgObsFakeQuantize") << int(FakeQuantize::FusedMovingAverage);
    }
    void lossFalls()
    {
        QFETCH(int, kind);
        const Model model {FakeQuantize(kind)};
        TrainingSettings settings;
        settings.steps = 200;
        settings.rate = 0.01;
        const auto made = model.train(RandomBatches(), settings);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QVERIFY(made->points.back().loss < 0.7 * made->points.front().loss);
        QVERIFY(*made->points[made->best].guardDb > *made->points.front().guardDb);
        QCOMPARE(made->trainedSamples, 24);
        QCOMPARE(made->guardSamples, 8);
        QVERIFY(!at::equal(parameterOf(*made->model, "one.weight"),
                           parameterOf(*model.graph, "one.weight")));
    }

    void repeatsToTheBit()
    {
        const Model model {FakeQuantize::Plain};
        const RandomBatches data;
        TrainingSettings settings;
        settings.steps = 30;
        settings.seed = 7;
        const auto one = model.train(data, settings), other = model.train(data, settings);
        QVERIFY(one && other);
        QVERIFY(isSame(*one->model, *other->model));
    }

    void shareOfTheGuard_data()
    {
        QTest::addColumn<double>("share");
        QTest::addColumn<int>("guardSamples");
        QTest::newRow("none") << 0.0 << 0;
        QTest::newRow("an eighth") << 0.125 << 4;
        QTest::newRow("a quarter") << 0.25 << 8;
        QTest::newRow("half") << 0.5 << 16;
        QTest::newRow("seven eighths") << 0.875 << 28;
    }
    void shareOfTheGuard()
    {
        QFETCH(double, share);
        QFETCH(int, guardSamples);
        TrainingSettings settings;
        settings.steps = 8;
        settings.guard = share;
        const auto made = Model(FakeQuantize::Plain).train(RandomBatches(), settings);
        QVERIFY(made);
        QCOMPARE(made->guardSamples, guardSamples);
        QCOMPARE(made->trainedSamples, 32 - guardSamples);
    }

    void guardBatches()
    {
        for (const double share : {0.01, 0.07, 0.1, 0.25, 1.0 / 3, 0.5, 0.9}) {
            const std::int64_t least = batchesForGuard(share);
            QVERIFY(isGuardBatch(least - 1, share));
            int guards = 0;
            for (std::int64_t i = 0; i < 100; ++i) {
                guards += isGuardBatch(i, share);
                QVERIFY(guards == 0 || i >= least - 1);
            }
            QCOMPARE(guards, int(100 * share + 1e-9));
        }
    }

    /// A step by segments, which run forward twice, gives the same bits.
    void segmentsGiveTheSameBits_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("hasNorm");
        QTest::newRow("FakeQuantize") << int(FakeQuantize::Plain) << false;
        QTest::newRow("a batch norm that trains") << int(FakeQuantize::Plain) << true;
        QTest::newRow("FusedMovingAvgObsFakeQuantize")
            << int(FakeQuantize::FusedMovingAverage) << false;
    }
    void segmentsGiveTheSameBits()
    {
        QFETCH(int, kind);
        QFETCH(bool, hasNorm);
        const Model model(FakeQuantize(kind), hasNorm);
        const RandomBatches data;
        TrainingSettings settings;
        settings.steps = 25;
        settings.rate = 0.01;
        settings.freezeBatchNorms.reset();
        const auto whole = model.trainWithin(0, data, settings);
        const auto parts = model.trainWithin(1, data, settings);
        QVERIFY2(whole && parts, parts ? "" : parts.error().line().c_str());
        QVERIFY(isSame(*whole->model, *parts->model));
        QVERIFY(!at::equal(parameterOf(*whole->model, "one.weight"),
                           parameterOf(*model.graph, "one.weight")));
        if (hasNorm)
            for (const char* path : {"norm.weight", "norm.running_mean", "norm.running_var"}) {
                QVERIFY(
                    at::equal(parameterOf(*whole->model, path), parameterOf(*parts->model, path)));
                QVERIFY(
                    !at::equal(parameterOf(*whole->model, path), parameterOf(*model.graph, path)));
            }
        for (std::size_t i = 0; i < whole->points.size(); ++i)
            QCOMPARE(parts->points[i].loss, whole->points[i].loss);
    }

    void frozenParametersStay()
    {
        const Model model {FakeQuantize::Plain};
        TrainingSettings settings;
        settings.steps = 10;
        settings.frozen = {"one"};
        const auto made = model.train(RandomBatches(), settings);
        QVERIFY(made);
        QVERIFY(at::equal(parameterOf(*made->model, "one.weight"),
                          parameterOf(*model.graph, "one.weight")));
        settings.frozen = {"three"};
        QVERIFY(!model.train(RandomBatches(), settings));
        settings.frozen = {"one", "two"};
        QVERIFY(!model.train(RandomBatches(), settings));
    }

    /// Cancelled at a random moment and resumed: as if it had not been interrupted.
    void resumesToTheBit_data()
    {
        QTest::addColumn<int>("cancelAt");
        for (int i = 0; i < 12; ++i)
            QTest::addRow("%d", i) << i;
    }
    void resumesToTheBit()
    {
        QFETCH(int, cancelAt);
        const Model model {FakeQuantize::FusedMovingAverage};
        const RandomBatches data;
        const QTemporaryDir folder;
        TrainingSettings settings;
        settings.steps = 24;
        settings.seed = 5;
        settings.freezeObservers = 16;
        const auto whole = model.train(data, settings);
        QVERIFY(whole);

        TrainingStore store {folder.filePath("part.npz").toStdString(), "key", false};
        std::stop_source stop;
        int reports = 0;
        const JobContext job(stop.get_token(), [&](const Progress&) {
            if (++reports == 2 * cancelAt + 1)
                stop.request_stop();
        });
        const auto part = model.train(data, settings, store, {}, job);
        if (part) {
            QCOMPARE(part->stopped, std::string("cancelled"));
            QVERIFY(part->steps < 24);
        } else { // nothing was measured yet
            QCOMPARE(int(part.error().code), int(ErrorCode::Cancelled));
        }
        if (const auto said = readInterrupted(store.path)) {
            QCOMPARE(said->steps, part ? part->steps : said->steps);
            QVERIFY(said->fromScratch);
            QVERIFY(trainingSettingsJson(said->settings) == trainingSettingsJson(settings));
        } else {
            QVERIFY2(!part, said.error().line().c_str());
        }
        store.resumes = true;
        const auto rest = model.train(data, settings, store);
        QVERIFY2(rest, rest ? "" : rest.error().line().c_str());
        QCOMPARE(rest->steps, 24);
        QCOMPARE(rest->points.size(), whole->points.size());
        QCOMPARE(rest->best, whole->best);
        QVERIFY(isSame(*rest->model, *whole->model));
        store.key = "another";
        QVERIFY(!model.train(data, settings, store));
    }

    /// A cancel at any moment, the way back included, is a cancel, not another error.
    void cancelsAtAnyMoment()
    {
        const Model model {FakeQuantize::Plain};
        const RandomBatches data;
        TrainingSettings settings;
        settings.steps = 100000;
        for (int i = 0; i < 60; ++i) {
            std::stop_source stop;
            const std::jthread later([&stop, i] {
                std::this_thread::sleep_for(std::chrono::microseconds(2000 + 97 * i));
                stop.request_stop();
            });
            const auto made = model.train(data, settings, {}, {}, JobContext(stop.get_token()));
            if (made)
                QCOMPARE(made->stopped, std::string("cancelled"));
            else
                QVERIFY2(made.error().code == ErrorCode::Cancelled, made.error().line().c_str());
        }
    }

    void notFinite()
    {
        const Model model {FakeQuantize::Plain};
        TrainingSettings settings;
        settings.steps = 20;
        settings.rate = 1e38;
        const auto made = model.train(RandomBatches(), settings);
        QVERIFY(!made);
        QVERIFY2(made.error().line().find("step") != std::string::npos,
                 made.error().line().c_str());
    }

    void usualRatesFollowTheNoise()
    {
        const Model model {FakeQuantize::Plain};
        const auto made = prepareForTraining(model.graph, model.plan, NormFactors::OfFolding);
        QVERIFY(made);
        const auto state = TrainingState::create(**made, {}, at::kCPU);
        QVERIFY(state);
        const auto rateAt = [&](int step, double guardDb) {
            const TrainingPoint point {step, 0, guardDb, 0};
            return usualRates(*state, {&point, 1}).front();
        };
        const double size
            = parameterOf(*model.graph, "one.weight").square().mean().sqrt().item<double>();
        QCOMPARE(usualRates(*state, {}).front(), size / 4000);
        QCOMPARE(rateAt(0, 40), size / 4000); // the least
        QCOMPARE(rateAt(0, 20), size / 1000);
        QCOMPARE(rateAt(0, -20), size / 100); // the most
        QCOMPARE(rateAt(15, 20), size / 4000); // not before the training
    }

    /// Plain observers of activations have a range only after a calibration.
    void plainObserversNeedAStart()
    {
        const Model model {FakeQuantize::None};
        QVERIFY(needingCalibration(*model.plan, false));
        QVERIFY(!model.train(RandomBatches(), {}));
        QVERIFY(!needingCalibration(*Model(FakeQuantize::Plain).plan, false));
        QVERIFY(needingCalibration(*Model(FakeQuantize::Plain).plan, true));
    }
};

QTEST_GUILESS_MAIN(TestTrainer)
#include "tst_trainer.moc"
