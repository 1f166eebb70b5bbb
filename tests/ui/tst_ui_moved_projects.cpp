// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/sha256.h"
#include "engine/graph/graph_edit.h"
#include "engine/project/moved_files.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"
#include "ui/shell/project_files.h"

#include <QAbstractButton>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

using namespace qs;

namespace {

/// Opens files that are there alone, and knows their content.
class FileEngine : public FakeEngine
{
public:
    Result<GraphPtr> open(const std::string& path, const JobContext&) override
    {
        if (!QFileInfo::exists(toQString(path)))
            return fail(makeError(ErrorCode::NotFound, "no such file").inFile(path));
        GraphEdit edit(*fakeModel(path));
        ModelInfo info = fakeModel(path)->info();
        QS_TRY(info.sha256, fileSha256(path));
        edit.setInfo(std::move(info));
        return std::make_shared<const Graph>(edit.build());
    }
};

} // namespace

/// A project whose model or data were moved: found by content without a question, else asked for
/// once; another file is taken only wittingly.
class TestMovedProjects : public test::WindowTest<FileEngine>
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_project, m_model;

    QString at(const char* name) { return m_folder->filePath(QString::fromLatin1(name)); }
    void write(const QString& path, const char* content)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    void openProject()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(m_project);
    }
    QString openModelPath()
    {
        const GraphPtr& model = workspace().document().model();
        return model ? toQString(model->info().path) : QString();
    }
    /// Answers the file dialog that is to come, by keyboard; "" gives it up. Counts the questions.
    void answer(const QString& path, int& asked)
    {
        auto* timer = new QTimer(this);
        connect(timer, &QTimer::timeout, this, [this, timer, path, &asked] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog)
                return;
            timer->deleteLater();
            ++asked;
            QCOMPARE(dialog->directory().absolutePath(), QFileInfo(m_project).absolutePath());
            if (path.isEmpty()) {
                QTest::keyClick(dialog, Qt::Key_Escape);
                return;
            }
            dialog->findChild<QLineEdit*>()->setText(path);
            QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        });
        timer->start(30);
    }
    void answerBox(QMessageBox::StandardButton button, QString& said)
    {
        auto* timer = new QTimer(this);
        connect(timer, &QTimer::timeout, this, [timer, button, &said] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box)
                return;
            timer->deleteLater();
            said = box->text();
            QTest::keyClick(box->button(button), Qt::Key_Space);
        });
        timer->start(30);
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(QDir(m_folder->path()).mkpath("work/models"));
        m_model = at("net.pt2");
        m_project = at("work/net.project.json");
        write(m_model, "the model");
        write(at("calib.npz"), "data");
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        m_window->openModel(m_model);
        QTRY_VERIFY(settled());
        RunSettings settings;
        settings.calibrationData = at("calib.npz").toStdString();
        workspace().document().setSettings(settings);
        workspace().assign({RuleKind::Node, {"linear"}}, std::string());
        QTRY_VERIFY(settled());
        QVERIFY(m_window->projects().saveTo(m_project));
        m_window.reset();
    }
    void cleanup() { m_window.reset(); }

    void aModelBesideTheProjectIsFoundByItsContent()
    {
        QVERIFY(QFile::rename(m_model, at("work/models/other_name.pt2")));
        write(at("work/models/net.pt2"), "another model of the same name");
        openProject();
        QTRY_VERIFY(settled());
        QCOMPARE(openModelPath(), at("work/models/other_name.pt2"));
        QVERIFY(!workspace().document().isModified());
        QCOMPARE(workspace().undoStack().count(), 1);
        // The project remembers, with all else as it was.
        const auto now = readProject(m_project.toStdString());
        QVERIFY(now);
        QCOMPARE(toQString(now->modelPath), openModelPath());
        QCOMPARE(now->history.texts.size(), std::size_t(1));
    }

    /// A gigabyte is read to know what a file holds: the window lives meanwhile, and may open
    /// another model, which ends the search.
    void theWindowLivesWhileAModelIsSearched()
    {
        QVERIFY(QFile::rename(m_model, at("work/models/other_name.pt2")));
        QFile large(at("work/large.pt2")); // is looked at first
        QVERIFY(large.open(QIODevice::WriteOnly));
        QVERIFY(large.resize(qint64(1) << 30));
        large.close();
        openProject(); // returns at once: the search goes on below
        int turns = 0;
        QTimer turning;
        connect(&turning, &QTimer::timeout, this, [&turns] { ++turns; });
        turning.start(5);
        QVERIFY(workspace().pipeline().isBusy());
        QCOMPARE(m_window->statusBar()->currentMessage(), QStringLiteral("Looking for net.pt2 …"));
        QTRY_VERIFY_WITH_TIMEOUT(workspace().document().model() != nullptr, 60000);
        QVERIFY2(turns > 10, qPrintable(QStringLiteral("%1 turns").arg(turns)));
        QCOMPARE(openModelPath(), at("work/models/other_name.pt2"));
        m_window.reset();
        // It remembers the place: moved once more, it is looked for again.
        QVERIFY(QFile::rename(at("work/models/other_name.pt2"), at("work/models/third.pt2")));
        write(at("plain.pt2"), "one that the user opens meanwhile");
        openProject();
        QVERIFY(workspace().pipeline().isBusy());
        m_window->openModel(at("plain.pt2"));
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
        QTest::qWait(100);
        QCOMPARE(openModelPath(), at("plain.pt2"));
    }

    void aModelThatIsNowhereIsAskedForOnce()
    {
        QVERIFY(QDir(m_folder->path()).mkpath("far"));
        QVERIFY(QFile::rename(m_model, at("far/net.pt2")));
        int asked = 0;
        answer(at("far/net.pt2"), asked);
        openProject();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->projects().projectPath() == m_project && settled(),
                                 10000);
        QCOMPARE(asked, 1);
        QCOMPARE(openModelPath(), at("far/net.pt2"));
        openProject(); // another window, another day
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 10000);
        QCOMPARE(openModelPath(), at("far/net.pt2"));
        QTest::qWait(100);
        QCOMPARE(asked, 1);
    }

    void anotherFileIsTakenWittingly()
    {
        QVERIFY(QFile::remove(m_model));
        write(at("net_new.pt2"), "trained longer");
        int asked = 0;
        QString said;
        answer(at("net_new.pt2"), asked);
        answerBox(QMessageBox::Cancel, said);
        openProject();
        QTRY_VERIFY_WITH_TIMEOUT(!said.isEmpty(), 10000);
        QCOMPARE(said,
                 QStringLiteral("net_new.pt2 is not the project's model: its content differs."));
        QTest::qWait(100);
        QVERIFY(!workspace().document().model());
        said.clear();
        answer(at("net_new.pt2"), asked);
        answerBox(QMessageBox::Open, said);
        m_window->openModel(m_project);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().document().model() && settled(), 10000);
        QCOMPARE(openModelPath(), at("net_new.pt2"));
        QVERIFY(workspace().document().isModified()); // nothing of it is saved by itself
        QCOMPARE(toQString(readProject(m_project.toStdString())->modelPath), m_model);
    }

    void givingUpLeavesWhatWasOpen()
    {
        QVERIFY(QFile::remove(m_model));
        int asked = 0;
        answer({}, asked);
        openProject();
        QTRY_COMPARE_WITH_TIMEOUT(asked, 1, 10000);
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(!workspace().document().model());
    }

    void dataThatWereMovedAreFoundOrAskedFor()
    {
        QVERIFY(QFile::rename(at("calib.npz"), at("work/calib.npz")));
        openProject();
        QTRY_VERIFY(settled());
        QCOMPARE(toQString(workspace().document().settings().calibrationData),
                 at("work/calib.npz"));
        m_window.reset();
        QVERIFY(QFile::remove(at("work/calib.npz")));
        write(at("new.npz"), "data");
        openProject();
        QTRY_VERIFY(settled());
        QTRY_COMPARE(m_window->messageBar().headline(),
                     QStringLiteral("The project's data were not found"));
        int asked = 0;
        answer(at("new.npz"), asked);
        for (auto* button : m_window->messageBar().findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Choose…"))
                button->click();
        QTRY_COMPARE(toQString(workspace().document().settings().calibrationData), at("new.npz"));
    }
};

QTEST_MAIN(TestMovedProjects)
#include "tst_ui_moved_projects.moc"
