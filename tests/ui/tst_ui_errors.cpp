// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/message_bar.h"

#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QtTest>

using namespace qs;

namespace {

/// Fails in one stage at a node. Its outline has other nodes in each form: one that prepare
/// made from `linear`, a quantize node of the reference form that came from nothing, and the packed
/// kernel of the lowered form.
class FailingEngine : public FakeEngine
{
public:
    Stage failing = Stage::Calibrate;
    std::string node;

    Result<GraphPtr> open(const std::string& path, const JobContext& job) override
    {
        return failed(Stage::Open, FakeEngine::open(path, job));
    }
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override
    {
        return failed(Stage::Calibrate, FakeEngine::calibrate(request, job));
    }
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override
    {
        auto made = FakeEngine::convert(request, job);
        return failed(Stage::Convert,
                      made ? withForms(**made, *request.calibration->prepared->model)
                           : std::move(made));
    }
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override
    {
        return failed(Stage::Compare, FakeEngine::compare(request, job));
    }
    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) override
    {
        return failed(Stage::Export, FakeEngine::exportTo(request, job));
    }
    Result<ConvertedPtr> outline(const GraphPtr& graph, const PlanPtr& plan, const Recipe& recipe,
                                 const JobContext& job) override
    {
        auto made = FakeEngine::outline(graph, plan, recipe, job);
        return made ? withForms(**made, *graph) : std::move(made);
    }

private:
    template<class T>
    Result<T> failed(Stage stage, Result<T> result) const
    {
        if (stage != failing)
            return result;
        return fail(makeError(ErrorCode::Unsupported, "it cannot be done").atNode(node));
    }

    /// The model with one operator more before `linear`.
    static GraphPtr with(const Graph& model, const std::string& name, bool fromLinear)
    {
        GraphEdit edit(model);
        const Node& linear = *model.tryFind("linear");
        Node node = linear;
        node.id = {};
        node.name = node.outputs.front().name = name;
        node.origin = fromLinear ? linear.id : NodeId();
        edit.insert(std::move(node), linear.id);
        return std::make_shared<const Graph>(edit.build());
    }

    static Result<ConvertedPtr> withForms(const ConvertedModel& made, const Graph& model)
    {
        auto prepared = std::make_shared<PreparedModel>(*made.prepared);
        prepared->graph = with(model, "linear_folded", true);
        auto out = std::make_shared<ConvertedModel>(made);
        out->prepared = prepared;
        out->reference = with(model, "quantize_per_tensor_9", false);
        out->lowered = with(model, "linear_packed", true);
        return ConvertedPtr(out);
    }
};

} // namespace

/// Whatever stage fails at whatever node: Show leads to it, in the form that has it.
class TestErrors : public test::WindowTest<FailingEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        QSettings().clear();
        m_engine.failing = Stage::Backend; // none
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    void cleanup() { m_window.reset(); }

    void showLeadsToTheNode_data()
    {
        QTest::addColumn<Stage>("stage");
        QTest::addColumn<QString>("name");
        QTest::addColumn<CodeForm>("form");
        QTest::addColumn<QString>("selected"); // float node; empty: it came from none
        const auto row = [](Stage stage, const char* name, CodeForm form, const char* selected) {
            QTest::addRow("%s at %s", qPrintable(stageName(stage)), name)
                << stage << QString::fromLatin1(name) << form << QString::fromLatin1(selected);
        };
        for (const Stage stage :
             {Stage::Calibrate, Stage::Convert, Stage::Compare, Stage::Export}) {
            row(stage, "conv2d_1", CodeForm::Float, "conv2d_1");
            row(stage, "p_fc_weight", CodeForm::Float,
                "linear"); // a parameter stands in its reader
            row(stage, "linear_folded", CodeForm::Prepared, "linear");
            row(stage, "quantize_per_tensor_9", CodeForm::Reference, "");
            row(stage, "linear_packed", CodeForm::Lowered, "linear");
        }
    }

    void showLeadsToTheNode()
    {
        QFETCH(Stage, stage);
        QFETCH(QString, name);
        QFETCH(CodeForm, form);
        QFETCH(QString, selected);
        m_engine.failing = stage;
        m_engine.node = name.toStdString();
        QSignalSpy failures(&workspace().pipeline(), &Pipeline::failed);
        if (stage == Stage::Export)
            workspace().pipeline().exportTo({"/tmp/none", {"torchscript"}});
        else
            workspace().pipeline().runUpTo(stage);
        QTRY_COMPARE(failures.count(), 1);
        QTRY_VERIFY(settled());
        workspace().selection().clear();
        QVERIFY(find<QWidget>("messageGoto")->isVisible());
        QTest::mouseClick(find<QWidget>("messageGoto"), Qt::LeftButton);
        QTRY_COMPARE(pane().form(), form);
        QTRY_VERIFY(settled());
        if (!selected.isEmpty())
            QVERIFY(workspace().selection().contains(node(qPrintable(selected))));
        // The very node is on the screen, and stands out.
        const auto& drawing = *pane().view().graphScene().drawing();
        const Graph& graph = *drawing.graph;
        const Node* found = graph.tryFind(name.toStdString());
        const NodeId drawn = found && found->isOperator() ? found->id : node("linear");
        const int entry = drawing.tree->unitOf(drawn);
        QVERIFY(drawing.nodeOfEntry[std::size_t(entry)] >= 0);
        const auto rectOfUnit = [&] { return pane().view().graphScene().rectOf(entry); };
        QTRY_VERIFY(pane().view().isShowing(rectOfUnit())); // once the form is laid out
        const QRectF rect = rectOfUnit();
        const QPointF middle = pane().view().mapToScene(pane().view().viewport()->rect().center());
        // Where the graph is in view from side to side, nothing has to move sideways.
        const QRectF whole = drawing.bounds, near = rect.adjusted(-2, -2, 2, 2);
        const QRectF seen
            = pane().view().mapToScene(pane().view().viewport()->rect()).boundingRect();
        const bool isAcross = seen.left() <= whole.left() && seen.right() >= whole.right();
        const bool isDown = seen.top() <= whole.top() && seen.bottom() >= whole.bottom();
        QVERIFY2((isAcross || (near.left() <= middle.x() && middle.x() <= near.right()))
                     && (isDown || (near.top() <= middle.y() && middle.y() <= near.bottom())),
                 "it is not in the middle");
    }

    /// The node is one of a file that is not open, whatever the open model calls its nodes.
    void nodesOfAFileThatDoesNotOpenAreNotOffered()
    {
        m_engine.failing = Stage::Open;
        m_engine.node = "linear";
        m_window->openModel(QStringLiteral("/models/other.pt2"));
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(m_window->messageBar().headline().contains(QStringLiteral("linear")));
        QVERIFY(!find<QWidget>("messageGoto")->isVisible());
    }

    void aFailureStaysWithItsDecisions()
    {
        using State = StageStatus::State;
        auto& pipeline = workspace().pipeline();
        const auto state = [&pipeline] { return pipeline.status(Stage::Calibrate).state; };
        m_engine.failing = Stage::Calibrate;
        workspace().assign({RuleKind::ModuleName, {"fc"}}, std::string());
        QTRY_VERIFY(settled());
        pipeline.runUpTo(Stage::Calibrate);
        QTRY_COMPARE(state(), State::Failed);
        workspace().undoStack().undo();
        QTRY_VERIFY(settled());
        QCOMPARE(state(), State::Waiting); // these were never tried
        workspace().undoStack().redo();
        QTRY_VERIFY(settled());
        QCOMPARE(state(), State::Failed);
        m_engine.failing = Stage::Backend;
        pipeline.runUpTo(Stage::Calibrate);
        QTRY_COMPARE(state(), State::Done);
    }

    void aNodeOfNoFormIsSaidToBeNone()
    {
        m_engine.failing = Stage::Convert;
        m_engine.node = "passing_by";
        workspace().pipeline().runUpTo(Stage::Convert);
        QTRY_VERIFY(m_window->messageBar().isVisible() && settled());
        QTest::mouseClick(find<QWidget>("messageGoto"), Qt::LeftButton);
        QTRY_VERIFY2(m_window->statusBar()->currentMessage().contains(QStringLiteral("passing_by")),
                     qPrintable(m_window->statusBar()->currentMessage()));
        QCOMPARE(pane().form(), CodeForm::Float);
    }
};

QTEST_MAIN(TestErrors)
#include "tst_ui_errors.moc"
