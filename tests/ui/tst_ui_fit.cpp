// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/decoder_graph.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/graph/layout/edge_labels.h"
#include "ui/graph/view/minimap.h"
#include "ui/shell/actions/commands.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QHeaderView>
#include <QScreen>
#include <QSettings>
#include <QStandardPaths>
#include <QStyleOptionHeader>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

#include <set>

using namespace qs;

namespace {

constexpr int kLlmLayers = 385; ///< of 52 nodes: twenty thousand operators

/// Pixels that are not of the colour, and the rectangle around them.
std::pair<int, QRect> inked(const QImage& picture, const QColor& ground)
{
    int count = 0;
    QRect around;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            if (picture.pixelColor(x, y).rgb() != ground.rgb()) {
                ++count;
                around |= QRect(x, y, 1, 1);
            }
    return {count, around};
}

/// A rectangle of one colour has one; letters have shades.
int distinctColours(const QImage& picture)
{
    std::set<QRgb> seen;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            seen.insert(picture.pixel(x, y));
    return int(seen.size());
}

} // namespace

/// The graph in its window: fitted whatever its size, in words as large as was chosen, and with its
/// share of a small screen; and what stands around it is not cut off.
class TestFit : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private:
    GraphView& view() { return pane().view(); }
    QRectF bounds() { return view().graphScene().drawing()->bounds; }
    void openModel(const GraphPtr& model, int percent = 100)
    {
        applyStyle(*qApp, {WindowStyle::Colours::Light, percent});
        m_engine.model = model;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 720);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
    }
    void checkFitted()
    {
        QVERIFY(view().isShowing(bounds()));
        const QRectF seen = view().mapFromScene(bounds()).boundingRect();
        // As large as the view has room for, or 100 %.
        QVERIFY(seen.width() > view().width() * 0.85 || seen.height() > view().height() * 0.85
                || view().zoom() == 1.0);
    }
    void keep(const char* name)
    {
        if (const QString folder = qEnvironmentVariable("QS_PICTURES"); !folder.isEmpty())
            QVERIFY(m_window->grab().save(folder + '/' + name));
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }
    void cleanup()
    {
        m_window.reset();
        applyStyle(*qApp, {});
    }

    void modelsOpenFitted()
    {
        for (const GraphPtr& model : {fakeModel(), decoderGraph(12), fakeChain(300)}) {
            openModel(model);
            checkFitted();
        }
    }

    /// Twenty thousand operators, folded and open, and a chain without any module.
    void everyGraphFits()
    {
        const std::pair<const char*, GraphPtr> models[]
            = {{"llm20k", decoderGraph(kLlmLayers)}, {"chain20k", fakeChain(20000)}};
        for (const auto& [name, model] : models) {
            openModel(model);
            keep(qPrintable(QString(name) + "-opened.png"));
            pane().expandAll();
            QTRY_VERIFY_WITH_TIMEOUT(settled(), 120000);
            m_window->actions()[ActionId::Fit].trigger();
            checkFitted();
            QTRY_VERIFY(!find<QWidget>("minimap")->isVisible());
            checkFitted(); // the room of the map went to the graph
            QCoreApplication::processEvents();
            const auto [count, around] = inked(view().viewport()->grab().toImage(), theme().canvas);
            const QString size = QStringLiteral("%1: %2 pixels, %3x%4")
                                     .arg(name)
                                     .arg(count)
                                     .arg(around.width())
                                     .arg(around.height());
            QVERIFY2(count > around.height(), qPrintable(size));
            // A chain is columns of the view's shape, not one thin line.
            if (!qstrcmp(name, "chain20k"))
                QVERIFY2(around.width() > view().width() / 2
                             && around.height() > view().height() / 2
                             && count > around.width() * around.height() / 4,
                         qPrintable(size));
            else
                QVERIFY2(around.height() > view().height() * 0.85, qPrintable(size));
            keep(qPrintable(QString(name) + "-fitted.png"));
            // Near by, the map shows the whole.
            view().setZoom(1);
            QTRY_VERIFY(find<QWidget>("minimap")->isVisible());
            auto& map = *find<QWidget>("minimap");
            const auto [drawn, place] = inked(map.grab().toImage(), theme().panel);
            QVERIFY2(
                drawn > map.height() * 10
                    && (place.height() > map.height() * 0.85 || place.width() > map.width() * 0.85),
                qPrintable(QStringLiteral("%1 pixels").arg(drawn)));
            keep(qPrintable(QString(name) + "-near.png"));
        }
    }

    void zoomingOutEndsAtTheWhole()
    {
        openModel(fakeChain(30000)); // under 2 %
        for (int i = 0; i < 60; ++i)
            view().zoomBy(0.5);
        QVERIFY(view().isShowing(bounds()));
        const double least = view().zoom();
        pane().fit();
        QCOMPARE(view().zoom(), least);
    }

    void whatIsFittedStaysFitted()
    {
        openModel(decoderGraph(12));
        for (const QSize& size : {QSize(1500, 950), QSize(1280, 720)}) {
            m_window->resize(size);
            QTRY_COMPARE(m_window->size(), size);
            QCoreApplication::processEvents();
            checkFitted();
        }
        view().setZoom(2); // somebody looks at something: it stays there
        m_window->resize(1400, 900);
        QCoreApplication::processEvents();
        QCOMPARE(view().zoom(), 2.0);
    }

    void textSizeAppliesToTheGraph()
    {
        for (const int percent : {100, 150}) {
            openModel(fakeModel(), percent);
            m_window->actions()[ActionId::ZoomReset].trigger();
            QCOMPARE(view().zoom(), 1.0);
            QCOMPARE(view().pixelScale(), percent / 100.0);
        }
    }

    void theGraphKeepsHalfOfASmallScreen()
    {
        for (const int percent : {100, 125, 150}) {
            openModel(decoderGraph(3), percent);
            m_window->commands().runAll();
            QTRY_VERIFY(workspace().document().comparison() && settled());
            QTRY_COMPARE(m_window->size(), QSize(1280, 720));
            keep(qPrintable(QStringLiteral("1280x720-%1.png").arg(percent)));
            const QString text = QStringLiteral("%1 %: %2 with its controls, %3 without, of %4")
                                     .arg(percent)
                                     .arg(pane().height())
                                     .arg(view().height())
                                     .arg(m_window->height());
            qInfo("%s", qPrintable(text));
            QVERIFY2(pane().height() * 2 >= m_window->height(), qPrintable(text));
            QVERIFY2(view().height() * 100 >= m_window->height() * (percent == 150 ? 50 : 45),
                     qPrintable(text));
            // What has no room below opens by its tab.
            auto& tabs = m_window->bottomTabs();
            QTest::mouseClick(tabs.tabBar(), Qt::LeftButton, {},
                              tabs.tabBar()->tabRect(1).center());
            QCOMPARE(tabs.currentIndex(), 1);
            QVERIFY(tabs.currentWidget()->height() >= px(70));
        }
    }

    /// A model of some twenty nodes keeps their names however small it is fitted.
    void smallGraphsKeepTheirNames()
    {
        for (const int percent : {100, 150}) {
            openModel(fakeChain(24), percent);
            QVERIFY(view().graphScene().drawing()->nodes.size() > 20);
            view().fitAll();
            QVERIFY(view().pixelScale() < 0.28); // where large graphs have none
            const QImage picture = view().viewport()->grab().toImage();
            int named = 0;
            for (const auto& node : view().graphScene().drawing()->nodes) {
                const QRect seen = view().mapFromScene(node.rect).boundingRect();
                named += distinctColours(picture.copy(seen.adjusted(3, 3, -3, -3))) > 2;
            }
            QCOMPARE(named, int(view().graphScene().drawing()->nodes.size()));
            keep(qPrintable(QStringLiteral("names-%1.png").arg(percent)));
        }
    }

    /// With its frame: the first size leaves room for it, whatever the screen.
    void theFirstWindowFitsTheScreen()
    {
        const QMargins frame(4, 37, 4, 4);
        QCOMPARE(MainWindow::firstSize({1920, 1080}, frame), QSize(1600, 1000));
        QCOMPARE(MainWindow::firstSize({1366, 728}, frame), QSize(1358, 687));
        m_window = std::make_unique<MainWindow>(m_engine);
        const int title = m_window->style()->pixelMetric(QStyle::PM_TitleBarHeight);
        QVERIFY(title > 0);
        QVERIFY(m_window->height() + title <= m_window->screen()->availableSize().height());
    }

    void edgeLabelsLieOnNothing()
    {
        openModel(decoderGraph(3));
        pane().expandAll();
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
        const auto& drawing = *view().graphScene().drawing();
        const auto labels = placeEdgeLabels(drawing);
        QCOMPARE(labels.size(), drawing.edges.size());
        int shown = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (labels[i].text.isEmpty())
                continue;
            ++shown;
            for (std::size_t k = i + 1; k < labels.size(); ++k)
                QVERIFY2(!labels[i].rect.intersects(labels[k].rect), qPrintable(labels[i].text));
            for (const auto& node : drawing.nodes)
                QVERIFY(!labels[i].rect.intersects(node.rect));
        }
        QVERIFY(shown > 20);
    }

    /// The sort arrow stands above a header's text, not on it.
    void sortArrowsLieOnNothing()
    {
        openModel(fakeModel());
        int headers = 0;
        for (auto* table : m_window->findChildren<QTableView*>()) {
            auto& header = *table->horizontalHeader();
            if (!table->isSortingEnabled() || header.count() == 0)
                continue;
            QStyleOptionHeader option;
            option.initFrom(&header);
            option.state |= QStyle::State_Horizontal;
            option.orientation = Qt::Horizontal;
            option.section = 1;
            option.sortIndicator = QStyleOptionHeader::SortDown;
            option.rect = QRect(0, 0, 90, header.sizeHint().height());
            const QRect arrow
                = header.style()->subElementRect(QStyle::SE_HeaderArrow, &option, &header);
            const QRect words
                = header.style()->subElementRect(QStyle::SE_HeaderLabel, &option, &header);
            QVERIFY2(!arrow.isEmpty() && !arrow.intersects(words), qPrintable(table->objectName()));
            QVERIFY(words.height() >= QFontMetrics(header.font()).height());
            ++headers;
        }
        QVERIFY(headers >= 2);
    }

    void theRecipesErrorHasItsRoom()
    {
        openModel(fakeModel());
        m_window->showTab("recipePanel");
        auto* line = find<QLabel>("recipeState");
        QTRY_VERIFY(line->isVisible());
        QCoreApplication::processEvents();
        QVERIFY(line->contentsRect().height() >= QFontMetrics(line->font()).height());
    }
};

QTEST_MAIN(TestFit)
#include "tst_ui_fit.moc"
