// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/dialogs.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/workspace.h"
#include "ui/shell/empty_state.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

/// The window's report is the command line's.
class TestReport : public test::WindowTest<test::RealEngine>
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    static QByteArray contents(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QString place(const char* name) { return m_folder.filePath(QString::fromLatin1(name)); }
    QAction& save() { return m_window->actions()[ActionId::SaveReport]; }
    /// By its command and the dialog.
    QByteArray savedReport(const QString& path)
    {
        test::atDialog<QFileDialog>(*this, [path](QFileDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(path);
            QMetaObject::invokeMethod(&dialog, "accept");
        });
        m_window->messageBar().dismiss();
        save().trigger();
        const MessageBar& said = m_window->messageBar();
        const bool came = QTest::qWaitFor([&said] { return said.isVisible(); }, 60000);
        const bool isSaved = said.topic() == QLatin1String("report") && said.detail() == path;
        return came && isSaved ? contents(path) : QByteArray();
    }
    static QByteArray section(const QByteArray& page, const char* from, const char* to)
    {
        const auto start = page.indexOf(from);
        return start < 0 ? QByteArray() : page.mid(start, page.indexOf(to, start) - start);
    }
    bool runTo(Stage stage)
    {
        workspace().pipeline().runUpTo(stage);
        return QTest::qWaitFor([this] { return !workspace().pipeline().isBusy(); }, 120000)
            && workspace().pipeline().status(stage).state == StageStatus::State::Done;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(samplePath());
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
    }
    void cleanupTestCase() { m_window.reset(); }

    void beforeAndAfterAnExport()
    {
        QVERIFY(!save().isEnabled());
        workspace().document().setSettings(
            {QFileInfo(samplePath()).dir().filePath(QStringLiteral("calib.npz")).toStdString(), "",
             "cpu", false});
        QVERIFY(runTo(Stage::Compare));
        QVERIFY(save().isEnabled());
        const QByteArray early = savedReport(place("early.html"));
        QVERIFY(early.contains("<h2>Layer by layer"));
        QVERIFY(!early.contains("model.int8.ts.pt"));

        workspace().pipeline().exportTo({place("out"), {"torchscript"}});
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().pipeline().isBusy(), 60000);
        const QByteArray late = savedReport(place("late.html"));
        QProcess program;
        program.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {QStringLiteral("report"), place("out"), QStringLiteral("--html"),
                       place("printed.html")});
        QVERIFY(program.waitForFinished(60000));
        const QByteArray printed = contents(place("printed.html"));
        QVERIFY(printed.contains("model.int8.ts.pt"));
        QCOMPARE(late, printed);
        // The figures, plots and reasons were the same before.
        const QByteArray layers = section(printed, "<h2>Module tree", "<h2>Certificate");
        QVERIFY(layers.contains("block1.conv1"));
        QVERIFY(layers.contains("What the observers saw"));
        QCOMPARE(section(early, "<h2>Module tree", "<h2>Certificate"), layers);
    }

    void anOldResultIsNotReported()
    {
        workspace().selectNode(node("linear"));
        m_window->actions()[ActionId::KeepFloat].trigger();
        QTRY_VERIFY(!save().isEnabled());
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(save().isEnabled(), 30000);
    }

    void whatCannotBeWrittenIsSaid()
    {
        m_window->messageBar().dismiss();
        QVERIFY(savedReport(place("none/report.html")).isEmpty());
        QVERIFY(m_window->messageBar().headline().contains(QLatin1String("report")));
    }
};

QTEST_MAIN(TestReport)
#include "tst_ui_report.moc"
