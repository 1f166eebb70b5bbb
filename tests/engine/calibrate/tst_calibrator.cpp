// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/kernels/device_plugin.h"
#include "tests/engine/calibrate/compare_stats.h"
#include "tests/support/thread_group.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <cmath>
#include <thread>

using namespace qs;

namespace {

// Batches given as they are.
class FixedData : public Dataset
{
public:
    explicit FixedData(std::vector<at::Tensor> batches)
        : m_batches(std::move(batches))
    {
    }
    std::int64_t batchCount() const override { return std::int64_t(m_batches.size()); }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override
    {
        const at::Tensor& x = m_batches[std::size_t(index)];
        return Batch {{x}, {}, x.size(0)};
    }

private:
    std::vector<at::Tensor> m_batches;
};

// Batches that take a while to read; remembers which were asked for.
class SlowData : public FixedData
{
public:
    SlowData(std::vector<at::Tensor> batches, std::chrono::milliseconds pause)
        : FixedData(std::move(batches))
        , m_pause(pause)
    {
    }
    Result<Batch> batch(std::int64_t index) const override
    {
        std::this_thread::sleep_for(m_pause);
        m_read.push_back(index);
        return FixedData::batch(index);
    }
    const std::vector<std::int64_t>& read() const { return m_read; }

private:
    std::chrono::milliseconds m_pause;
    mutable std::vector<std::int64_t> m_read;
};

NodeId addOp(GraphEdit& edit, const std::string& name, const std::string& target,
             std::vector<NamedArgument> args, ObserverId observer = {})
{
    Node node;
    node.name = name;
    node.target = target;
    node.args = std::move(args);
    node.observer = observer;
    node.outputs.push_back({"", {}});
    return edit.insert(node);
}

// x -> observe 1 -> log -> observe 2 -> mul by the weight (observer 3) -> output
PreparedModel model()
{
    GraphEdit edit;
    auto store = std::make_shared<TensorStore>();
    edit.setTensors(store);
    Node x;
    x.kind = NodeKind::Input;
    x.name = "x";
    x.outputs.push_back({"", {}});
    const NodeId in = edit.insert(x);
    Node weight;
    weight.kind = NodeKind::Parameter;
    weight.name = "weight";
    weight.tensor = store->add(at::tensor({-2.0f, 0.5f, 3.0f}));
    weight.outputs.push_back({"", {}});
    const NodeId w = edit.insert(weight);
    const std::string observe(kObserveTarget);
    const NodeId o1 = addOp(edit, "obs1", observe, {{"x", ValueRef {in, 0}}}, ObserverId(1));
    const NodeId log = addOp(edit, "log", "aten.log.default", {{"self", ValueRef {o1, 0}}});
    const NodeId neg = addOp(edit, "neg", "aten.neg.default", {{"self", ValueRef {log, 0}}});
    const NodeId o2 = addOp(edit, "obs2", observe, {{"x", ValueRef {neg, 0}}}, ObserverId(2));
    const NodeId mul = addOp(edit, "mul", "aten.mul.Tensor",
                             {{"self", ValueRef {o2, 0}}, {"other", ValueRef {w, 0}}});
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    out.args.push_back({"", ValueRef {mul, 0}});
    edit.insert(out);

    auto plan = std::make_shared<Plan>();
    for (std::uint32_t id = 1; id <= 3; ++id) {
        PlannedObserver planned;
        planned.id = ObserverId(id);
        planned.isWeight = id == 3;
        planned.spec.kind = id == 2 ? ObserverKind::Histogram : ObserverKind::MinMax;
        plan->observers.push_back(planned);
    }
    PreparedModel prepared;
    prepared.graph = std::make_shared<Graph>(edit.build());
    prepared.model = prepared.graph;
    prepared.plan = plan;
    prepared.observedWeight[ObserverId(3)] = {w, 0};
    return prepared;
}

} // namespace

class TestCalibrator : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// Statistics of ranks that share the batches are those of one process, to the bit.
    void ranksEqualOneProcess_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("batches");
        for (const int size : {2, 3, 5})
            for (const int batches : {1, 4, 23})
                QTest::addRow("%d ranks, %d batches", size, batches) << size << batches;
    }
    void ranksEqualOneProcess()
    {
        QFETCH(int, size);
        QFETCH(int, batches);
        std::vector<at::Tensor> tensors;
        at::manual_seed(7);
        for (int i = 0; i < batches; ++i) // ranges grow with some batches
            tensors.push_back(at::rand({5, 3}) * (1 + (i * 7) % 11) + 0.01);
        const FixedData data(tensors);
        const auto alone = calibrate(model(), data, "cpu");
        QVERIFY(alone);
        MessageBoard board(size);
        runRanks(board, size, [&](Group& group) {
            const auto shared = calibrate(model(), data, "cpu", {}, {.group = &group});
            QVERIFY2(shared, shared ? "" : shared.error().line().c_str());
            QCOMPARE((*shared)->batches, (*alone)->batches);
            QCOMPARE((*shared)->samples, (*alone)->samples);
            for (std::size_t i = 0; i < (*alone)->observers.size(); ++i)
                compareStats((*shared)->observers[i], (*alone)->observers[i]);
        });
    }

    /// The earliest NaN ends the run on every rank, with what one process finds.
    void ranksFindTheEarliestNaN()
    {
        std::vector<at::Tensor> tensors(6, at::ones({1, 3}));
        tensors[3] = at::tensor({1.0f, -1.0f, 1.0f}).view({1, 3}); // log gives NaN
        tensors[4] = tensors[3];
        const FixedData data(tensors);
        RunFindings expected;
        const auto alone = calibrate(model(), data, "cpu", {}, {.findings = &expected});
        QVERIFY(!alone);
        for (const int size : {2, 3, 4}) {
            MessageBoard board(size);
            runRanks(board, size, [&](Group& group) {
                RunFindings found;
                const auto shared
                    = calibrate(model(), data, "cpu", {}, {.findings = &found, .group = &group});
                QVERIFY(!shared);
                QCOMPARE(shared.error().line(), alone.error().line());
                QCOMPARE(found.nonFinite.size(), expected.nonFinite.size());
                for (std::size_t i = 0; i < expected.nonFinite.size(); ++i)
                    QCOMPARE(found.nonFinite[i].seen, expected.nonFinite[i].seen);
            });
        }
    }

    void sequencesNeedOneProcess()
    {
        FixedData data({at::ones({1, 3}), at::ones({1, 3})});
        data.setSequence(true);
        MessageBoard board(2);
        runRanks(board, 2, [&](Group& group) {
            const auto shared = calibrate(model(), data, "cpu", {}, {.group = &group});
            QVERIFY(!shared);
            QCOMPARE(shared.error().code, ErrorCode::Usage);
        });
    }

    void feedsEveryObserver()
    {
        const FixedData data({at::tensor({1.0f, 2.0f, 4.0f}).view({1, 3}),
                              at::tensor({0.5f, 8.0f, 1.0f}).view({1, 3})});
        std::vector<std::string> said;
        const JobContext job({}, [&](const Progress& p) { said.push_back(p.what); });
        const auto found = calibrate(model(), data, "cpu", job);
        QVERIFY2(found, found ? "" : found.error().line().c_str());
        const Observations& seen = **found;
        QCOMPARE(seen.observers.size(), std::size_t(3));
        QCOMPARE(seen.batches, std::int64_t(2));
        QCOMPARE(seen.samples, std::int64_t(2));
        QCOMPARE(seen.observers[0].min, 0.5f);
        QCOMPARE(seen.observers[0].max, 8.0f);
        QCOMPARE(seen.observers[0].batchMax, (std::vector<float> {4, 8}));
        QCOMPARE(seen.observers[1].min, -std::log(8.0f));
        QCOMPARE(seen.observers[1].exact.counts.size(), std::size_t(2048));
        QCOMPARE(seen.observers[2].min, -2.0f);
        QCOMPARE(seen.observers[2].max, 3.0f);
        QVERIFY(said.size() >= 2 && said[0] == "batch 1 of 2");
    }

    void namesTheNodeOfTheFirstNaN()
    {
        const FixedData data({at::ones({1, 3}), at::full({1, 3}, -1.0f)});
        const auto found = calibrate(model(), data, "cpu");
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::Numeric);
        QCOMPARE(found.error().node, std::string("log"));
        QVERIFY(found.error().message.find("batch 2") != std::string::npos);
    }

    void namesTheNodeOfAnInfAtTheOutput()
    {
        const FixedData data({at::full({1, 3}, 1e-30f)});
        PreparedModel prepared = model();
        GraphEdit edit(*prepared.graph);
        const NodeId mul = prepared.graph->tryFind("mul")->id;
        const NodeId big = addOp(edit, "exp", "aten.exp.default", {{"self", ValueRef {mul, 0}}});
        edit.replaceUses({mul, 0}, {big, 0}, {big});
        prepared.graph = std::make_shared<Graph>(edit.build());
        const auto found = calibrate(prepared, data, "cpu");
        QVERIFY(!found);
        QCOMPARE(found.error().node, std::string("exp"));
    }

    void stopsWhenAsked()
    {
        std::stop_source stop;
        const FixedData data(std::vector<at::Tensor>(50, at::ones({1, 3})));
        int batches = 0;
        const JobContext job(stop.get_token(), [&](const Progress&) {
            if (++batches == 3)
                stop.request_stop();
        });
        const auto found = calibrate(model(), data, "cpu", job);
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::Cancelled);
        QCOMPARE(batches, 3);
    }

    void goesOnWhereItWasCancelled()
    {
        at::manual_seed(3);
        std::vector<at::Tensor> batches;
        for (int i = 0; i < 6; ++i)
            batches.push_back(at::rand({4, 3}) * float(i + 1) + 0.01f);
        const auto prepared = model();
        const QTemporaryDir folder;
        const Checkpoint checkpoint(folder.filePath("statistics.npz").toStdString(), "key");

        std::stop_source stop;
        const SlowData slow(batches, std::chrono::milliseconds(550));
        const JobContext cancelling(stop.get_token(), [&](const Progress& progress) {
            if (progress.what == "batch 4 of 6")
                stop.request_stop();
        });
        const auto cancelled = calibrate(prepared, slow, "cpu", cancelling, {&checkpoint});
        QVERIFY(!cancelled);
        QCOMPARE(cancelled.error().code, ErrorCode::Cancelled);
        QVERIFY2(cancelled.error().message.find(" of 6") != std::string::npos,
                 cancelled.error().line().c_str());

        const Checkpoint ofAnother(checkpoint.path(), "another key");
        QVERIFY(!ofAnother.load(*prepared.plan));
        const auto kept = checkpoint.load(*prepared.plan);
        QVERIFY(kept && kept->batches >= 2 && kept->batches < 4);
        const SlowData rest(batches, {});
        const auto resumed = calibrate(prepared, rest, "cpu", {}, {&checkpoint});
        QVERIFY2(resumed, resumed ? "" : resumed.error().line().c_str());
        QCOMPARE(rest.read().front(), kept->batches);
        QCOMPARE(rest.read().size(), std::size_t(6 - kept->batches));
        checkpoint.remove();
        const auto whole = calibrate(prepared, FixedData(batches), "cpu", {}, {&checkpoint});
        QVERIFY(whole);
        QCOMPARE((*resumed)->batches, (*whole)->batches);
        QCOMPARE((*resumed)->samples, (*whole)->samples);
        for (std::size_t i = 0; i < 3; ++i)
            compareStats((*resumed)->observers[i], (*whole)->observers[i]);
    }

    // Observations on a device are collected later; the result is the CPU's.
    void aDeviceLeavesWhatTheCpuLeaves()
    {
        if (const auto plugin = loadCudaPlugin(); !plugin)
            QSKIP(plugin.error().line().c_str());
        const FixedData data({at::tensor({1.0f, 2.0f, 4.0f}).view({1, 3}),
                              at::tensor({0.5f, 8.0f, 1.0f}).view({1, 3})});
        const auto here = calibrate(model(), data, "cpu");
        const auto there = calibrate(model(), data, "cuda:0");
        QVERIFY2(here && there, there ? "" : there.error().line().c_str());
        for (std::size_t i = 0; i < (*here)->observers.size(); ++i) {
            const ObserverStats& a = (*here)->observers[i];
            const ObserverStats& b = (*there)->observers[i];
            QCOMPARE(a.count, b.count);
            QVERIFY(std::abs(a.min - b.min) <= 1e-6f * std::abs(a.min));
            QVERIFY(std::abs(a.max - b.max) <= 1e-6f * std::abs(a.max));
            QCOMPARE(a.batchMin.size(), b.batchMin.size());
        }
        const FixedData bad(
            {at::ones({1, 3}), at::tensor({1.0f, -2.0f, 4.0f}).view({1, 3}), at::ones({1, 3})});
        const auto found = calibrate(model(), bad, "cuda:0");
        QVERIFY(!found);
        QCOMPARE(found.error().node, std::string("log"));
        QVERIFY(found.error().message.find("batch 2") != std::string::npos);
    }

    void choosesDevices()
    {
        const Graph nothing = GraphEdit().build();
        QCOMPARE(chooseDevice("cpu", nothing)->device, std::string("cpu"));
        QCOMPARE(chooseDevice("gpu", nothing).error().code, ErrorCode::Usage);
        QCOMPARE(chooseDevice("cuda:x", nothing).error().code, ErrorCode::Usage);
        const auto automatic = chooseDevice("auto", nothing);
        QVERIFY(automatic);
        QVERIFY(!automatic->note.empty());
        if (cudaFacts().why.empty())
            return;
        QCOMPARE(automatic->device, std::string("cpu"));
        const auto cuda = chooseDevice("cuda", nothing);
        QVERIFY(!cuda);
        QCOMPARE(cuda.error().code, ErrorCode::Device);
        QVERIFY(cuda.error().line().find("--device cpu") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestCalibrator)
#include "tst_calibrator.moc"
