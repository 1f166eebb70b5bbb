// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/project/project.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/style/colour_box.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/session/opened_files.h"
#include "ui/shell/project_files.h"
#include "ui/style/window_style.h"

#include <QComboBox>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeView>
#include <QtTest>

using namespace qs;

/// What is open has a name, and is as it was left: decisions that can be undone, views, panels.
class TestProjects : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        QSettings().clear();
        m_engine.model = fakeModel();
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
    }
    void cleanup() { m_window.reset(); }
    void modelsOfOneNameHaveTheirFolder();
    void projectsHaveTheirName();
    void aFileThatDoesNotOpenLeavesTheProject();
    void undoGoesOnWhereItWasSaved();
    void aReloadedModelKeepsItsUndo();
    void damagedHistoryIsToldOf();
    void anotherStyleKeepsWhatWasSetUp();
    void chosenColoursAreTheProjects();
    void whatWasNotSavedIsOfferedAfterACrash();
    void aSecondWindowOnAProjectMayOnlyRead();

private:
    QTemporaryDir m_folder;

    QString title() { return m_window->windowTitle(); }
    void open(const QString& path)
    {
        m_window->openModel(path);
        QTRY_VERIFY(settled());
    }
    void keepFloat(const char* name)
    {
        workspace().assign({RuleKind::Node, {name}}, std::string());
        QTRY_VERIFY(settled());
    }
    QStringList past()
    {
        QStringList out;
        for (int i = 0; i < workspace().undoStack().count(); ++i)
            out << workspace().undoStack().text(i);
        return out;
    }
};

void TestProjects::modelsOfOneNameHaveTheirFolder()
{
    QStringList titles;
    const QString home = QDir::homePath();
    for (const QString& path : {QStringLiteral("/data/a/models/net.pt2"),
                                QStringLiteral("/data/b/models/net.pt2"), home + "/net.pt2"}) {
        m_engine.model = fakeModel(path.toStdString());
        open(path);
        QVERIFY2(title().startsWith(QStringLiteral("net.pt2 · ")), qPrintable(title()));
        titles << title();
    }
    QVERIFY2(titles[0].contains(QStringLiteral("/data/a/models")), qPrintable(titles[0]));
    QVERIFY(titles[0] != titles[1]);
    QVERIFY2(titles[2].contains(QStringLiteral(" ~ ")), qPrintable(titles[2]));
    keepFloat("linear");
    QVERIFY2(title().startsWith(QStringLiteral("net.pt2* · ")), qPrintable(title()));
}

void TestProjects::projectsHaveTheirName()
{
    QVERIFY(m_folder.isValid());
    QDir().mkpath(m_folder.filePath("other"));
    open(QStringLiteral("/models/net.pt2"));
    QStringList titles;
    for (const char* name : {"bold.project.json", "shy.json", "other/shy.json"}) {
        QVERIFY(m_window->projects().saveTo(m_folder.filePath(name)));
        titles << title();
    }
    QVERIFY2(titles[0].startsWith(QStringLiteral("bold · project of net.pt2 · ")),
             qPrintable(titles[0]));
    QVERIFY2(titles[1].startsWith(QStringLiteral("shy · ")), qPrintable(titles[1]));
    QVERIFY(titles[1] != titles[2]);
    keepFloat("linear");
    QVERIFY2(title().startsWith(QStringLiteral("shy* · ")), qPrintable(title()));
    open(m_folder.filePath("bold.project.json"));
    QCOMPARE(title(), titles[0]);
    open(QStringLiteral("/models/net.pt2")); // no project any more
    QVERIFY2(title().startsWith(QStringLiteral("net.pt2 · ")), qPrintable(title()));
}

/// Saving then would write over another project, or ask for a file.
void TestProjects::aFileThatDoesNotOpenLeavesTheProject()
{
    const QString mine = m_folder.filePath("mine.json");
    open(QStringLiteral("/models/net.pt2"));
    QVERIFY(m_window->projects().saveTo(mine));
    const QString before = title();
    Project other;
    other.modelPath = "/models/missing.pt2";
    const QString theirs = m_folder.filePath("theirs.json");
    QVERIFY(writeProject(other, theirs.toStdString()));
    for (const QString& path :
         {theirs, QStringLiteral("/models/missing.pt2"), m_folder.filePath("none.json")}) {
        if (path.endsWith(QLatin1String("none.json"))) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(R"({"format": "quantscope.project"})");
        }
        QSignalSpy failures(&workspace().pipeline(), &Pipeline::failed);
        QTimer giveUp; // the place of its model is unknown
        connect(&giveUp, &QTimer::timeout, this, [] {
            if (QWidget* asked = QApplication::activeModalWidget())
                QTest::keyClick(asked, Qt::Key_Escape);
        });
        giveUp.start(50);
        m_window->openModel(path);
        QTRY_COMPARE(failures.count(), 1);
        QTRY_VERIFY(settled());
        QCOMPARE(m_window->projects().projectPath(), mine);
        QCOMPARE(m_window->projects().openedPath(), mine);
        keepFloat("linear");
        workspace().undoStack().undo();
        QCOMPARE(title(), before);
    }
}

void TestProjects::undoGoesOnWhereItWasSaved()
{
    open(QStringLiteral("/models/net.pt2"));
    const Recipe first = workspace().document().recipe();
    for (const char* name : {"conv2d", "linear", "conv2d_1"})
        keepFloat(name);
    const Recipe third = workspace().document().recipe();
    workspace().undoStack().undo();
    const Recipe second = workspace().document().recipe();
    const QStringList texts = past();
    const QString project = m_folder.filePath("history.json");
    QVERIFY(m_window->projects().saveTo(project));

    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    open(project);
    auto& undo = workspace().undoStack();
    const auto& document = workspace().document();
    QCOMPARE(past(), texts);
    QCOMPARE(undo.index(), 2);
    QVERIFY(document.recipe() == second && !document.isModified());
    QVERIFY(m_window->actions()[ActionId::Undo].isEnabled()
            && m_window->actions()[ActionId::Redo].isEnabled());
    m_window->actions()[ActionId::Redo].trigger();
    QVERIFY(document.recipe() == third && document.isModified());
    for (int i = 0; i < 3; ++i)
        m_window->actions()[ActionId::Undo].trigger();
    QVERIFY(document.recipe() == first);
    QTRY_VERIFY(settled());
    QVERIFY(workspace().facts().plan(node("conv2d"))->quantized);
    // What is decided now follows, as ever.
    keepFloat("linear");
    QCOMPARE(undo.count(), 1);
    // Another model has no history of this one.
    open(QStringLiteral("/models/net.pt2"));
    QCOMPARE(undo.count(), 0);
}

void TestProjects::aReloadedModelKeepsItsUndo()
{
    open(QStringLiteral("/models/net.pt2"));
    keepFloat("linear");
    QTest::keyClick(m_window.get(), Qt::Key_F5);
    QTRY_VERIFY(settled());
    QCOMPARE(workspace().undoStack().index(), 1);
    QVERIFY(workspace().document().isModified());
    workspace().undoStack().undo();
    QVERIFY(!workspace().document().isModified());
}

void TestProjects::damagedHistoryIsToldOf()
{
    open(QStringLiteral("/models/net.pt2"));
    keepFloat("linear");
    const Recipe decided = workspace().document().recipe();
    const QString project = m_folder.filePath("damaged.json");
    QVERIFY(m_window->projects().saveTo(project));
    QFile file(project);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QByteArray text = file.readAll();
    QVERIFY(text.contains("\"steps\""));
    file.resize(0);
    file.seek(0);
    file.write(text.replace("\"steps\"", "\"step\""));
    file.close();
    open(project);
    QVERIFY(workspace().document().recipe() == decided);
    QCOMPARE(workspace().undoStack().count(), 0);
    QVERIFY(!m_window->messageBar().isVisible());
    QTRY_VERIFY2(
        m_window->logPanel().toPlainText().contains(QStringLiteral("undo and redo start empty")),
        qPrintable(m_window->logPanel().toPlainText()));
}

void TestProjects::anotherStyleKeepsWhatWasSetUp()
{
    open(QStringLiteral("/models/net.pt2"));
    pane().expandAll();
    QTRY_VERIFY(pane().isLayoutDone());
    pane().view().setFocus();
    pane().view().setZoom(1.5);
    const auto expanded = pane().expanded();
    QTest::keyClick(&pane().view(), Qt::Key_4, Qt::AltModifier);
    pane().foldAll();
    QTRY_VERIFY(pane().isLayoutDone());
    workspace().selectNode(node("linear"));
    m_window->actions()[ActionId::TraceBefore].trigger();
    m_window->actions()[ActionId::ShowModules].trigger();
    const auto tree = [this] { return &m_window->modulePanel().tree(); };
    const QModelIndex root = tree()->model()->index(0, 0);
    QVERIFY(tree()->isExpanded(root));
    tree()->collapse(root);
    auto* plots = find<QSplitter>("plots");
    QCoreApplication::processEvents();
    plots->setSizes({300, 500});
    const QList<int> sizes = plots->sizes();
    find<QComboBox>("codeForm")->setCurrentIndex(2);

    const QPointer<QSplitter> old = plots;
    m_window->changeStyle({WindowStyle::Colours::Dark, 100});
    QTRY_VERIFY(!old);
    QTRY_VERIFY(settled());
    QCOMPARE(pane().trace(), GraphPane::Trace::Before);
    QVERIFY(!m_window->actions()[ActionId::ShowModules].isChecked());
    QVERIFY(!tree()->isVisible() && !tree()->isExpanded(tree()->model()->index(0, 0)));
    QTRY_COMPARE(find<QSplitter>("plots")->sizes(), sizes);
    QCOMPARE(find<QComboBox>("codeForm")->currentIndex(), 2);
    pane().view().setFocus();
    QTest::keyClick(&pane().view(), Qt::Key_4);
    QTRY_VERIFY(pane().isLayoutDone() && pane().expanded() == expanded);
    QCOMPARE(pane().view().zoom(), 1.5);
    // What is open is still known, and can be saved.
    const QString project = m_folder.filePath("looks.json");
    QVERIFY(m_window->projects().saveTo(project));
    m_window->changeStyle({});
    QTRY_VERIFY(styleInUse() == WindowStyle {} && settled());
    QCOMPARE(m_window->projects().projectPath(), project);
    QVERIFY2(title().startsWith(QStringLiteral("looks · ")), qPrintable(title()));
}

void TestProjects::chosenColoursAreTheProjects()
{
    open(QStringLiteral("/models/net.pt2"));
    QVERIFY(!pane().chosenColour());
    const QString none = m_folder.filePath("none.json"), chosen = m_folder.filePath("chosen.json");
    QVERIFY(m_window->projects().saveTo(none));
    find<ColourBox>("colourBy")->setCurrentIndex(int(ColourBy::DType));
    Q_EMIT find<ColourBox>("colourBy")->activated(int(ColourBy::DType));
    QVERIFY(m_window->projects().saveTo(chosen));

    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    open(chosen);
    QCOMPARE(int(pane().colourBy()), int(ColourBy::DType));
    QCOMPARE(find<ColourBox>("colourBy")->currentIndex(), int(ColourBy::DType));
    workspace().pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(settled() && workspace().document().hasResult(Stage::Compare));
    QCOMPARE(int(pane().colourBy()), int(ColourBy::DType)); // the user's choice stands
    open(none);
    QVERIFY(!pane().chosenColour());
    QCOMPARE(int(pane().colourBy()), int(ColourBy::Verdict));
}

void TestProjects::whatWasNotSavedIsOfferedAfterACrash()
{
    open("/models/net.pt2");
    const QString file = unsavedFileFor("/models/net.pt2");
    QFile::remove(file);
    keepFloat("relu");
    keepFloat("fc");
    const Recipe decided = workspace().document().recipe();
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(file), 5000);
    QTRY_VERIFY_WITH_TIMEOUT(readProject(file.toStdString())->recipe == decided, 5000);
    m_window.reset(); // as a crash would: without a question, nothing saved
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    open("/models/net.pt2");
    QVERIFY(!(workspace().document().recipe() == decided));
    QTRY_COMPARE(m_window->messageBar().headline(),
                 QStringLiteral("Decisions that were not saved"));
    const auto press = [this](const char* text) {
        for (auto* button : m_window->messageBar().findChildren<QPushButton*>())
            if (button->text() == QLatin1String(text))
                return button->click();
        QFAIL(text);
    };
    press("Bring back");
    QTRY_VERIFY(settled());
    QVERIFY(workspace().document().recipe() == decided);
    workspace().undoStack().undo(); // an ordinary step
    QVERIFY(!(workspace().document().recipe() == decided));
    workspace().undoStack().redo();
    QVERIFY(m_window->projects().saveTo(m_folder.filePath("kept.json")));
    QVERIFY(!QFileInfo::exists(file)); // saved is saved
    open("/models/net.pt2");
    QVERIFY(m_window->messageBar().headline() != QStringLiteral("Decisions that were not saved"));
}

void TestProjects::aSecondWindowOnAProjectMayOnlyRead()
{
    open("/models/net.pt2");
    const QString project = m_folder.filePath("shared.json");
    QVERIFY(m_window->projects().saveTo(project));
    auto first = std::move(m_window);
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    open(project);
    QVERIFY(m_window->projects().isReadOnly() && title().contains("read-only"));
    keepFloat("relu");
    QVERIFY(!m_window->projects().saveTo(project)); // refused, with a message
    QVERIFY(m_window->messageBar().detail().contains("nother window has it open"));
    QVERIFY(m_window->projects().saveTo(m_folder.filePath("mine.json")));
    QVERIFY(!m_window->projects().isReadOnly() && !title().contains("read-only"));
    first.reset(); // gives the project up
    open(project);
    QVERIFY(!m_window->projects().isReadOnly());
}

QTEST_MAIN(TestProjects)
#include "tst_ui_projects.moc"
