// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/exporter.h"
#include "ui/shell/dialogs/run_dialogs.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

using namespace qs;

/// The dialogs before a run, as a person fills them in.
class TestRunDialogs : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    QString m_startedIn; ///< where the last file dialog opened
    QString m_refused; ///< what the last file dialog could not do

    /// Chooses `path` in the file dialog that opens next.
    void answer(const QString& path, QFileDialog::FileMode mode)
    {
        m_startedIn.clear();
        m_refused = QStringLiteral("no dialog came");
        QTimer::singleShot(0, this, [this, path, mode] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog)
                return;
            m_startedIn = dialog->directory().absolutePath();
            m_refused = dialog->fileMode() == mode ? QString() : QStringLiteral("wrong mode");
            dialog->selectFile(path);
            QMetaObject::invokeMethod(dialog, "accept");
            dialog->close();
        });
    }
    QAction* entry(QDialog& dialog, const char* button, const char* text)
    {
        auto* browse = dialog.findChild<QPushButton*>(QString::fromLatin1(button));
        if (browse && browse->menu())
            for (auto* action : browse->menu()->actions())
                if (action->text().remove(QLatin1Char('&')).startsWith(QLatin1String(text)))
                    return action;
        return nullptr;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("images")));
        QFile file(m_folder.filePath(QStringLiteral("calib.npz")));
        QVERIFY(file.open(QIODevice::WriteOnly));
    }

    void dataMayBeAFileOrAFolder()
    {
        CalibrateDialog dialog({"sample", "", "auto"}, {},
                               m_folder.filePath(QStringLiteral("net.pt2")), nullptr);
        dialog.show();
        // The keyboard starts at the data, and goes on in the order of the rows.
        QCOMPARE(dialog.focusWidget(), dialog.findChild<QWidget*>("calibrationData"));
        QStringList order;
        for (int i = 0; i < 8; ++i) {
            QTest::keyClick(dialog.focusWidget(), Qt::Key_Tab);
            auto* button = qobject_cast<QPushButton*>(dialog.focusWidget());
            order << (button && button->objectName().isEmpty()
                          ? button->text()
                          : dialog.focusWidget()->objectName());
        }
        QCOMPARE(order,
                 QStringList({"calibrationDataBrowse", "comparisonData", "comparisonDataBrowse",
                              "deviceBox", "batchSizeBox", "batchesBox", "Calibrate", "Cancel"}));
        for (const char* name : {"calibrationData", "comparisonData"}) {
            auto* field = dialog.findChild<QLineEdit*>(QString::fromLatin1(name));
            const QByteArray button = QByteArray(name) + "Browse";
            auto* folder = entry(dialog, button, "Folder");
            QVERIFY(folder);
            const QString images = m_folder.filePath(QStringLiteral("images"));
            answer(images, QFileDialog::Directory);
            folder->trigger();
            QVERIFY2(m_refused.isEmpty(), qPrintable(m_refused));
            QCOMPARE(field->text(), images);
            QCOMPARE(m_startedIn, m_folder.path());

            auto* file = entry(dialog, button, "File");
            QVERIFY(file);
            const QString npz = m_folder.filePath(QStringLiteral("calib.npz"));
            answer(npz, QFileDialog::ExistingFile);
            file->trigger();
            QVERIFY2(m_refused.isEmpty(), qPrintable(m_refused));
            QCOMPARE(field->text(), npz);
        }
        const std::string npz = m_folder.filePath(QStringLiteral("calib.npz")).toStdString();
        QCOMPARE(dialog.settings().calibrationData, npz);
        QCOMPARE(dialog.settings().comparisonData, npz);
    }

    /// Data beside the model that a comparison could run on are taken by pressing a button alone.
    void dataBesideTheModelAreOffered()
    {
        const QString test = m_folder.filePath(QStringLiteral("test.npz"));
        const QString model = m_folder.filePath(QStringLiteral("net.pt2"));
        {
            CalibrateDialog dialog({"calib.npz", "", "auto"}, {}, model, nullptr);
            QVERIFY(!dialog.findChild<QPushButton*>("comparisonDataSibling"));
        }
        QFile file(test);
        QVERIFY(file.open(QIODevice::WriteOnly));
        CalibrateDialog dialog({"calib.npz", "", "auto"}, {}, model, nullptr);
        auto* offer = dialog.findChild<QPushButton*>("comparisonDataSibling");
        QVERIFY(offer && offer->text().contains("test.npz"));
        QCOMPARE(dialog.settings().comparisonData, std::string());
        offer->click();
        QCOMPARE(dialog.settings().comparisonData, test.toStdString());
        QVERIFY(!offer->isEnabled());
        QVERIFY(file.remove());
    }

    /// A runtime is chosen where there is a file for it.
    void onnxHasATarget()
    {
        ExportDialog dialog({"torchscript", "onnx"}, m_folder.path(), nullptr);
        auto* target = dialog.findChild<QComboBox*>(QStringLiteral("onnxTarget"));
        auto* form = dialog.findChild<QCheckBox*>(QStringLiteral("form_onnx"));
        QCOMPARE(target->count(), int(onnxTargetNames().size()));
        QVERIFY(form->isChecked());
        QVERIFY(target->isEnabled());
        form->setChecked(false);
        QVERIFY(!target->isEnabled());
        QVERIFY(dialog.choices().onnxTarget == OnnxTarget::Generic);
        form->setChecked(true);
        QVERIFY(target->isEnabled());
        target->setCurrentIndex(target->findData(QStringLiteral("ort-cpu")));
        QVERIFY(dialog.choices().onnxTarget == OnnxTarget::OrtCpu);
        form->setChecked(false);
        QVERIFY(!target->isEnabled());
    }

    /// Only these files can be cut at the observers' ranges.
    void saturationIsAskedForWhereAFileHoldsIt()
    {
        ExportDialog dialog({"torchscript", "pt2", "onnx"}, m_folder.path(), nullptr);
        auto* cut = dialog.findChild<QCheckBox*>(QStringLiteral("saturates"));
        for (const char* name : {"form_pt2", "form_onnx"})
            dialog.findChild<QCheckBox*>(QString::fromLatin1(name))->setChecked(false);
        for (const char* name : {"form_pt2", "form_onnx"}) {
            auto* form = dialog.findChild<QCheckBox*>(QString::fromLatin1(name));
            cut->setChecked(false);
            QVERIFY(!cut->isEnabled());
            form->setChecked(true);
            QVERIFY(cut->isEnabled());
            QVERIFY(!dialog.choices().saturates);
            cut->setChecked(true);
            QVERIFY(dialog.choices().saturates);
            form->setChecked(false);
            QVERIFY(!dialog.choices().saturates);
        }
    }

    /// What lasts is ticked; a form that a model cannot have stops the export only where it was
    /// chosen.
    void formsThatLastAreTheDefault()
    {
        ExportDialog dialog(exportForms(), m_folder.path(), nullptr);
        auto ticked = dialog.choices().forms;
        auto usual = defaultExportForms();
        std::sort(ticked.begin(), ticked.end());
        std::sort(usual.begin(), usual.end());
        QCOMPARE(ticked, usual);
        QCOMPARE(usual, (std::vector<std::string> {"onnx", "pt2", "torchscript"}));
        QVERIFY(!dialog.choices().formsChosen);
        auto* form = dialog.findChild<QCheckBox*>(QStringLiteral("form_pt2-reference"));
        form->setChecked(true);
        QVERIFY(dialog.choices().formsChosen);
    }

    /// Going ahead without a folder or a form would do nothing and not say so.
    void exportWantsAFolderAndAForm()
    {
        ExportDialog dialog({"torchscript", "pt2-reference"}, m_folder.path(), nullptr);
        dialog.show();
        auto* go = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        auto* form = dialog.findChild<QCheckBox*>(QStringLiteral("form_torchscript"));
        auto* folder = dialog.findChild<QLineEdit*>(QStringLiteral("exportFolder"));
        QVERIFY(go->isEnabled());
        form->setChecked(false);
        QVERIFY(!go->isEnabled());
        form->setChecked(true);
        QVERIFY(go->isEnabled());
        folder->clear();
        QVERIFY(!go->isEnabled());
        folder->setText(QStringLiteral("/out"));
        QVERIFY(go->isEnabled());
        for (const auto* label : dialog.findChildren<QLabel*>())
            QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                     qPrintable(label->text()));
    }
};

QTEST_MAIN(TestRunDialogs)
#include "tst_ui_run_dialogs.moc"
