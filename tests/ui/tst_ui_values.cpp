// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/graph/stored_inside.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/style/property_cards.h"

#include <QStandardPaths>
#include <QtTest>

using namespace qs;

/// Parameters, buffers and constants, looked at.
class TestValues : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { open(); }
    void cleanup() { m_window.reset(); }
    void panelShowsWhatIsStored();
    void eachValueIsReadOnce();
    void unreadableValueSaysWhy();
    void modulesShowNoValues();
    void toolTipPreviews();
    void singleNumbersStandOnTheNode();

private:
    void open()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1400, 900);
        m_window->show();
        m_window->openModel(QStringLiteral("net.pt2"));
        QTRY_VERIFY(settled());
    }
    QFrame* card() { return find<QFrame>("cardValues"); }
    QStringList cardTexts()
    {
        QStringList out;
        for (const auto* label : card()->findChildren<ElidedLabel*>())
            out << label->text();
        return out;
    }
    int drawn(const char* name)
    {
        const auto& scene = m_window->graphPane().view().graphScene();
        return scene.drawing()->nodeShowing(workspace().foldTree()->unitOf(node(name)));
    }
};

void TestValues::panelShowsWhatIsStored()
{
    workspace().selectNode(node("conv2d"));
    QTRY_VERIFY(card()->isVisible());
    QTRY_VERIFY(cardTexts().contains(QString::fromUtf8("-1 … 1 · mean 0.25")));
    QVERIFY(cardTexts().contains(QStringLiteral("float32[16, 3, 3, 3]")));
    QVERIFY(cardTexts().contains(QString::fromUtf8("-1, -0.986, -0.972, …")));
    auto* bars = card()->findChild<QWidget*>(QStringLiteral("valueSpread"));
    QVERIFY(bars);
    // Something is drawn, and it has a name for who cannot see it.
    QVERIFY(!bars->accessibleName().isEmpty());
    const QImage picture = bars->grab().toImage();
    QSet<QRgb> colours;
    for (int x = 0; x < picture.width(); ++x)
        colours.insert(picture.pixel(x, picture.height() / 2));
    QVERIFY(colours.size() > 1);
}

void TestValues::eachValueIsReadOnce()
{
    const int before = m_engine.previews;
    for (int i = 0; i < 3; ++i) {
        workspace().selectNode(node("conv2d"));
        QTRY_VERIFY(settled() && card()->isVisible());
        workspace().selection().clear();
        QTRY_VERIFY(!card()->isVisible());
    }
    QTRY_COMPARE(m_engine.previews - before, 1);
    QTest::qWait(20);
    QCOMPARE(m_engine.previews - before, 1);
}

void TestValues::unreadableValueSaysWhy()
{
    workspace().selectNode(node("linear"));
    QTRY_VERIFY(!cardTexts().filter(QStringLiteral("the file is cut short")).isEmpty());
}

void TestValues::modulesShowNoValues()
{
    workspace().selectNode(node("conv2d"));
    QTRY_VERIFY(card()->isVisible());
    workspace().selectEntry(workspace().foldTree()->moduleEntry("block"));
    QTRY_VERIFY(!card()->isVisible());
    workspace().selectNode(node("flatten"));
    QTest::qWait(20);
    QVERIFY(!card()->isVisible());
}

void TestValues::toolTipPreviews()
{
    auto& view = m_window->graphPane().view();
    view.setZoom(1);
    const auto& drawing = *view.graphScene().drawing();
    const QPointF at = drawing.nodes[std::size_t(drawn("conv2d"))].rect.center();
    view.centerOn(at);
    QTest::mouseMove(view.viewport(), view.mapFromScene(at + QPointF(400, 0)));
    QTest::mouseMove(view.viewport(), view.mapFromScene(at));
    QVERIFY(!view.viewport()->toolTip().isEmpty());
    QTRY_VERIFY(view.viewport()->toolTip().contains(QString::fromUtf8("weight: -1 … 1")));
    QVERIFY(view.viewport()->toolTip().contains(QStringLiteral("-0.986")));
}

void TestValues::singleNumbersStandOnTheNode()
{
    const auto inside = [this] {
        return m_window->graphPane()
            .view()
            .graphScene()
            .canvas()
            .style()
            .text(drawn("conv2d"))
            .inside;
    };
    QVERIFY2(inside().contains(QString::fromUtf8("weight 16×3×3×3")), qPrintable(inside()));
    const auto stored = storedInside(*workspace().document().model(), *workspace().foldTree(),
                                     std::vector {node("conv2d")});
    QCOMPARE(stored.size(), std::size_t(1));
    QCOMPARE(stored[0].name, std::string("weight"));
    m_window.reset();
    m_engine.scalarTexts = {{stored[0].node, "0.125"}};
    open();
    QTRY_VERIFY2(inside().contains(QStringLiteral("weight 0.125")), qPrintable(inside()));
    m_engine.scalarTexts.clear();
}

QTEST_MAIN(TestValues)
#include "tst_ui_values.moc"
