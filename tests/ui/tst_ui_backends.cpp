// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/backend/backend_check.h"
#include "engine/configure/backend/fusion_entries.h"
#include "engine/configure/backend/target.h"
#include "tests/ui/backend_window.h"
#include "tests/ui/dialogs.h"
#include "ui/shell/backend/backend_dialog.h"
#include "ui/shell/project_files.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QTreeWidget>

using namespace qs;
using test::kFusion;

/// The backend's editor: checked as one types, saved as a file that the recipe names.
class TestBackends : public test::BackendWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { makeModel(); }
    void cleanup() { m_window.reset(); }
    void whatIsTypedIsCheckedByTheEngine();
    void aSavedBackendIsPlannedBy();
    void aCopyRunsOnTheSameKernels();
    void entriesComeAndGo();
    void aFusionComesWithItsPartner();
    void aTargetStartsEmpty();
    void otherFilesStay();
    void theKeyboardReachesEveryField();
    void itFitsTheScreenAtAnyTextSize_data();
    void itFitsTheScreenAtAnyTextSize();
    void aProjectsBackendsLieBesideIt();

private:
    BackendDialog* edit()
    {
        m_window->actions()[ActionId::EditBackend].trigger();
        return find<BackendDialog>("backendDialog");
    }
    template<class T>
    static T* in(QWidget* dialog, const char* name)
    {
        auto* found = dialog->findChild<T*>(QString::fromLatin1(name));
        return found ? found : (qFatal("no %s", name), nullptr);
    }
    static void type(QWidget* dialog, const char* field, const QString& text)
    {
        auto* line = in<QLineEdit>(dialog, field);
        line->setFocus();
        line->selectAll();
        if (text.isEmpty())
            QTest::keyClick(line, Qt::Key_Delete);
        else
            QTest::keyClicks(line, text);
    }
    static void choose(QWidget* dialog, const QString& pattern)
    {
        auto* list = in<QTreeWidget>(dialog, "backendEntries");
        for (int i = 0; i < list->topLevelItemCount(); ++i)
            if (list->topLevelItem(i)->data(0, Qt::UserRole).toString() == pattern)
                return list->setCurrentItem(list->topLevelItem(i));
        QFAIL(qPrintable(pattern));
    }
    static QStringList problems(QWidget* dialog)
    {
        QStringList lines;
        auto* list = in<QListWidget>(dialog, "backendProblems");
        for (int i = 0; i < list->count(); ++i)
            lines << list->item(i)->text();
        return lines;
    }
    static bool canSave(QWidget* dialog)
    {
        return in<QPushButton>(dialog, "backendSave")->isEnabled();
    }
};

void TestBackends::whatIsTypedIsCheckedByTheEngine()
{
    openWith(tutorialRecipe(myBackend(), "typed.json"));
    auto* dialog = edit();
    QVERIFY(problems(dialog).isEmpty() && !canSave(dialog));
    choose(dialog, QStringLiteral("torch.nn.Linear"));
    type(dialog, "quantMinInput", QStringLiteral("5"));
    // The line of `backends check` for a file that says so.
    Backend wrong = myBackend();
    wrong.patterns[0].dtypeConfigs[0].input.quantMinLowerBound = 5;
    const auto found = checkBackend(wrong);
    QCOMPARE(found.size(), std::size_t(1));
    QCOMPARE(problems(dialog),
             QStringList {QStringLiteral("✕ ") + QString::fromStdString(found[0].text)});
    QVERIFY(!canSave(dialog));
    type(dialog, "quantMinInput", QStringLiteral("five"));
    QCOMPARE(problems(dialog).size(), 1);
    QVERIFY2(problems(dialog)[0].startsWith(
                 QStringLiteral("✕ patterns[0].dtype_configs[0].input_dtype."
                                "quant_min_lower_bound: expected an integer")),
             qPrintable(problems(dialog)[0]));
    // What is typed stays, also while another entry is looked at.
    choose(dialog, QStringLiteral("torch.nn.Conv2d, torch.nn.ReLU"));
    in<QListWidget>(dialog, "backendProblems")->setCurrentRow(0);
    QCOMPARE(in<QLineEdit>(dialog, "quantMinInput")->text(), QStringLiteral("five"));
    type(dialog, "quantMinInput", QStringLiteral("0"));
    QVERIFY(problems(dialog).isEmpty() && !canSave(dialog)); // as it was
    type(dialog, "entryPattern", QStringLiteral("torch.nn.Liner"));
    QVERIFY2(problems(dialog).join(' ').contains(
                 QStringLiteral("pattern 'torch.nn.Liner' is not in PyTorch; did you mean "
                                "'torch.nn.Linear'?")),
             qPrintable(problems(dialog).join('\n')));
    QVERIFY(!canSave(dialog));
}

void TestBackends::aSavedBackendIsPlannedBy()
{
    openWith(defaultRecipe());
    const Recipe before = document().recipe();
    QVERIFY(planOf("linear").quantized);
    auto* dialog = edit();
    QCOMPARE(in<QLineEdit>(dialog, "backendName")->text(), QStringLiteral("my_x86"));
    QCOMPARE(in<QLineEdit>(dialog, "backendFile")->text(), file("my_x86.json"));
    choose(dialog, QStringLiteral("torch.nn.Linear"));
    type(dialog, "scaleMinInput", QStringLiteral("0.5"));
    type(dialog, "quantMaxOutput", QStringLiteral("100"));
    type(dialog, "quantMinOutput", QStringLiteral("0"));
    QVERIFY2(canSave(dialog), qPrintable(problems(dialog).join('\n')));
    in<QPushButton>(dialog, "backendSave")->click();
    QTRY_VERIFY(!m_window->findChild<BackendDialog*>());
    settle();
    Backend wanted = *findBackend("x86");
    for (BackendPattern& entry : wanted.patterns)
        if (entry.pattern == std::vector<std::string> {"torch.nn.Linear"}) {
            entry.dtypeConfigs[0].input.scaleMinLowerBound = 0.5;
            entry.dtypeConfigs[0].output.quantMinLowerBound = 0;
            entry.dtypeConfigs[0].output.quantMaxUpperBound = 100;
        }
    const auto saved = readBackend(file("my_x86.json").toStdString());
    QVERIFY(saved && saved->patterns == wanted.patterns);
    QCOMPARE(saved->defaultQConfig, wanted.defaultQConfig);
    Recipe named = before;
    named.backend = file("my_x86.json").toStdString();
    QVERIFY(document().recipe() == named);
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("use backend my_x86.json"));
    QVERIFY(!planOf("linear").quantized && planOf("conv2d").quantized);
    // What is offered to operators is the preset that goes with it, not the file.
    QVERIFY(workspace().qconfigNames().contains(QStringLiteral("x86"))
            && workspace().qconfigNames().filter(QLatin1String("my_x86")).isEmpty());
    workspace().undoStack().undo();
    settle();
    QVERIFY(planOf("linear").quantized && document().recipe() == before);
    workspace().undoStack().redo();
    settle();
    QVERIFY(!planOf("linear").quantized);
    // The next change of it is another file.
    dialog = edit();
    QCOMPARE(in<QLineEdit>(dialog, "backendName")->text(), QStringLiteral("my_x86"));
    choose(dialog, QStringLiteral("torch.nn.Linear"));
    type(dialog, "scaleMinInput", QString());
    QCOMPARE(in<QLineEdit>(dialog, "backendFile")->text(), file("my_x86_2.json"));
}

void TestBackends::aCopyRunsOnTheSameKernels()
{
    openWith(*withBackend(defaultRecipe(), "qnnpack"));
    RunSettings settings = document().settings();
    settings.calibrationData = "sample";
    settings.device = "cpu";
    document().setSettings(settings);
    const auto engine = [this] {
        workspace().pipeline().runUpTo(Stage::Convert);
        [this] {
            QTRY_VERIFY_WITH_TIMEOUT(
                document().converted() && !document().isStale(Stage::Convert) && settled(), 120000);
        }();
        return document().converted()->engine;
    };
    const std::string shipped = engine();
    auto* dialog = edit();
    in<QLineEdit>(dialog, "backendName")->clear();
    type(dialog, "backendName", QStringLiteral("phone"));
    in<QPushButton>(dialog, "backendSave")->click();
    settle();
    QCOMPARE(document().recipe().backend, file("phone.json").toStdString());
    QCOMPARE(engine(), shipped);
}

void TestBackends::entriesComeAndGo()
{
    openWith(tutorialRecipe(myBackend(), "entries.json"));
    auto* dialog = edit();
    auto* list = in<QTreeWidget>(dialog, "backendEntries");
    QCOMPARE(list->topLevelItemCount(), 3);
    choose(dialog, QStringLiteral("torch.nn.Linear"));
    in<QAction>(dialog, "backendAddEntry")->trigger();
    QCOMPARE(list->topLevelItemCount(), 4);
    QCOMPARE(list->indexOfTopLevelItem(list->currentItem()), 1);
    QVERIFY(!canSave(dialog));
    type(dialog, "entryPattern", QStringLiteral("torch.nn.Tanh"));
    in<QComboBox>(dialog, "dtypeInput")->setCurrentText(QStringLiteral("quint8"));
    in<QComboBox>(dialog, "dtypeOutput")->setCurrentText(QStringLiteral("quint8"));
    QVERIFY2(canSave(dialog), qPrintable(problems(dialog).join('\n')));
    in<QPushButton>(dialog, "backendDuplicate")->click();
    QVERIFY(problems(dialog).join(' ').contains(QStringLiteral("a second time")));
    in<QPushButton>(dialog, "backendRemove")->click();
    QVERIFY(problems(dialog).isEmpty());
    type(dialog, "backendFilter", QStringLiteral("convrelu"));
    int shown = 0;
    for (int i = 0; i < list->topLevelItemCount(); ++i)
        shown += !list->topLevelItem(i)->isHidden();
    QCOMPARE(shown, 2); // the fusion to it, and its own
    // Changes are not lost without a question.
    test::atDialog<QMessageBox>(*this,
                                [](QMessageBox& box) { box.button(QMessageBox::Cancel)->click(); });
    QTest::keyClick(dialog, Qt::Key_Escape);
    QVERIFY(dialog->isVisible());
    test::atDialog<QMessageBox>(
        *this, [](QMessageBox& box) { box.button(QMessageBox::Discard)->click(); });
    in<QPushButton>(dialog, "backendClose")->click();
    QTRY_VERIFY(!m_window->findChild<BackendDialog*>());
    QCOMPARE(document().recipe().backend, file("entries.json").toStdString());
}

void TestBackends::aFusionComesWithItsPartner()
{
    Backend bare = myBackend();
    bare.patterns.resize(1);
    openWith(tutorialRecipe(bare, "bare.json"));
    auto* dialog = edit();
    auto* fusions = in<QMenu>(dialog, "backendFusions");
    Q_EMIT fusions->aboutToShow();
    QAction* wanted = nullptr;
    for (auto* menu : fusions->findChildren<QMenu*>())
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("Conv2d, BatchNorm2d, ReLU"))
                wanted = action;
    QVERIFY(wanted);
    wanted->trigger();
    auto* list = in<QTreeWidget>(dialog, "backendEntries");
    QCOMPARE(list->topLevelItemCount(), 3);
    QCOMPARE(list->indexOfTopLevelItem(list->currentItem()), 1);
    QVERIFY(problems(dialog).isEmpty() && canSave(dialog));
    QVERIFY(in<QLabel>(dialog, "entryKernels")
                ->text()
                .contains(QStringLiteral("quantized::conv2d_relu")));
    // Without its partner the engine names what lacks, and the button adds it.
    auto* partner = in<QPushButton>(dialog, "backendPartner");
    QVERIFY(!partner->isVisible());
    choose(dialog, QStringLiteral("torch.ao.nn.intrinsic.ConvReLU2d"));
    in<QPushButton>(dialog, "backendRemove")->click();
    QVERIFY(!canSave(dialog) && problems(dialog)[0].contains(QStringLiteral("add a pattern [")));
    choose(dialog, QStringLiteral("torch.nn.Conv2d, torch.nn.BatchNorm2d, torch.nn.ReLU"));
    QVERIFY(partner->isVisible());
    partner->click();
    QVERIFY(problems(dialog).isEmpty() && canSave(dialog));
    in<QPushButton>(dialog, "backendSave")->click();
    QTRY_VERIFY(!m_window->findChild<BackendDialog*>());
    settle();
    QVERIFY(areQuantized());
    QVERIFY(readBackend(document().recipe().backend)->patterns
            == withFusion(bare, kFusion)->patterns);
}

/// From the menu: nothing is planned by it until it is saved, and then by what was added alone.
void TestBackends::aTargetStartsEmpty()
{
    openWith(tutorialRecipe(myBackend(), "full.json"));
    const Recipe before = document().recipe();
    QVERIFY(planOf("linear").quantized);
    QStringList lines;
    QTimer::singleShot(0, this, [this, &lines] {
        QMenu* menu = nullptr;
        QTRY_VERIFY((menu = m_window->findChild<QMenu*>("backendMenu")));
        for (QAction* action : menu->actions()) {
            lines << action->text();
            if (action->objectName() == QLatin1String("emptyBackend"))
                action->trigger();
        }
        menu->close();
    });
    m_window->actions()[ActionId::Backend].trigger();
    for (const std::string& name : shippedBackends()) // each with a line on what it is for
        QVERIFY2(!lines
                      .filter(QRegularExpression(
                          QStringLiteral("^%1\t\\w.+").arg(QString::fromStdString(name))))
                      .isEmpty(),
                 name.c_str());
    auto* dialog = find<BackendDialog>("backendDialog");
    QVERIFY(dialog);
    QCOMPARE(in<QTreeWidget>(dialog, "backendEntries")->topLevelItemCount(), 0);
    QCOMPARE(in<QLineEdit>(dialog, "backendName")->text(), QStringLiteral("my_target"));
    QVERIFY(problems(dialog).isEmpty() && !canSave(dialog));
    QCOMPARE(document().recipe(), before);
    auto* fusions = in<QMenu>(dialog, "backendFusions");
    Q_EMIT fusions->aboutToShow();
    for (auto* menu : fusions->findChildren<QMenu*>())
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("Conv2d, BatchNorm2d, ReLU"))
                action->trigger();
    type(dialog, "backendPurpose", QStringLiteral("our own chip"));
    QVERIFY2(canSave(dialog), qPrintable(problems(dialog).join('\n')));
    in<QPushButton>(dialog, "backendSave")->click();
    QTRY_VERIFY(!m_window->findChild<BackendDialog*>());
    settle();
    QVERIFY(document().recipe().backend.ends_with("my_target.json"));
    QCOMPARE(findBackend(document().recipe().backend)->description, std::string("our own chip"));
    QVERIFY(planOf("relu").quantized);
    QVERIFY(!planOf("linear").quantized);
    m_window->actions()[ActionId::Undo].trigger();
    settle();
    QCOMPARE(document().recipe(), before);
}

void TestBackends::otherFilesStay()
{
    openWith(tutorialRecipe(myBackend(), "kept.json"));
    auto* dialog = edit();
    type(dialog, "backendName", QStringLiteral("another"));
    QVERIFY(canSave(dialog));
    for (const QString& path : {file("kept.json"), QStringLiteral("/nowhere/at/all.json")}) {
        in<QLineEdit>(dialog, "backendFile")->clear();
        type(dialog, "backendFile", path);
        in<QPushButton>(dialog, "backendSave")->click();
        auto* refusal = in<QLabel>(dialog, "backendRefusal");
        QVERIFY(dialog->isVisible() && refusal->isVisible());
        QVERIFY2(refusal->text().contains(path) && !refusal->text().contains('\n'),
                 qPrintable(refusal->text()));
    }
    QVERIFY(readBackend(file("kept.json").toStdString())->patterns == myBackend().patterns);
    QCOMPARE(readBackend(file("kept.json").toStdString())->name, std::string("my_backend"));
}

void TestBackends::theKeyboardReachesEveryField()
{
    openWith(tutorialRecipe(myBackend(), "keys.json"));
    auto* dialog = edit();
    dialog->activateWindow();
    QTRY_VERIFY(in<QLineEdit>(dialog, "backendFilter")->hasFocus());
    QStringList reached;
    for (int i = 0; i < 80; ++i) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        reached << QApplication::focusWidget()->objectName();
    }
    for (const char* name : {"backendName", "backendPurpose", "backendFilter", "backendEntries",
                             "backendAdd", "backendDuplicate", "entryPattern", "entryObservation",
                             "dtypeConfigs", "dtypeInput", "quantMinInput", "zeroPointWeight",
                             "dtypeDynamic", "entryLowering", "backendFile", "backendClose"})
        QVERIFY2(reached.contains(QString::fromLatin1(name)), name);
    // Enter in a field neither saves nor closes.
    type(dialog, "backendName", QStringLiteral("again"));
    QTest::keyClick(in<QLineEdit>(dialog, "backendName"), Qt::Key_Return);
    QVERIFY(dialog->isVisible());
    QCOMPARE(document().recipe().backend, file("keys.json").toStdString());
}

void TestBackends::itFitsTheScreenAtAnyTextSize_data()
{
    QTest::addColumn<int>("percent");
    for (const int percent : {100, 150, 200})
        QTest::addRow("%d", percent) << percent;
}

void TestBackends::itFitsTheScreenAtAnyTextSize()
{
    QFETCH(int, percent);
    applyTheme(*qApp, false, percent);
    const auto back = qScopeGuard([] { applyTheme(*qApp, false, 100); });
    openWith(tutorialRecipe(myBackend(), "sizes.json"));
    auto* dialog = edit();
    QTest::qWait(50);
    QVERIFY(dialog->width() <= 1280 && dialog->height() <= 720);
    if (percent == 100)
        QCOMPARE(in<QScrollArea>(dialog, "entryScroll")->horizontalScrollBar()->maximum(), 0);
    m_window.reset();
}

void TestBackends::aProjectsBackendsLieBesideIt()
{
    openWith(tutorialRecipe(myBackend(), "saved.json"));
    QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("work")));
    QVERIFY(m_window->projects().saveTo(file("work/net.project.json")));
    QCOMPARE(in<QLineEdit>(edit(), "backendFile")->text(), file("work/my_backend.json"));
}

QTEST_MAIN(TestBackends)
#include "tst_ui_backends.moc"
