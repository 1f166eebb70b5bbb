// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/extension_packs.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/shell/dialogs/pack_offer.h"
#include "ui/shell/dialogs/packs_dialog.h"

#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTreeWidget>
#include <QtTest>

using namespace qs;

namespace {

const QString kPacks = QStringLiteral(QS_BINARY_DIR "/extensions/");

/// A model with the operators of `scaled_linear`, between PyTorch's.
const char* const kModel = R"(
import sys, torch
torch.ops.load_library(sys.argv[1])
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 16)
        self.weight = torch.nn.Parameter(torch.randn(8, 16) * 0.3)
        self.bias = torch.nn.Parameter(torch.randn(8) * 0.1)
    def forward(self, x):
        x = torch.ops.mypack.swap_halves(self.first(x))
        return torch.ops.mypack.scaled_linear(x, self.weight, self.bias, 0.5)
torch.manual_seed(7)
torch.export.save(torch.export.export(Net().eval(), (torch.randn(4, 16),)), sys.argv[2])
torch.save([(torch.randn(8, 16),) for _ in range(3)], sys.argv[3])
)";

/// A model that holds objects of the pack `sites`: LibTorch reads nothing of it without.
const char* const kObjects = R"(
import sys, torch
torch.ops.load_library(sys.argv[1])
Sparse = torch.classes.sites.SparseTensor
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(8, 4) * 0.5)
        self.last = torch.nn.Linear(8, 3)
    def forward(self, features, indices):
        x = torch.ops.sites.linear(Sparse(features, indices, [6, 6], 2), self.w, None)
        return self.last(x.features), x.indices
torch.manual_seed(7)
torch.jit.save(torch.jit.script(Net().eval()), sys.argv[2])
)";

} // namespace

/// Packs in the window. A process keeps what it has loaded: the tests go from none to two.
class TestPacks : public test::WindowTest<test::RealEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup() { m_window.reset(); }
    void aBrokenPackIsOneLine();
    void noFileLoadsAPack();
    void aPackIsLoadedOnceItIsAllowed();
    void theModelIsPlannedAnew();
    void anotherHashIsAskedAbout();
    void aModelThatNeedsAPackOpensOnceItIsAdded();
    void aRecentFileNamesItsPacks();

private:
    QTemporaryDir m_folder;
    QString m_model, m_data, m_objects;

    PacksDialog* openDialog()
    {
        m_window->actions()[ActionId::Packs].trigger();
        return find<PacksDialog>("packsDialog");
    }
    /// What is chosen when a folder is asked for; nothing: the question is closed.
    void answerFolder(const QString& folder)
    {
        auto* timer = new QTimer(this);
        timer->start(0);
        connect(timer, &QTimer::timeout, this, [folder, timer] {
            auto* files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!files)
                return;
            timer->stop();
            timer->deleteLater();
            if (!folder.isEmpty()) {
                files->selectFile(folder);
                QMetaObject::invokeMethod(files, "accept");
            }
            files->close();
        });
    }
    /// Presses the message bar's button of that text; false if there is none.
    bool addOffered(const QString& text)
    {
        QPushButton* offered = nullptr;
        const bool isThere = QTest::qWaitFor([&] {
            for (auto* button : m_window->messageBar().findChildren<QPushButton*>())
                if (button->isVisible() && button->text() == text)
                    offered = button;
            return offered != nullptr;
        });
        if (isThere)
            offered->click();
        return isThere;
    }
    /// Adds the folder as a person does, and waits until the dialog is idle again.
    void add(PacksDialog& dialog, const QString& folder)
    {
        answerFolder(folder);
        auto* button = dialog.findChild<QPushButton*>(QStringLiteral("packAdd"));
        button->click();
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), 60000);
    }
    QString problem(const PacksDialog& dialog)
    {
        const auto* label = dialog.findChild<QLabel*>(QStringLiteral("packProblem"));
        return label->isVisible() ? label->text() : QString();
    }
    bool asks(const PacksDialog& dialog)
    {
        return dialog.findChild<QWidget*>(QStringLiteral("packQuestion"))->isVisible();
    }
    void press(PacksDialog& dialog, const char* button)
    {
        auto* add = dialog.findChild<QPushButton*>(QStringLiteral("packAdd"));
        dialog.findChild<QPushButton*>(QString::fromLatin1(button))->click();
        QTRY_VERIFY_WITH_TIMEOUT(add->isEnabled(), 60000);
    }
    /// All texts of the list, a line each.
    QString listed(const PacksDialog& dialog)
    {
        QString text;
        for (QTreeWidgetItemIterator it(dialog.findChild<QTreeWidget*>(QStringLiteral("packs")));
             *it; ++it)
            text += (*it)->text(0) + QLatin1Char(' ') + (*it)->text(1) + QLatin1Char('\n');
        return text;
    }
    void open(const Recipe& recipe = defaultRecipe())
    {
        m_window->openModel(m_model, recipe);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().document().model(), 60000);
    }
    const NodePlan* planOf(const char* name)
    {
        const auto& document = workspace().document();
        const Node* found = document.model()->tryFind(name);
        return document.plan() && found ? document.plan()->tryGet(*document.model(), found->id)
                                        : nullptr;
    }
};

void TestPacks::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    m_model = m_folder.filePath(QStringLiteral("m.pt2"));
    m_data = m_folder.filePath(QStringLiteral("data.pt"));
    QCOMPARE(QProcess::execute(QStringLiteral(QS_PYTHON),
                               {QStringLiteral("-c"), QString::fromLatin1(kModel),
                                kPacks + QStringLiteral("scaled_linear/libscaled_linear.so"),
                                m_model, m_data}),
             0);
    m_objects = m_folder.filePath(QStringLiteral("objects.pt"));
    QFile script(m_folder.filePath(QStringLiteral("objects.py"))); // scripting reads the source
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write(kObjects);
    script.close();
    QCOMPARE(QProcess::execute(
                 QStringLiteral(QS_PYTHON),
                 {script.fileName(), kPacks + QStringLiteral("sites/libsites.so"), m_objects}),
             0);
}

void TestPacks::init()
{
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
}

void TestPacks::aBrokenPackIsOneLine()
{
    QSettings().clear();
    const QDir folder(m_folder.path());
    QVERIFY(folder.mkdir(QStringLiteral("broken")));
    QFile description(kPacks + QStringLiteral("scaled_linear/extension.json"));
    QVERIFY(description.open(QIODevice::ReadOnly));
    QFile broken(folder.filePath(QStringLiteral("broken/extension.json")));
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write(description.readAll().replace("libscaled_linear.so", "libcrashes.so"));
    broken.close();
    QVERIFY(QFile::copy(kPacks + QStringLiteral("hostile/libcrashes.so"),
                        folder.filePath(QStringLiteral("broken/libcrashes.so"))));
    auto* dialog = openDialog();
    QVERIFY(problem(*dialog).isEmpty());
    add(*dialog, folder.filePath(QStringLiteral("broken")));
    QVERIFY2(asks(*dialog), qPrintable(problem(*dialog))); // nothing of it ran yet
    press(*dialog, "packLoad");
    QVERIFY2(problem(*dialog).contains(QStringLiteral("libcrashes.so"))
                 && problem(*dialog).contains(QStringLiteral("crashes while it is loaded"))
                 && !problem(*dialog).contains(QLatin1Char('\n')),
             qPrintable(problem(*dialog)));
    QVERIFY(dialog->isVisible() && !asks(*dialog));
    // The same files are not asked about again.
    add(*dialog, folder.filePath(QStringLiteral("broken")));
    QVERIFY(!asks(*dialog));
    QTRY_VERIFY(problem(*dialog).contains(QStringLiteral("crashes while it is loaded")));
    add(*dialog, QStringLiteral(QS_SOURCE_DIR "/resources"));
    QVERIFY2(problem(*dialog).contains(QStringLiteral("extension.json")),
             qPrintable(problem(*dialog)));
    QVERIFY(loadedPacks().empty());
}

void TestPacks::noFileLoadsAPack()
{
    Recipe recipe = defaultRecipe();
    recipe.extensions = {"scaled_linear"};
    open(recipe);
    auto& messages = m_window->messageBar();
    QTRY_COMPARE(messages.topic(), kPacksTopic);
    QCOMPARE(messages.headline(),
             QStringLiteral("extensions: the pack 'scaled_linear' is not loaded"));
    QVERIFY(!workspace().document().plan());
    answerFolder({});
    QVERIFY(addOffered(QStringLiteral("Add pack…")));
    auto* dialog = find<PacksDialog>("packsDialog");
    QVERIFY(dialog && dialog->isVisible());
    QVERIFY(problem(*dialog).contains(QStringLiteral("scaled_linear")));
    QVERIFY(loadedPacks().empty());
}

void TestPacks::aPackIsLoadedOnceItIsAllowed()
{
    QSettings().clear();
    auto* dialog = openDialog();
    const QString folder = kPacks + QStringLiteral("scaled_linear");
    for (const char* answer : {"packLeave", "packLoad"}) {
        add(*dialog, folder);
        QVERIFY2(problem(*dialog).isEmpty(), qPrintable(problem(*dialog)));
        QVERIFY(asks(*dialog) && loadedPacks().empty());
        const QString text = listed(*dialog);
        static const QRegularExpression hash(QStringLiteral("SHA-256 [0-9a-f]{64}\n"));
        QVERIFY2(text.contains(hash), qPrintable(text));
        for (const char* line :
             {"operator mypack::scaled_linear (input x, weight weight, bias bias)",
              "pattern torch.ops.mypack.scaled_linear",
              "lowering mypack.scaled_linear -> mypack::scaled_linear_int8",
              "library libscaled_linear.so"})
            QVERIFY2(text.contains(QLatin1String(line)), qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("path ") + folder));
        press(*dialog, answer);
        QVERIFY(!asks(*dialog));
        QCOMPARE(loadedPacks().size(), std::size_t(answer == QByteArray("packLoad")));
        QCOMPARE(listed(*dialog).contains(QStringLiteral("mypack")), !loadedPacks().empty());
    }
    add(*dialog, folder);
    QVERIFY(problem(*dialog).contains(QStringLiteral("loaded already")));
}

void TestPacks::theModelIsPlannedAnew()
{
    // sparse_conv is added while a model is open; the recipe asks for what is loaded.
    open();
    QTRY_VERIFY(settled());
    QCOMPARE(workspace().document().recipe().extensions,
             std::vector<std::string> {"scaled_linear"});
    const auto* linear = planOf("scaled_linear");
    QVERIFY(linear && linear->verdict == Verdict::Quantized);
    QCOMPARE(linear->pattern, std::vector<std::string> {"torch.ops.mypack.scaled_linear"});
    const Key before = workspace().document().keys().plan;
    auto* dialog = openDialog();
    add(*dialog, kPacks + QStringLiteral("sparse_conv"));
    QVERIFY2(asks(*dialog), qPrintable(problem(*dialog)));
    press(*dialog, "packLoad");
    QTRY_VERIFY(settled() && !workspace().document().isStale(Stage::Plan));
    QVERIFY(workspace().document().keys().plan != before);
    QVERIFY(!workspace().document().isGraphStale());
    QCOMPARE(workspace().document().recipe().extensions,
             (std::vector<std::string> {"scaled_linear", "sparse_conv"}));
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("load the pack sparse_conv"));
    workspace().undoStack().undo();
    QCOMPARE(workspace().document().recipe().extensions,
             std::vector<std::string> {"scaled_linear"});
    // Its code stays in the process: that is said here and where packs are listed.
    const QString stays = m_window->statusBar()->currentMessage();
    QVERIFY2(stays.contains(QStringLiteral("sparse_conv; it stays loaded")), qPrintable(stays));
    QCOMPARE(loadedPacks().size(), std::size_t(2));
    const QString said = QStringLiteral("recipe does not ask for it; it stays loaded");
    QPointer<PacksDialog> list(dialog);
    for (const bool isUndone : {true, false}) {
        list->close();
        QTRY_VERIFY(!list);
        list = openDialog();
        QCOMPARE(listed(*list).count(said), isUndone ? 1 : 0);
        isUndone ? workspace().undoStack().redo() : workspace().undoStack().undo();
    }
    QTRY_VERIFY(settled());
}

void TestPacks::anotherHashIsAskedAbout()
{
    QCOMPARE(QSettings().value(QStringLiteral("allowedPacks")).toStringList().size(), 2);
    const QDir folder(m_folder.path());
    QVERIFY(folder.mkdir(QStringLiteral("other")));
    for (const char* file : {"extension.json", "libscaled_linear.so"})
        QVERIFY(QFile::copy(kPacks + QStringLiteral("scaled_linear/") + QLatin1String(file),
                            folder.filePath(QStringLiteral("other/") + QLatin1String(file))));
    QFile description(folder.filePath(QStringLiteral("other/extension.json")));
    QVERIFY(description.open(QIODevice::Append));
    description.write("\n");
    description.close();
    auto* dialog = openDialog();
    add(*dialog, folder.filePath(QStringLiteral("other")));
    QVERIFY(asks(*dialog));
    press(*dialog, "packLoad");
    QVERIFY2(problem(*dialog).contains(
                 QStringLiteral("another pack named 'scaled_linear' is loaded from")),
             qPrintable(problem(*dialog)));
}

void TestPacks::aModelThatNeedsAPackOpensOnceItIsAdded()
{
    m_window->openModel(m_objects);
    auto& messages = m_window->messageBar();
    QTRY_COMPARE_WITH_TIMEOUT(messages.topic(), kPacksTopic, 60000);
    QVERIFY2(messages.headline().contains(QStringLiteral("sites::SparseTensor")),
             qPrintable(messages.headline()));
    QVERIFY2(!messages.headline().contains(QStringLiteral("--extension")),
             qPrintable(messages.headline()));
    QVERIFY(!workspace().document().model());
    answerFolder(kPacks + QStringLiteral("sites"));
    QVERIFY(addOffered(QStringLiteral("Add pack…")));
    auto* dialog = find<PacksDialog>("packsDialog");
    QTRY_VERIFY_WITH_TIMEOUT(asks(*dialog), 60000);
    QVERIFY(!workspace().document().model());
    QPointer<PacksDialog> open(dialog);
    dialog->findChild<QPushButton*>(QStringLiteral("packLoad"))->click();
    QTRY_VERIFY_WITH_TIMEOUT(workspace().document().model() && settled(), 60000);
    QTRY_VERIFY(!open);
    QVERIFY2(messages.headline().isEmpty() || !messages.isVisible(),
             qPrintable(messages.headline()));
    const auto* linear = planOf("linear");
    QVERIFY(linear && linear->verdict == Verdict::Quantized);
}

void TestPacks::aRecentFileNamesItsPacks()
{
    QMenu& menu = m_window->actions().recentMenu();
    m_window->openModel(QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
    m_window->openModel(m_objects);
    QTRY_VERIFY_WITH_TIMEOUT(
        menu.actions().value(0)->toolTip().endsWith(QLatin1String("objects.pt")) && settled(),
        60000);
    QVERIFY2(menu.actions().at(0)->text().endsWith(QStringLiteral("needs sites")),
             qPrintable(menu.actions().at(0)->text()));
    // The sample ran in the same process, and needs none of them.
    QVERIFY(!menu.actions().at(1)->text().contains(QStringLiteral("needs")));
    // A file that needed a pack which is not loaded is opened, and says so.
    const QString gone = kPacks + QStringLiteral("rules");
    QVariantMap kept = QSettings().value(QStringLiteral("recentPacks")).toMap();
    const QString sample = QFileInfo(QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"))
                               .canonicalFilePath();
    kept.insert(sample, QStringList {gone});
    QSettings().setValue(QStringLiteral("recentPacks"), kept);
    menu.actions().at(1)->trigger();
    auto& messages = m_window->messageBar();
    QTRY_COMPARE_WITH_TIMEOUT(messages.topic(), kPacksTopic, 60000);
    QCOMPARE(messages.headline(), QStringLiteral("digits.pt2 was used with rules"));
    QVERIFY(addOffered(QStringLiteral("Add rules")));
    auto* dialog = find<PacksDialog>("packsDialog");
    QTRY_VERIFY_WITH_TIMEOUT(asks(*dialog), 60000); // known, and yet only loaded when allowed
    press(*dialog, "packLoad");
    QCOMPARE(loadedPacks().back()->name, std::string("rules"));
    QTRY_VERIFY(settled());
}

QTEST_MAIN(TestPacks)
#include "tst_ui_packs.moc"
