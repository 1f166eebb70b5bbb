// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edits_window.h"
#include "ui/edit/edits_panel.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QProcess>
#include <QPushButton>
#include <QTreeWidget>

using namespace qs;
using namespace qs::test;

namespace {

/// Attention with a stored mask of -1e9, and data for it, in the folder that is named.
const QString kMasked = QStringLiteral(
    "import sys, pathlib, torch\n"
    "from torch import nn\n"
    "folder = pathlib.Path(sys.argv[1])\n"
    "class Masked(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)\n"
    "        self.register_buffer('mask', torch.triu(torch.full((6, 6), -1e9), 1))\n"
    "    def forward(self, x):\n"
    "        scores = self.query(x) @ self.key(x).transpose(1, 2) + self.mask\n"
    "        return torch.softmax(scores, -1) @ self.value(x)\n"
    "torch.manual_seed(5)\n"
    "x = torch.randn(8, 6, 8)\n"
    "torch.export.save(torch.export.export(Masked().eval(), (x,)), folder / 'masked.pt2')\n"
    "torch.save({'x': x}, folder / 'masked.pt')\n");

} // namespace

/// The recipe's cures in the window on the real engine: listed, switched, taken away, each an
/// undoable step; the Why card names the cure that decides.
class TestCuresWindow : public EditsWindow
{
    Q_OBJECT

    static Cure floatHead()
    {
        Cure cure;
        cure.at.kind = ValueAddress::Kind::Operator;
        cure.at.module = "head";
        cure.at.op = "aten.linear.default";
        cure.by = "tune 1f3a";
        return cure;
    }
    QTreeWidget& list() { return *m_window->findChild<QTreeWidget*>("curesList"); }
    Verdict headVerdict() { return workspace().facts().plan(node("linear")->id)->verdict; }
    void take(const Cure& cure)
    {
        Recipe recipe = document().recipe();
        recipe.cures.push_back(cure);
        workspace().change(QStringLiteral("cure"), recipe);
        settle();
        QTRY_VERIFY(isCurrent(Stage::Plan));
    }

private Q_SLOTS:
    void initTestCase() { startEngine(); }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    void aCureIsOneUndoableStep()
    {
        const std::string before = recipeToJson(document().recipe());
        QVERIFY(list().isHidden());
        QCOMPARE(headVerdict(), Verdict::Quantized);
        const int steps = workspace().undoStack().index();
        take(floatHead());
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QCOMPARE(headVerdict(), Verdict::FloatByRule);
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        QVERIFY(!list().isHidden());
        const QTreeWidgetItem* row = list().topLevelItem(0);
        QCOMPARE(row->text(0), QStringLiteral("keep head · linear float, by tune 1f3a"));
        QCOMPARE(row->text(1), QString());
        QCOMPARE(row->checkState(0), Qt::Checked);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(recipeToJson(document().recipe()), before);
        QTRY_COMPARE(list().topLevelItemCount(), 0);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
    }

    void theTickSwitchesIt()
    {
        take(floatHead());
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        const int steps = workspace().undoStack().index();
        list().topLevelItem(0)->setCheckState(0, Qt::Unchecked);
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QVERIFY(document().recipe().cures.at(0).off);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
        QTRY_COMPARE(list().topLevelItem(0)->text(1), QStringLiteral("off"));
        QCOMPARE(workspace().undoStack().index(), steps + 1); // showing it decides nothing
        workspace().undoStack().undo();
        QTRY_COMPARE(headVerdict(), Verdict::FloatByRule);
        QTRY_COMPARE(list().topLevelItem(0)->checkState(0), Qt::Checked);
    }

    void theButtonTakesItAway()
    {
        const std::string before = recipeToJson(document().recipe());
        take(floatHead());
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        auto* away = m_window->findChild<QPushButton*>("editsTakeAway");
        QVERIFY(!away->isEnabled());
        list().setCurrentItem(list().topLevelItem(0));
        QVERIFY(away->isEnabled());
        away->click();
        QCOMPARE(recipeToJson(document().recipe()), before);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
        workspace().undoStack().undo();
        QTRY_COMPARE(headVerdict(), Verdict::FloatByRule);
    }

    void theWhyCardNamesTheCure()
    {
        take(floatHead());
        select("linear");
        const Rule& rule = workspace().facts().plan(node("linear")->id)->rule;
        QCOMPARE(cureMarkOf(document(), rule), QStringLiteral("cure float (tune 1f3a)"));
        const auto isNamed = [this] {
            const auto labels = m_window->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("(cure float (tune 1f3a))"));
            });
        };
        QTRY_VERIFY(isNamed());
        const Rule& other = workspace().facts().plan(node("conv2d")->id)->rule;
        QVERIFY(cureMarkOf(document(), other).isEmpty());
    }

    void aBoundChangesTheMaskAndBack()
    {
        const QString model = m_folder.filePath("masked.pt2");
        QProcess python;
        python.start(QStringLiteral(QS_PYTHON), {"-c", kMasked, m_folder.path()});
        QVERIFY(python.waitForFinished(120000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        openFile(model);
        RunSettings settings = document().settings();
        settings.calibrationData = m_folder.filePath("masked.pt").toStdString();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        const auto least = [this] {
            workspace().pipeline().runUpTo(Stage::Calibrate);
            settle();
            const Facts& facts = workspace().facts();
            const auto* stats = facts.stats(facts.outputObserver(node("add")->id));
            return stats && isCurrent(Stage::Calibrate) ? double(stats->min) : 0.0;
        };
        QVERIFY(least() < -9e8);
        Cure bound;
        bound.kind = CureKind::Bound;
        bound.at.kind = ValueAddress::Kind::Stored;
        bound.at.name = "mask";
        bound.bound = 200;
        const int steps = workspace().undoStack().index();
        take(bound);
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        QCOMPARE(list().topLevelItem(0)->text(0), QStringLiteral("bound mask at 200"));
        QCOMPARE(list().topLevelItem(0)->text(1), QString());
        QCOMPARE(list().topLevelItem(0)->checkState(0), Qt::Checked);
        const double bounded = least();
        QVERIFY2(bounded < -150 && bounded > -300, qPrintable(QString::number(bounded)));

        list().topLevelItem(0)->setCheckState(0, Qt::Unchecked);
        QCOMPARE(workspace().undoStack().index(), steps + 2);
        settle();
        QVERIFY(document().recipe().cures.at(0).off);
        QTRY_COMPARE(list().topLevelItem(0)->text(1), QStringLiteral("off"));
        QVERIFY(least() < -9e8);

        workspace().undoStack().undo();
        settle();
        QTRY_COMPARE(list().topLevelItem(0)->checkState(0), Qt::Checked);
        QCOMPARE(least(), bounded);
        workspace().undoStack().undo();
        settle();
        QTRY_COMPARE(list().topLevelItemCount(), 0);
        QVERIFY(least() < -9e8);
    }

    void whatDoesNotFitSaysWhy()
    {
        Cure gone = floatHead();
        gone.at.module = "neck";
        take(gone);
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        const QString why = QStringLiteral("left out: 'neck' has no operator");
        QTRY_VERIFY2(list().topLevelItem(0)->text(1).startsWith(why),
                     qPrintable(list().topLevelItem(0)->text(1)));
        QCOMPARE(headVerdict(), Verdict::Quantized);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestCuresWindow test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_cures.moc"
