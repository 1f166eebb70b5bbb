// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/range_window.h"
#include "ui/plots/custom_plot.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/values/channel_plot.h"

#include <QPushButton>
#include <QRandomGenerator>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>

using namespace qs;

namespace {

/// Counts cards that are painted where another one is, or out of their column.
class PlaceWatch : public QObject
{
public:
    explicit PlaceWatch(QWidget& cards)
        : m_cards(cards)
    {
        for (auto* card : all())
            card->installEventFilter(this);
    }
    int painted = 0, misplaced = 0;
    QHash<QObject*, int> paintedOf; ///< by card

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::Paint) {
            const auto* card = static_cast<Card*>(watched);
            ++painted;
            ++paintedOf[watched];
            bool isRight = card->x() > 0 && card->width() == m_cards.width() - 2 * card->x();
            for (const auto* other : all())
                isRight = isRight
                    && (other == card || other->isHidden()
                        || !other->geometry().intersects(card->geometry()));
            misplaced += !isRight;
        }
        return QObject::eventFilter(watched, event);
    }

private:
    QList<Card*> all() { return m_cards.findChildren<Card*>(Qt::FindDirectChildrenOnly); }

    QWidget& m_cards;
};

} // namespace

/// What the window draws and says of ranges, and what it shows of decisions on them.
class TestRanges : public test::RangeWindow
{
    Q_OBJECT

private:
    /// Of the counts of the histogram that is shown, those of a bin spread evenly.
    double outsideTheLines()
    {
        const Histogram& counted = *shownHistogram(workspace().facts().stats(histogram().shown()));
        const double width
            = (double(counted.max) - double(counted.min)) / double(counted.counts.size());
        double total = 0, outside = 0;
        for (std::size_t i = 0; i < counted.counts.size(); ++i) {
            const double begin = double(counted.min) + width * double(i), end = begin + width;
            double spread = double(counted.counts[i]);
            if (begin <= 0 && end > 0 && i + 1 < counted.counts.size()) // a peak of zeros is held
                spread = std::min(spread, double(counted.counts[i + 1]));
            const double low = std::clamp(histogram().heldLine(0), begin, end);
            const double high = std::clamp(histogram().heldLine(1), begin, end);
            total += double(counted.counts[i]);
            outside += spread * (1 - (high - low) / width);
        }
        return outside / total;
    }

    /// A row of the column, at any depth, shows the text.
    static bool shownIn(const QAbstractItemModel& model, int column, const QString& text,
                        const QModelIndex& parent = {})
    {
        for (int row = 0; row < model.rowCount(parent); ++row)
            if (model.index(row, column, parent).data().toString() == text
                || shownIn(model, column, text, model.index(row, 0, parent)))
                return true;
        return false;
    }

    void checkShare()
    {
        const double outside = outsideTheLines();
        QVERIFY(std::abs(histogram().trial().beyond() - outside) < 1e-9);
        const QString words = histogram().heldText().section(QLatin1Char('\n'), 1);
        if (histogram().countBeyond() > 0)
            QVERIFY2(!words.startsWith(QLatin1String("nothing")), qPrintable(words));
        const QString share = words.section(QStringLiteral(" %"), 0, 0);
        if (outside >= 1e-4)
            QCOMPARE(share, QString::number(outside * 100, 'g', 3));
    }

private Q_SLOTS:
    void initTestCase() { openAndCompare(); }
    void init() { startAgain(); }
    void cleanupTestCase() { m_window.reset(); }

    /// Lines, shading, bars and words are of one range: the one beyond which values saturate.
    void theShareIsWhatLiesOutsideTheLines()
    {
        int inspected = 0, wider = 0;
        for (const auto& node : graph().nodes())
            if (inspectValue(node->id)) {
                checkShare();
                ++inspected;
                wider += !histogram().chosenText().isEmpty();
            }
        QVERIFY2(inspected >= 10, qPrintable(QString::number(inspected)));
        // The preset reduces the range: the stored integers go on to the type's end.
        QVERIFY2(wider >= 8, qPrintable(QString::number(wider)));
    }

    /// An end that goes outwards takes nothing off, whatever end, from wherever.
    void draggingOutwardsNeverCutsMoreOff()
    {
        QRandomGenerator chance(40);
        int drags = 0;
        for (const auto& node : graph().nodes()) {
            if (!inspectValue(node->id))
                continue;
            for (int turn = 0; turn < 3; ++turn) {
                const int side = chance.bounded(2), out = side == 0 ? -1 : 1;
                drag(side, -out * chance.bounded(20, 160));
                checkShare();
                double before = histogram().trial().beyond();
                for (int step = 0; step < 6; ++step) {
                    drag(side, out * chance.bounded(1, 40));
                    const double now = histogram().trial().beyond();
                    QVERIFY2(now <= before,
                             qPrintable(QStringLiteral("%1: %2 after %3")
                                            .arg(QString::fromStdString(node->name))
                                            .arg(now)
                                            .arg(before)));
                    checkShare();
                    before = now;
                    ++drags;
                }
            }
            QTest::keyClick(&plot(), Qt::Key_Escape);
        }
        QVERIFY(drags > 150);
    }

    /// The line that values saturate at can be taken as well.
    void theSaturatingLineIsDraggedToo()
    {
        QVERIFY(inspectValue(forked().value.node) && !histogram().chosenText().isEmpty());
        RangeTrial trial = histogram().trial();
        for (const double share : {0.9, 0.5, 1.2}) {
            const double to = trial.heldEnd(1) * share;
            trial.moveHeld(1, to);
            QVERIFY(std::abs(trial.heldEnd(1) - to) < 1e-9);
        }
    }

    /// What is decided by a dragged range or an alternative is seen where other decisions are, with
    /// the deciding rule and the way back; the original way stays among the alternatives.
    void aDecisionOnARangeIsSeen_data()
    {
        QTest::addColumn<bool>("dragged");
        QTest::newRow("dragged") << true;
        QTest::newRow("an alternative") << false;
    }
    void aDecisionOnARangeIsSeen()
    {
        QFETCH(bool, dragged);
        const NodeId node = forked().value.node;
        QVERIFY(inspectValue(node));
        const std::vector<NodeId> nodes = workspace().selection().nodes();
        const QString before = workspace().facts().decisionText(nodes, true);
        QVERIFY(!before.contains(QStringLiteral("✎")));
        QTRY_VERIFY(alternative("minmax"));
        if (dragged) {
            drag(1, -80);
            QTest::keyClick(&plot(), Qt::Key_Return);
        } else {
            auto* tree = find<QTreeWidget>("alternativesTree");
            qobject_cast<QToolButton*>(tree->itemWidget(alternative("minmax"), 3))->click();
        }
        settle();
        const QString name = dragged ? "x86_fixed_range" : "x86_minmax";
        for (const bool isCalibrated : {false, true}) {
            if (isCalibrated) {
                workspace().pipeline().runUpTo(Stage::Compare);
                settle();
            }
            const QString text = workspace().facts().decisionText(nodes, true);
            QVERIFY2(text.contains(name) && text.endsWith(QStringLiteral("✎")), qPrintable(text));
            const auto& tree = *find<QTreeView>("moduleTree")->model();
            QVERIFY(shownIn(tree, 1, text));
            QCOMPARE(find<QComboBox>("qconfigBox")->currentText(), text);
            QVERIFY(label("whyOutputRule").contains(name));
            if (isCalibrated)
                QVERIFY(shownIn(*find<QTableView>("metricsTable")->model(), 3, text));
            QTRY_VERIFY(find<QWidget>("alternativesWait")->isHidden());
            QVERIFY(find<QTreeWidget>("alternativesTree")->topLevelItemCount() > 3);
            QString now; // of the output, which comes before the weight
            int original = 0;
            for (QTreeWidgetItemIterator it(find<QTreeWidget>("alternativesTree")); *it; ++it) {
                if (now.isEmpty() && (*it)->text(2) == QLatin1String("now"))
                    now = (*it)->data(0, Qt::UserRole + 1).toString();
                original += (*it)->data(0, Qt::UserRole + 1).toString() == "histogram"
                    || (*it)->data(0, Qt::UserRole + 1).toString().startsWith("by rule");
            }
            // The engine may know the statistics of a fixed range already.
            const QStringList wanted = dragged
                ? QStringList {QStringLiteral("fixed range"), QStringLiteral("fixed_qparams")}
                : QStringList {QStringLiteral("minmax")};
            QVERIFY2(wanted.contains(now), qPrintable(now));
            QVERIFY(original >= 1);
        }
        // Three ways back: the card's button, its box, the original among the alternatives.
        find<QPushButton>("clearOutputRules")->click();
        settle();
        QCOMPARE(edgeRules(), 0);
        QCOMPARE(workspace().facts().decisionText(nodes, true), before);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(edgeRules(), 2);
        choose("qconfigBox", QStringLiteral("x86 (by rule)"));
        settle();
        QCOMPARE(edgeRules(), 0);
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY(alternative("by rule (x86)") || alternative("histogram"));
        auto* ways = find<QTreeWidget>("alternativesTree");
        auto* original = alternative("by rule (x86)") ? alternative("by rule (x86)")
                                                      : alternative("histogram");
        ways->setCurrentItem(original);
        QTest::keyClick(ways, Qt::Key_Return);
        settle();
        QCOMPARE(edgeRules(), 0);
    }

    /// Cards keep their rows from one selection to the next, and none is painted before it has its
    /// place.
    void cardsAreKeptAndLaidOutBeforeTheyAreSeen()
    {
        QWidget& cards = *find<QWidget>("cardWhy")->parentWidget();
        PlaceWatch watch(cards);
        QSet<QObject*> before;
        for (const int round : {0, 1}) {
            for (const auto& node : graph().nodes()) {
                if (workspace().foldTree()->unitOf(node->id) < 0
                    || workspace().selection().contains(node->id))
                    continue;
                const int painted = watch.painted;
                workspace().selectNode(node->id);
                QTRY_VERIFY(watch.painted > painted);
            }
            const QObjectList all = find<QWidget>("cardWhy")->findChildren<QObject*>();
            const QSet<QObject*> now(all.begin(), all.end());
            if (round == 1)
                QCOMPARE(now, before);
            before = now;
        }
        QVERIFY(watch.painted > 60);
        QCOMPARE(watch.misplaced, 0);
    }

    /// What arrives after a selection, alternatives and stored values, paints no card above it.
    void lateFiguresPaintNoOtherCard()
    {
        PlaceWatch watch(*find<QWidget>("cardWhy")->parentWidget());
        QWidget& wait = *find<QWidget>("alternativesWait");
        auto* first = find<QWidget>("cardQuantization");
        int seen = 0;
        for (const auto& node : graph().nodes()) {
            if (!workspace().facts().weightObserver(node->id)
                || workspace().selection().contains(node->id))
                continue;
            watch.paintedOf.clear();
            workspace().selectNode(node->id);
            QTRY_VERIFY(watch.paintedOf.value(first) > 0);
            QTRY_VERIFY(wait.isHidden());
            QTest::qWait(50); // stored values
            if (seen++ > 0) // the first may bring the scroll bar
                QCOMPARE(watch.paintedOf.value(first), 1);
        }
        QVERIFY(seen > 3);
    }

    /// A plot that is not seen is drawn when it is, and what alone follows the selection is drawn
    /// over what stays.
    void plotsShowTheSelectionWhereverItWasMade()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        std::vector<NodeId> nodes;
        for (const auto& node : graph().nodes())
            if (const auto* stats
                = workspace().facts().stats(workspace().facts().weightObserver(node->id));
                stats && !stats->channelMin.empty() && nodes.size() < 2
                && (nodes.empty()
                    || workspace().foldTree()->unitOf(nodes[0])
                        != workspace().foldTree()->unitOf(node->id)))
                nodes.push_back(node->id);
        QCOMPARE(nodes.size(), std::size_t(2));
        const auto select = [&](std::size_t i) {
            workspace().selectNode(nodes[i]);
            const QString title = workspace().facts().title(nodes[i]);
            return QTest::qWaitFor(
                [&] { return find<ChannelPlot>("channelPlot")->caption().startsWith(title); });
        };
        const auto seen = [this](const char* tab, const char* page) {
            m_window->showTab(tab);
            QCoreApplication::processEvents(); // what is queued
            return find<QWidget>(page)->grab().toImage();
        };
        QImage channels[2], errors[2];
        for (const std::size_t i : {1, 0}) {
            QVERIFY(select(i));
            channels[i] = seen("channelPlot", "channelPlot");
            errors[i] = seen("plots", "errorBarPlot");
        }
        QVERIFY(channels[0] != channels[1]);
        QVERIFY(errors[0] != errors[1]);
        QVERIFY(select(1)); // channels out of sight, errors in sight
        QCOMPARE(seen("plots", "errorBarPlot"), errors[1]);
        QCOMPARE(seen("channelPlot", "channelPlot"), channels[1]);
        QVERIFY(select(0)); // the other way round
        QCOMPARE(seen("channelPlot", "channelPlot"), channels[0]);
        QCOMPARE(seen("plots", "errorBarPlot"), errors[0]);
        find<QWidget>("errorBarPlot")->findChild<QCustomPlot*>()->replot();
        QCOMPARE(seen("plots", "errorBarPlot"), errors[0]);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, qEnvironmentVariableIsSet("QS_DARK"));
    TestRanges test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_ranges.moc"
