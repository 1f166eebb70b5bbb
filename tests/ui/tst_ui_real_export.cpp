// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/window_test.h"
#include "ui/session/engine_session.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions.h"
#include "ui/shell/message_bar.h"

#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include <functional>

using namespace qs;

namespace {

/// The real engine where the fixture wants one it can construct.
class RealEngine
{
public:
    operator EngineService&() { return *m_engine; }

private:
    std::unique_ptr<EngineService> m_engine = makeEngineSession();
};

QByteArray contents(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The result without what differs from run to run.
QJsonObject resultIn(const QString& folder)
{
    auto result
        = QJsonDocument::fromJson(contents(folder + QStringLiteral("/result.json"))).object();
    result.remove(QStringLiteral("timing_s"));
    result.remove(QStringLiteral("peak_rss_bytes"));
    return result;
}

} // namespace

/// The whole job on the real engine through the window's own actions and dialogs, beside the
/// command line with the same decisions.
class TestRealExport : public test::WindowTest<RealEngine>
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_model, m_data, m_out;
    bool m_answered = false;
    QTimer m_opening; ///< looks for the dialog

    /// Fills in the dialog of that name once it is open, and accepts it.
    void answer(const char* name, const std::function<void(QDialog&)>& fill)
    {
        m_answered = false;
        m_opening.disconnect();
        connect(&m_opening, &QTimer::timeout, this, [this, name, fill] {
            auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
            if (!dialog)
                return;
            m_opening.stop();
            m_answered = dialog->objectName() == QLatin1String(name);
            fill(*dialog);
            dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
        });
        m_opening.start(10);
    }
    void exportTo(const QString& folder, const QStringList& forms)
    {
        answer("exportDialog", [&](QDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("exportFolder"))->setText(folder);
            for (auto* box : dialog.findChildren<QCheckBox*>())
                box->setChecked(forms.contains(box->objectName().mid(5)));
        });
        m_window->actions()["export"].trigger();
        m_opening.stop();
        QVERIFY(m_answered);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().pipeline().isBusy(), 60000);
    }
    bool isDone(Stage stage)
    {
        return !workspace().pipeline().isBusy()
            && workspace().pipeline().status(stage).state == StageStatus::State::Done;
    }
    /// What a program printed, both streams; "" where it failed, which is told.
    QByteArray run(const QString& program, const QStringList& arguments)
    {
        QProcess process;
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(program, arguments);
        const bool ended = process.waitForFinished(200000);
        const QByteArray text = process.readAll();
        if (ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
            return text + '\n';
        qWarning("%s: %s", qPrintable(program), text.constData());
        return {};
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_model = m_folder.filePath(QStringLiteral("digits.pt2"));
        m_data = m_folder.filePath(QStringLiteral("some.npz"));
        m_out = m_folder.filePath(QStringLiteral("window"));
        const QString samples = QStringLiteral(QS_SOURCE_DIR "/resources/samples/");
        QVERIFY(QFile::copy(samples + QStringLiteral("digits.pt2"), m_model));
        QVERIFY(QFile::copy(samples + QStringLiteral("calib.npz"), m_data));
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(m_model);
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
    }
    void cleanupTestCase() { m_window.reset(); }

    void everyStageRuns()
    {
        workspace().selectNode(node("linear"));
        m_window->actions()["keepFloat"].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
        answer("calibrateDialog", [this](QDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("calibrationData"))->setText(m_data);
            dialog.findChild<QWidget*>(QStringLiteral("deviceBox"))
                ->setProperty("currentText", QStringLiteral("cpu"));
            dialog.findChild<QSpinBox*>(QStringLiteral("batchesBox"))->setValue(4);
        });
        m_window->actions()["calibrate"].trigger();
        m_opening.stop();
        QVERIFY(m_answered);
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Calibrate), 60000);
        m_window->actions()["convert"].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Convert), 60000);
        m_window->actions()["compare"].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Compare), 60000);
        exportTo(m_out, {QStringLiteral("torchscript"), QStringLiteral("pt2-reference")});
        QTRY_VERIFY(isDone(Stage::Export));
        QVERIFY(!m_window->messageBar().isVisible());
        QVERIFY(m_window->statusBar()->currentMessage().contains(m_out));
    }

    void theCommandLineWritesTheSame()
    {
        const QString cli = m_folder.filePath(QStringLiteral("cli"));
        const QByteArray text = run(
            QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
            {QStringLiteral("quantize"), m_model, QStringLiteral("--data"), m_data,
             QStringLiteral("--recipe"), m_out + QStringLiteral("/recipe.json"),
             QStringLiteral("--device"), QStringLiteral("cpu"), QStringLiteral("--out"), cli});
        QVERIFY(!text.isEmpty());
        QCOMPARE(QDir(m_out).entryList(QDir::Files, QDir::Name),
                 QDir(cli).entryList(QDir::Files, QDir::Name));
        QCOMPARE(contents(m_out + QStringLiteral("/recipe.json")),
                 contents(cli + QStringLiteral("/recipe.json")));
        const QJsonObject ours = resultIn(m_out), theirs = resultIn(cli);
        QVERIFY(ours[QStringLiteral("nodes")].toArray().size() > 20);
        QCOMPARE(ours.keys(), theirs.keys());
        for (const QString& key : ours.keys())
            QVERIFY2(ours[key] == theirs[key], qPrintable(key));
    }

    /// In PyTorch, with the very same outputs as what the command line wrote.
    void whatWasWrittenLoads()
    {
        const char* const script = R"(
import sys
import numpy, torch, torch.ao.quantization.fx._decomposed
window, cli, data = sys.argv[1:]
image = torch.from_numpy(next(iter(numpy.load(data).values()))[:8])
with torch.no_grad():
    lowered = [torch.jit.load(f"{folder}/model.ts.pt")(image) for folder in (window, cli)]
    reference = [torch.export.load(f"{folder}/model.reference.pt2").module()(image) for folder in (window, cli)]
assert torch.equal(*lowered) and torch.equal(*reference)
assert (lowered[0] - reference[0]).norm() < 0.05 * reference[0].norm() > 0
print("same", tuple(lowered[0].shape))
)";
        const QByteArray text = run(QStringLiteral(QS_PYTHON),
                                    {QStringLiteral("-c"), QString::fromLatin1(script), m_out,
                                     m_folder.filePath(QStringLiteral("cli")), m_data});
        QVERIFY2(text.contains("same (8, 10)"), text.constData());
    }

    void aSecondExportLeavesNothingOfTheFirst()
    {
        exportTo(m_out, {QStringLiteral("pt2")});
        QTRY_VERIFY(isDone(Stage::Export));
        QCOMPARE(QDir(m_out).entryList(QDir::Files, QDir::Name),
                 QStringList({"model.pt2", "observations.npz", "recipe.json", "result.json"}));
    }

    void aFolderInTheWayIsToldBeforeAnythingIsWritten()
    {
        const QString out = m_folder.filePath(QStringLiteral("in the way"));
        QVERIFY(QDir().mkpath(out + QStringLiteral("/result.json")));
        exportTo(out, {QStringLiteral("torchscript")});
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY2(m_window->messageBar().headline().contains(QStringLiteral("result.json")),
                 qPrintable(m_window->messageBar().headline()));
        QCOMPARE(QDir(out).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
                 QStringList {QStringLiteral("result.json")});
        m_window->messageBar().dismiss();
    }

    void aFolderThatCannotBeWrittenIsOneMessage()
    {
        const QString file = m_folder.filePath(QStringLiteral("some.npz"));
        exportTo(file + QStringLiteral("/out"), {QStringLiteral("torchscript")});
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY2(m_window->messageBar().headline().contains(file + QStringLiteral("/out")),
                 qPrintable(m_window->messageBar().headline()));
        QVERIFY(!m_window->messageBar().detail().isEmpty());
        QCOMPARE(workspace().pipeline().status(Stage::Export).state, StageStatus::State::Failed);
    }
};

QTEST_MAIN(TestRealExport)
#include "tst_ui_real_export.moc"
