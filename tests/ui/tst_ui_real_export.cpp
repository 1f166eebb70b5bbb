// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/workspace.h"

#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeWidget>
#include <QtTest>

#include <cmath>
#include <functional>

using namespace qs;

namespace {

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
class TestRealExport : public test::WindowTest<test::RealEngine>
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
    /// `boxes`: the names of the forms and of what else is to be ticked.
    void exportTo(const QString& folder, const QStringList& boxes)
    {
        answer("exportDialog", [&](QDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("exportFolder"))->setText(folder);
            for (auto* box : dialog.findChildren<QCheckBox*>())
                box->setChecked(boxes.contains(box->objectName().remove(QStringLiteral("form_"))));
        });
        m_window->actions()[ActionId::Export].trigger();
        m_opening.stop();
        QVERIFY(m_answered);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().pipeline().isBusy(), 60000);
    }
    bool isDone(Stage stage)
    {
        return !workspace().pipeline().isBusy()
            && workspace().pipeline().status(stage).state == StageStatus::State::Done;
    }
    /// What a program printed, both streams; "" if it failed, after a message.
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
        m_window->actions()[ActionId::KeepFloat].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
        answer("calibrateDialog", [this](QDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("calibrationData"))->setText(m_data);
            dialog.findChild<QWidget*>(QStringLiteral("deviceBox"))
                ->setProperty("currentText", QStringLiteral("cpu"));
            dialog.findChild<QSpinBox*>(QStringLiteral("batchesBox"))->setValue(4);
        });
        m_window->actions()[ActionId::Calibrate].trigger();
        m_opening.stop();
        QVERIFY(m_answered);
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Calibrate), 60000);
        m_window->actions()[ActionId::Convert].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Convert), 60000);
        m_window->actions()[ActionId::Compare].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(isDone(Stage::Compare), 60000);
        exportTo(m_out, {QStringLiteral("torchscript"), QStringLiteral("pt2-reference")});
        QTRY_VERIFY(isDone(Stage::Export));
        QCOMPARE(m_window->messageBar().topic(), QStringLiteral("export"));
        QVERIFY(m_window->messageBar().headline().contains(m_out));
        QVERIFY(m_window->statusBar()->currentMessage().contains(m_out));
    }

    void bothFormsAreOnOnePage()
    {
        const QJsonObject result = resultIn(m_out);
        const QJsonObject forms = result[QStringLiteral("forms")].toObject();
        m_window->actions()[ActionId::ShowForms].trigger();
        auto* headline = find<QLabel>("formsHeadline");
        auto* rows = find<QTreeWidget>("formsRows");
        QTRY_VERIFY(rows->topLevelItemCount() > 5);
        QVERIFY2(headline->text().contains(
                     QStringLiteral("agree to %1 dB")
                         .arg(forms[QStringLiteral("sqnr_db")].toDouble(), 0, 'f', 1)),
                 qPrintable(headline->text()));
        QStringList lines;
        for (const QJsonValue line : forms[QStringLiteral("summary")].toArray())
            lines << line.toString();
        QCOMPARE(headline->text(), lines.join(QLatin1Char('\n')));
        int found = 0;
        for (const QJsonValue entry : result[QStringLiteral("nodes")].toArray()) {
            const QJsonObject node = entry.toObject();
            const auto items
                = rows->findItems(node[QStringLiteral("title")].toString(), Qt::MatchExactly);
            const QJsonObject whole = node[QStringLiteral("departure")].toObject();
            if (whole.isEmpty())
                continue;
            QCOMPARE(items.size(), 1);
            const double share = 100.0 * whole[QStringLiteral("equal")].toDouble()
                / whole[QStringLiteral("count")].toDouble();
            QVERIFY(std::abs(items[0]->text(5).split(QLatin1Char(' '))[0].toDouble() - share)
                    < 0.0011);
            QVERIFY(std::abs(items[0]->text(7).toDouble() - whole[QStringLiteral("max")].toDouble())
                    < 1e-3);
            const auto shown = [&](const char* key) {
                return QString::number(whole[QLatin1String(key)].toDouble(), 'f', 1);
            };
            QCOMPARE(items[0]->text(8), shown("reference_db"));
            QCOMPARE(items[0]->text(9), shown("lowered_db"));
            ++found;
        }
        QVERIFY(found > 5);
        // From the keyboard: the chosen row's node is selected.
        rows->setCurrentItem(rows->topLevelItem(3));
        QTest::keyClick(rows, Qt::Key_Return);
        QCOMPARE(workspace().facts().title(workspace().selection().current()),
                 rows->topLevelItem(3)->text(0));
    }

    /// By keys alone; the rows are those of the command line's certificate.
    void exportsAreVerified()
    {
        QVERIFY(m_window->actions()[ActionId::Verify].isEnabled());
        m_window->actions()[ActionId::Verify].trigger();
        auto* dialog = find<QDialog>("verifyDialog");
        QTRY_VERIFY(dialog && dialog->isVisible());
        for (auto* box : dialog->findChildren<QCheckBox*>())
            if (box->objectName().startsWith(QLatin1String("runtime_")))
                box->setChecked(box->text() == QLatin1String("torch.jit")
                                || box->text() == QLatin1String("torch.export"));
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Return);
        auto* summary = dialog->findChild<QLabel*>(QStringLiteral("verifySummary"));
        QTRY_VERIFY2_WITH_TIMEOUT(summary->text().startsWith(QLatin1String("Passed")),
                                  qPrintable(summary->text()), 200000);
        const QString file = m_out + QStringLiteral("/certificate.json");
        QVERIFY(summary->text().contains(file));
        const auto shown = QJsonDocument::fromJson(contents(file)).object();
        QVERIFY(QFile::remove(file));
        const QByteArray text
            = run(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                  {QStringLiteral("verify"), m_out, QStringLiteral("--data"), m_data,
                   QStringLiteral("--runtime"), QStringLiteral("torch.jit,torch.export"),
                   QStringLiteral("--json")});
        QVERIFY(!text.isEmpty());
        // What it printed; among it stand notes of the program.
        const auto printed = QJsonDocument::fromJson(contents(file)).object();
        QCOMPARE(shown[QStringLiteral("verdicts")].toArray().size(),
                 printed[QStringLiteral("verdicts")].toArray().size());
        QCOMPARE(shown[QStringLiteral("files")], printed[QStringLiteral("files")]);
        auto* rows = dialog->findChild<QTreeWidget*>(QStringLiteral("verifyRows"));
        int row = 0;
        for (const QJsonValue entry : printed[QStringLiteral("verdicts")].toArray()) {
            const QJsonObject verdict = entry.toObject();
            if (verdict[QStringLiteral("runtime")].toString().isEmpty())
                continue;
            const auto* item = rows->topLevelItem(row++);
            QVERIFY(item);
            QCOMPARE(item->text(0), verdict[QStringLiteral("file")].toString());
            QCOMPARE(item->text(1), verdict[QStringLiteral("runtime")].toString());
            QCOMPARE(item->text(2), verdict[QStringLiteral("outcome")].toString());
            const QJsonObject output = verdict[QStringLiteral("outputs")].toArray()[0].toObject();
            const double there = output[QStringLiteral("float_db")].toDouble();
            QCOMPARE(item->text(4), QStringLiteral("%1 dB").arg(there, 0, 'f', 1));
            const QJsonArray lines = verdict[QStringLiteral("lines")].toArray();
            QVERIFY(item->childCount() >= lines.size());
            for (int line = 0; line < lines.size(); ++line)
                QCOMPARE(item->child(line)->text(0), lines[line].toString());
        }
        QCOMPARE(row, 2);
        QCOMPARE(rows->topLevelItemCount(), row);
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!find<QDialog>("verifyDialog"));
    }

    void aMissingRuntimeIsSaid()
    {
        m_window->actions()[ActionId::Verify].trigger();
        auto* dialog = find<QDialog>("verifyDialog");
        QTRY_VERIFY(dialog && dialog->isVisible());
        const QString python = m_folder.filePath(QStringLiteral("bare-python"));
        QFile script(python);
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write("#!/bin/sh\nexec " QS_PYTHON " -I -S \"$@\"\n");
        script.close();
        QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        dialog->findChild<QLineEdit*>(QStringLiteral("verifyPython"))->setText(python);
        dialog->findChild<QPushButton*>(QStringLiteral("verifyStart"))->click();
        auto* summary = dialog->findChild<QLabel*>(QStringLiteral("verifySummary"));
        QTRY_VERIFY2_WITH_TIMEOUT(summary->text().contains(QLatin1String("Not passed")),
                                  qPrintable(summary->text()), 60000);
        auto* rows = dialog->findChild<QTreeWidget*>(QStringLiteral("verifyRows"));
        QVERIFY(rows->topLevelItemCount() > 0);
        const QString why = rows->topLevelItem(0)->child(0)->text(0);
        QVERIFY2(why.contains(QLatin1String("numpy")), qPrintable(why));
        dialog->reject();
        QTRY_VERIFY(!find<QDialog>("verifyDialog"));
        // A decision on: what was exported is not of it any more.
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_VERIFY(!m_window->actions()[ActionId::Verify].isEnabled());
        m_window->actions()[ActionId::Redo].trigger();
        QTRY_VERIFY(m_window->actions()[ActionId::Verify].isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
    }

    void theCommandLineWritesTheSame()
    {
        const QString cli = m_folder.filePath(QStringLiteral("cli"));
        const QByteArray text
            = run(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                  {QStringLiteral("quantize"), m_model, QStringLiteral("--data"), m_data,
                   QStringLiteral("--recipe"), m_out + QStringLiteral("/recipe.json"),
                   QStringLiteral("--device"), QStringLiteral("cpu"), QStringLiteral("--export"),
                   QStringLiteral("torchscript,pt2-reference"), QStringLiteral("--out"), cli});
        QVERIFY(!text.isEmpty());
        QStringList ourFiles = QDir(m_out).entryList(QDir::Files, QDir::Name);
        QVERIFY(ourFiles.removeOne(QStringLiteral("certificate.json")));
        QCOMPARE(ourFiles, QDir(cli).entryList(QDir::Files, QDir::Name));
        QCOMPARE(contents(m_out + QStringLiteral("/recipe.json")),
                 contents(cli + QStringLiteral("/recipe.json")));
        QJsonObject ours = resultIn(m_out);
        const QJsonObject theirs = resultIn(cli);
        // No target was chosen in the window; the recipe that it wrote names the default.
        QVERIFY(ours.take(QStringLiteral("target_assumed")).isString());
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
    lowered = [torch.jit.load(f"{folder}/model.int8.ts.pt")(image) for folder in (window, cli)]
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
                 QStringList({"model.int8.pt2", "observations.npz", "recipe.json", "result.json"}));
    }

    void integersAreCutAsTheCommandLineCutsThem()
    {
        const QString cli = m_folder.filePath(QStringLiteral("cut"));
        exportTo(m_out, {QStringLiteral("pt2"), QStringLiteral("saturates")});
        QTRY_VERIFY(isDone(Stage::Export));
        const QByteArray text
            = run(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                  {QStringLiteral("quantize"), m_model, QStringLiteral("--data"), m_data,
                   QStringLiteral("--recipe"), m_out + QStringLiteral("/recipe.json"),
                   QStringLiteral("--device"), QStringLiteral("cpu"), QStringLiteral("--export"),
                   QStringLiteral("pt2"), QStringLiteral("--saturate"), QStringLiteral("observer"),
                   QStringLiteral("--out"), cli});
        QVERIFY(!text.isEmpty());
        const QJsonObject ours = resultIn(m_out)[QStringLiteral("own_ranges")].toObject();
        QVERIFY(!ours.isEmpty());
        QCOMPARE(ours, resultIn(cli)[QStringLiteral("own_ranges")].toObject());
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
