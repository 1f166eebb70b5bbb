// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/style/theme.h"

#include <QListWidget>

using namespace qs;

/// Edges in the window: looked at, decided on, and undone.
class TestEdges : public test::EdgeWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { openAndCompare(); }
    void init() { startAgain(); }
    void cleanupTestCase() { m_window.reset(); }

    void aClickOnALineInspectsTheEdge()
    {
        auto& view = pane().view();
        const auto& drawing = *view.graphScene().drawing();
        const Edge wanted = forked();
        const auto& canvas = view.graphScene().canvas();
        std::optional<QPointF> place; // on a line of the value, where nothing else is
        for (const DrawnEdge& edge : drawing.edges)
            for (int i = 1; i < 20 && !place && edge.value == wanted.value; ++i) {
                const QPointF at = drawing.pathOf(edge).pointAtPercent(i / 20.0);
                const int found = drawing.edgeAt(at, 3);
                if (canvas.nodeAt(at) < 0 && canvas.frameHeaderAt(at) < 0 && found >= 0
                    && drawing.edges[std::size_t(found)].value == wanted.value)
                    place = at;
            }
        QVERIFY(place);
        view.setZoom(1);
        view.centerOn(*place);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(*place));
        QVERIFY(workspace().selection().edge());
        const Edge chosen = *workspace().selection().edge();
        QCOMPARE(chosen.value, wanted.value);
        QTRY_VERIFY(find<QWidget>("cardEdge")->isVisible());
        QVERIFY(!find<QWidget>("cardQuantization")->isVisible());
        QCOMPARE(label("propertyTitle"), edgeText(workspace().facts(), chosen));
        QVERIFY(label("edgeRuleWon").startsWith(QStringLiteral("✓ global")));
        QVERIFY(!view.graphScene().litEdges().chosen.empty());
        QTRY_VERIFY(histogram().caption().startsWith(edgeText(workspace().facts(), chosen)));
        QVERIFY(histogram().barCount() > 0);
        // Escape leads back to the node, then to nothing.
        m_window->actions()[ActionId::SelectNone].trigger();
        QVERIFY(!workspace().selection().edge() && !workspace().selection().isEmpty());
        QVERIFY(view.graphScene().litEdges().chosen.empty());
        m_window->actions()[ActionId::SelectNone].trigger();
        QVERIFY(workspace().selection().isEmpty());
    }

    void keysStepThroughTheEdges()
    {
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        const auto around = edgesAround(workspace());
        QCOMPARE(around.size(), std::size_t(3)); // one in, two out
        for (std::size_t i = 0; i < 4; ++i) {
            m_window->actions()[ActionId::NextEdge].trigger();
            QVERIFY(workspace().selection().edge() == around[i % 3]);
        }
        m_window->actions()[ActionId::PreviousEdge].trigger();
        QVERIFY(workspace().selection().edge() == around[2]);
        // From the list in the panel, by keyboard.
        workspace().selection().setEdge({});
        auto* list = find<QListWidget>("edgeList");
        QTRY_VERIFY(list->isVisible() && list->count() == 3);
        list->setFocus();
        list->setCurrentRow(1);
        QTest::keyClick(list, Qt::Key_Return);
        QVERIFY(workspace().selection().edge() == around[1]);
    }

    void anOperatorKeptInFloatTellsWhatItMoves()
    {
        const NodeId kept = forked().reader.node;
        const QString name = QString::fromStdString(graph().get(kept).name);
        workspace().selectNode(kept);
        QVERIFY(!find<QLabel>("whyMovement"));
        workspace().assign({RuleKind::Node, {name.toStdString()}}, std::string());
        settle();
        QJsonObject moved;
        for (const QJsonValue node : m_commandLine.plan(document().recipe())["nodes"].toArray())
            if (node.toObject()["name"].toString() == name)
                moved = node.toObject()["crossings"].toObject();
        QVERIFY(moved["values"].toInt() > 1);
        QTRY_COMPARE(label("whyMovement"),
                     QStringLiteral("Between int8 and float for it: %1 values, %2 a sample")
                         .arg(moved["values"].toInt())
                         .arg(QLocale::c().formattedDataSize(qint64(moved["bytes"].toDouble()), 1,
                                                             QLocale::DataSizeSIFormat)));
        startAgain();
        workspace().selectNode(kept);
        QTRY_VERIFY(!find<QLabel>("whyMovement"));
    }

    /// One edge alone: quantized again after the value's own observer, reported as the edge rule.
    void anEdgeGetsItsOwnObserver()
    {
        const Edge edge = forked();
        workspace().selectEdge(edge);
        QTRY_VERIFY(find<QComboBox>("edgeRangeBox"));
        const int steps = workspace().undoStack().count();
        choose("edgeRangeBox", "minmax");
        settle();
        QCOMPARE(edgeRules(), 1);
        QCOMPARE(workspace().undoStack().count(), steps + 1);
        QTRY_VERIFY(label("edgeRuleWon").startsWith(QStringLiteral("✓ edge")));
        const EdgeFacts facts = factsOf(edge);
        QVERIFY(facts.before);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const std::string reader = graph().get(edge.reader.node).name;
        const QJsonObject node = told(reader);
        QJsonObject input;
        for (const QJsonValue one : node["inputs"].toArray())
            if (one.isObject())
                input = one.toObject();
        QCOMPARE(input["rule"].toObject()["kind"].toString(), QStringLiteral("edge"));
        checkScales(input, workspace().facts().qparams(facts.observer),
                    workspace().facts().stats(facts.observer));
        const NodeId last = workspace().facts().last(edge.reader.node);
        checkTerm(told(graph().get(last).name)["error"].toObject()["cumulative"],
                  workspace().facts().error(last)->cumulative);
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == m_start);
        QTRY_VERIFY(label("edgeRuleWon").startsWith(QStringLiteral("✓ global")));
        workspace().undoStack().redo();
        settle();
        QCOMPARE(edgeRules(), 1);
        // "by rule" takes it away again.
        choose("edgeQConfigBox", "by rule");
        settle();
        QCOMPARE(edgeRules(), 0);
    }

    /// All readers: the value itself is observed so.
    void allReadersOfAValueChangeTheValue()
    {
        const Edge edge = forked();
        workspace().selectEdge(edge);
        QTRY_VERIFY(find<QComboBox>("edgeScopeBox"));
        choose("edgeScopeBox", find<QComboBox>("edgeScopeBox")->itemText(1));
        choose("edgeObserverBox", "minmax");
        settle();
        QCOMPARE(edgeRules(), 2);
        const EdgeFacts facts = factsOf(edge);
        QVERIFY(facts.observer && !facts.before);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const QJsonObject node = told(graph().get(edge.value.node).name);
        QCOMPARE(node["output"].toObject()["observer"].toString(), QStringLiteral("minmax"));
        QCOMPARE(node["output"].toObject()["rule"].toObject()["kind"].toString(),
                 QStringLiteral("edge"));
        checkScales(node["output"], workspace().facts().qparams(facts.observer),
                    workspace().facts().stats(facts.observer));
        workspace().undoStack().undo();
        QVERIFY(document().recipe() == m_start);
    }

    void partnersLightUpAndChangeTogether()
    {
        const Edge edge = sharing();
        workspace().selectEdge(edge);
        QTRY_VERIFY(label("edgePartners").contains(QStringLiteral("change together")));
        const auto partners = sharedAlong(graph(), plan(), edge);
        QVERIFY(!partners.empty());
        const auto& lit = pane().view().graphScene().litEdges();
        QVERIFY(!lit.chosen.empty());
        QVERIFY(!lit.partners.empty() && !lit.makers.empty());
        choose("edgeObserverBox", "minmax");
        settle();
        const ObserverId now = factsOf(edge).observer;
        QCOMPARE(workspace().facts().observer(now)->spec.kind, ObserverKind::MinMax);
        const ObserverId made = workspace().facts().outputObserver(edge.reader.node);
        QCOMPARE(workspace().facts().observer(made)->spec.kind, ObserverKind::MinMax);
        workspace().undoStack().undo();
        QVERIFY(document().recipe() == m_start);
    }

    /// The prepared form: a line to an observer means the edge after it.
    void thePreparedFormLeadsToTheSameEdges()
    {
        pane().showForm(CodeForm::Prepared);
        QTRY_VERIFY_WITH_TIMEOUT(pane().isLayoutDone() && pane().view().graphScene().drawing(),
                                 60000);
        const Edge edge = forked();
        workspace().selectEdge(edge);
        auto& scene = pane().view().graphScene();
        QTRY_VERIFY(!scene.litEdges().chosen.empty());
        const int stretch = scene.litEdges().chosen.back();
        workspace().selection().clear();
        Q_EMIT pane().view().edgeClicked(stretch);
        QVERIFY(workspace().selection().edge());
        QCOMPARE(workspace().selection().edge()->value.node, edge.value.node);
        pane().showForm(CodeForm::Float);
        QTRY_VERIFY(pane().isLayoutDone());
    }

    /// In the prepared form an observer is chosen by the arrow keys, and changed as an edge is.
    void anObserverOfThePreparedFormIsEditedInPlace()
    {
        pane().showForm(CodeForm::Prepared);
        QTRY_VERIFY(pane().isLayoutDone() && pane().view().graphScene().drawing());
        pane().expandAll(); // an observer stands in the module of what it observes
        QTRY_VERIFY(pane().isLayoutDone());
        auto& view = pane().view();
        const auto isObserver = [&](int entry) {
            for (const NodeId id : view.graphScene().drawing()->tree->entry(entry).members)
                if (view.graphScene().drawing()->graph->get(id).observer)
                    return true;
            return false;
        };
        int observers = 0;
        for (const DrawnNode& drawn : view.graphScene().drawing()->nodes)
            observers += isObserver(drawn.entry);
        QVERIFY(observers > 3);
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        view.setFocus();
        for (int i = 0; i < 4 && !workspace().selection().edge(); ++i)
            QTest::keyClick(&view, Qt::Key_Down); // along the fusion to what observes its value
        QVERIFY(workspace().selection().edge());
        QCOMPARE(workspace().selection().edge()->value, edge.value);
        QTRY_VERIFY(find<QWidget>("cardEdge")->isVisible());
        QTRY_VERIFY(find<QComboBox>("edgeScopeBox"));
        const ObserverId shown = factsOf(*workspace().selection().edge()).observer;
        choose("edgeScopeBox",
               find<QComboBox>("edgeScopeBox")->itemText(1)); // all that it observes
        choose("edgeObserverBox", "minmax");
        settle();
        QCOMPARE(edgeRules(), 2);
        const PlannedObserver* now
            = workspace().facts().observer(factsOf(*workspace().selection().edge()).observer);
        QVERIFY(now && now->spec.kind == ObserverKind::MinMax && shown);
        QTRY_VERIFY(find<QComboBox>("edgeScopeBox"));
        choose("edgeScopeBox", find<QComboBox>("edgeScopeBox")->itemText(0));
        // The form was made anew; the keys lead back through it to an operator.
        QTRY_VERIFY(pane().isLayoutDone());
        for (int i = 0; i < 4 && workspace().selection().edge(); ++i)
            QTest::keyClick(&view, Qt::Key_Up);
        QVERIFY(!workspace().selection().edge());
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == m_start);
        pane().showForm(CodeForm::Float);
        QTRY_VERIFY(pane().isLayoutDone());
    }

    /// With QS_TOUR=FOLDER the picture is kept to be looked at.
    void picture()
    {
        const QString kept = qEnvironmentVariable("QS_TOUR");
        if (kept.isEmpty())
            QSKIP("QS_TOUR names no folder");
        workspace().selectEdge(sharing());
        pane().revealSelection();
        QTest::qWait(1500);
        QVERIFY(m_window->grab().save(kept + QStringLiteral("/edge.png")));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, qEnvironmentVariableIsSet("QS_DARK"));
    TestEdges test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_edges.moc"
