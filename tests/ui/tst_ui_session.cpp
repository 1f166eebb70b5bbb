// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/typing_engine.h"
#include "ui/session/workspace.h"

#include <QSignalSpy>
#include <QtTest>

#include <thread>

using namespace qs;

namespace {

/// A calibration that goes on where another stopped, at the half, and then waits.
class ResumingEngine : public FakeEngine
{
public:
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override
    {
        job.report("calibrate", "batch 5 of 10", 0.5);
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        job.report("calibrate", "batch 6 of 10", 0.6);
        while (wait && job.check())
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return FakeEngine::calibrate(request, job);
    }
    std::atomic<bool> wait = true;
};

} // namespace

class TestSession : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensAndPlans();
    void hierarchyFollowsThePlan();
    void resultsGoStaleAndComeBackWithUndo();
    void decisionsMadeDuringARunCount();
    void repeatedAssignmentsMerge();
    void clearingTakesTheRuleAway();
    void oneSelectionForNodesAndModules();
    void newestJobWins();
    void cancelStopsARunningJob();
    void destructorWaits();
    void failedStageIsReported();
    void timeLeftIsTheEngines();
    void whatTheDataTellOfTheModelIsKept();
    void otherCustomModulesAreAnotherGraph();
};

void TestSession::opensAndPlans()
{
    FakeEngine engine;
    Workspace workspace(engine);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    QCOMPARE(workspace.document().plan()->totalOps, 13);
    QCOMPARE(workspace.pipeline().status(Stage::Plan).state, StageStatus::State::Done);
    QCOMPARE(workspace.pipeline().status(Stage::Calibrate).state, StageStatus::State::Waiting);
}

void TestSession::hierarchyFollowsThePlan()
{
    FakeEngine engine;
    Workspace workspace(engine);
    auto& document = workspace.document();
    const auto isFused = [&workspace] {
        const auto id = workspace.document().model()->tryFind("conv2d_1")->id;
        const auto& tree = *workspace.foldTree();
        return tree.entry(tree.unitOf(id)).members.size() == 3;
    };
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(document.model());
    QVERIFY(workspace.foldTree());
    QTRY_VERIFY(document.plan());
    QVERIFY(isFused());
    QCOMPARE(workspace.foldTree(), document.hierarchy());
    // The same fusions: the views keep what they have.
    const FoldTreePtr before = workspace.foldTree();
    QSignalSpy changed(&workspace, &Workspace::treeChanged);
    workspace.assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(!document.isStale(Stage::Plan));
    QCOMPARE(workspace.foldTree(), before);
    QCOMPARE(changed.count(), 0);
    // A float convolution is not fused.
    workspace.assign({RuleKind::Node, {"conv2d_1"}}, std::string());
    QTRY_VERIFY(!document.isStale(Stage::Plan) && !isFused());
    QCOMPARE(changed.count(), 1);
}

void TestSession::resultsGoStaleAndComeBackWithUndo()
{
    FakeEngine engine;
    Workspace workspace(engine);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(workspace.document().comparison());
    auto& document = workspace.document();
    QVERIFY(!document.isStale(Stage::Compare));
    const Recipe before = document.recipe();

    workspace.selectNode(document.model()->tryFind("linear")->id);
    workspace.assign(workspace.nodeTarget(), std::string());
    QVERIFY(document.isStale(Stage::Calibrate));
    QVERIFY(document.isStale(Stage::Compare));
    QCOMPARE(workspace.pipeline().status(Stage::Compare).state, StageStatus::State::Stale);
    QTRY_VERIFY(!document.isStale(Stage::Plan));
    QCOMPARE(document.plan()->quantizedOps, 12);

    workspace.undoStack().undo();
    QVERIFY(document.recipe() == before);
    QVERIFY(!document.isStale(Stage::Compare));
    QTRY_COMPARE(document.plan()->quantizedOps, 13);
    workspace.undoStack().redo();
    QVERIFY(document.isStale(Stage::Compare));
    QTRY_COMPARE(document.plan()->quantizedOps, 12);

    // Running again brings every stage up to date, calibration included.
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(!document.isStale(Stage::Compare));
    QCOMPARE(engine.calibrations.load(), 2);
}

/// What ran under the older plan is not taken for the newer one's.
void TestSession::decisionsMadeDuringARunCount()
{
    FakeEngine engine;
    Workspace workspace(engine);
    auto& document = workspace.document();
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(document.plan());
    engine.waitInCalibration = true;
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_COMPARE(engine.calibrations.load(), 1);
    workspace.assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(!document.isStale(Stage::Plan));
    engine.waitInCalibration = false;
    QTRY_VERIFY(document.comparison());
    QCOMPARE(engine.calibrations.load(), 2);
    QVERIFY(!document.isStale(Stage::Calibrate) && !document.isStale(Stage::Compare));
    QCOMPARE(document.calibration()->prepared->plan, document.plan());
    QCOMPARE(document.converted()->prepared, document.calibration()->prepared);
}

void TestSession::repeatedAssignmentsMerge()
{
    FakeEngine engine;
    Workspace workspace(engine);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    const Recipe start = workspace.document().recipe();
    const AssignTarget block {RuleKind::ModuleName, {"block"}};
    workspace.assign(block, std::string());
    workspace.assign(block, std::string("x86"));
    QCOMPARE(workspace.undoStack().count(), 1);
    QCOMPARE(workspace.document().recipe().mapping.rules.size(), start.mapping.rules.size() + 1);
    workspace.assign({RuleKind::Node, {"linear"}}, std::string());
    QCOMPARE(workspace.undoStack().count(), 2);
    workspace.undoStack().undo();
    workspace.undoStack().undo();
    QVERIFY(workspace.document().recipe() == start);
}

void TestSession::clearingTakesTheRuleAway()
{
    const Recipe start = defaultRecipe();
    const AssignTarget nodes {RuleKind::Node, {"add", "relu_2"}};
    const Recipe kept = assignQConfig(start, nodes, std::string());
    QCOMPARE(kept.mapping.rules.size(), start.mapping.rules.size() + 2);
    QVERIFY(!kept.mapping.rules.back().qconfig.config);
    QVERIFY(assignQConfig(kept, nodes, std::nullopt) == start);
}

void TestSession::otherCustomModulesAreAnotherGraph()
{
    FakeEngine engine;
    Workspace workspace(engine);
    auto& document = workspace.document();
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(document.plan() && !document.isGraphStale());
    Recipe attention = document.recipe();
    attention.prepare.customModules = {"torch.nn.MultiheadAttention"};
    QSignalSpy graphs(&document, &Document::graphEdited);
    document.setRecipe(attention);
    QVERIFY(document.isGraphStale());
    workspace.pipeline().plan();
    QTRY_VERIFY(!document.isGraphStale());
    QCOMPARE(graphs.size(), 1); // made anew by the engine
    document.setRecipe(attention);
    QVERIFY(!document.isGraphStale());
    document.setRecipe(defaultRecipe());
    QVERIFY(document.isGraphStale());
    workspace.pipeline().plan();
    QTRY_VERIFY(!document.isGraphStale());
    // A pack that was loaded while the graph was made is not in it.
    GraphMaking before = GraphMaking::of(defaultRecipe());
    before.packs = "without the pack";
    document.setEdited(document.edited(), document.plan(), document.keys(), before, nullptr);
    QVERIFY(document.isGraphStale());
}

void TestSession::oneSelectionForNodesAndModules()
{
    FakeEngine engine;
    Workspace workspace(engine);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    const auto& tree = *workspace.foldTree();
    const int block = tree.moduleEntry("block");
    workspace.selectEntry(block);
    QVERIFY(workspace.selection().isModule());
    QCOMPARE(workspace.selection().nodes().size(), std::size_t(7));
    QCOMPARE(workspace.selectedEntries(), std::vector<int> {block});

    // A fused group is selected as one, and a second one joins it.
    const int stem = tree.unitOf(workspace.document().model()->tryFind("relu")->id);
    const int fc = tree.unitOf(workspace.document().model()->tryFind("linear")->id);
    workspace.selectEntry(stem);
    QCOMPARE(workspace.selection().nodes().size(), std::size_t(3));
    workspace.selectEntry(fc, true);
    QCOMPARE(workspace.selection().nodes().size(), std::size_t(4));
    QCOMPARE(workspace.nodeTarget().keys.size(), std::size_t(4));
    workspace.selectEntry(stem, true);
    QCOMPARE(workspace.selectedEntries(), std::vector<int> {fc});
}

void TestSession::newestJobWins()
{
    JobRunner jobs;
    QObject owner;
    QStringList seen;
    const auto job = [](const QString& name) {
        return [name](JobContext& context) -> Result<QString> {
            for (int i = 0; i < 20 && !context.cancelled(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
            return name;
        };
    };
    for (const char* name : {"first", "second", "third"})
        jobs.run(Lane::Pool, QStringLiteral("layout"), job(QString::fromLatin1(name)), &owner,
                 [&seen](Result<QString> result) { seen << *result; });
    QTRY_VERIFY(jobs.isIdle());
    QCOMPARE(seen, QStringList {QStringLiteral("third")});
}

void TestSession::cancelStopsARunningJob()
{
    FakeEngine engine;
    engine.waitInCalibration = true;
    Workspace workspace(engine);
    QSignalSpy failures(&workspace.pipeline(), &Pipeline::failed);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_COMPARE(workspace.pipeline().status(Stage::Calibrate).state, StageStatus::State::Running);
    QTRY_COMPARE(workspace.pipeline().status(Stage::Calibrate).fraction, 0.5);
    workspace.pipeline().cancel();
    QTRY_COMPARE(failures.count(), 1);
    QVERIFY(!workspace.pipeline().isBusy());
    QCOMPARE(workspace.pipeline().status(Stage::Calibrate).state, StageStatus::State::Waiting);
    QVERIFY(!workspace.document().comparison());
}

void TestSession::destructorWaits()
{
    std::atomic<bool> finished = false;
    QObject owner;
    {
        JobRunner jobs;
        jobs.run(
            Lane::Engine, QStringLiteral("long"),
            [&finished](JobContext& context) -> Result<int> {
                while (!context.cancelled())
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                finished = true;
                return 1;
            },
            &owner, [](const Result<int>&) { QFAIL("a dropped job must not report"); });
    }
    QVERIFY(finished);
    QCoreApplication::processEvents();
}

void TestSession::failedStageIsReported()
{
    FakeEngine engine;
    engine.failCalibration = true;
    Workspace workspace(engine);
    Error seen;
    connect(&workspace.pipeline(), &Pipeline::failed, this,
            [&seen](Stage, const Error& error) { seen = error; });
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    workspace.pipeline().runUpTo(Stage::Convert);
    QTRY_COMPARE(QString::fromStdString(seen.node), QStringLiteral("conv2d_1"));
    QCOMPARE(workspace.pipeline().status(Stage::Calibrate).state, StageStatus::State::Failed);
    QVERIFY(!workspace.document().converted());
}

/// What was done before does not count: a tenth took 0.6 s, so four take over two.
void TestSession::timeLeftIsTheEngines()
{
    ResumingEngine engine;
    Workspace workspace(engine);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    workspace.pipeline().runUpTo(Stage::Calibrate);
    const auto text = [&] { return workspace.pipeline().status(Stage::Calibrate).text; };
    const QRegularExpression expected(QStringLiteral("^60 % · about (\\d+) s left$"));
    QTRY_VERIFY2(expected.match(text()).hasMatch(), qPrintable(text()));
    QVERIFY2(expected.match(text()).captured(1).toInt() >= 2, qPrintable(text()));
    engine.wait = false;
    QTRY_VERIFY(workspace.document().calibration());
}

void TestSession::whatTheDataTellOfTheModelIsKept()
{
    TypingEngine engine;
    Workspace workspace(engine);
    auto& document = workspace.document();
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(document.plan());
    const NodeId chosen = document.model()->tryFind("linear")->id;
    workspace.selectNode(chosen);
    const int before = document.plan()->quantizedOps;
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(document.comparison());
    QCOMPARE(document.model(), document.calibration()->prepared->model);
    QCOMPARE(document.model()->tryFind("relu")->outputs[0].type.dtype, DType::Int64);
    QCOMPARE(document.plan(), document.calibration()->prepared->plan);
    QCOMPARE(document.plan()->quantizedOps, before - 1);
    QVERIFY(!document.isStale(Stage::Plan) && !document.isStale(Stage::Calibrate));
    QCOMPARE(workspace.selection().nodes(), std::vector<NodeId> {chosen});
    // Later plans are of the model as it is known now.
    workspace.assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(!document.isStale(Stage::Plan));
    QCOMPARE(document.model()->tryFind("relu")->outputs[0].type.dtype, DType::Int64);
}

QTEST_MAIN(TestSession)
#include "tst_ui_session.moc"
