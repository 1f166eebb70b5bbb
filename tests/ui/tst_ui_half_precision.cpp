// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edits_window.h"

#include <QProcess>
#include <QPushButton>

using namespace qs;

/// A model of half precision: the message says what is wrong, and one button mends it.
class TestHalfPrecision : public test::EditsWindow
{
    Q_OBJECT

private:
    QString halfModel()
    {
        const QString path = m_folder.filePath("half.pt2");
        const QString program = QStringLiteral(
            "import sys, torch\n"
            "model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), "
            "torch.nn.Linear(16, 4)).eval().bfloat16()\n"
            "torch.export.save(torch.export.export(model, (torch.randn(4, 8).bfloat16(),)), "
            "sys.argv[1])\n");
        QProcess python;
        python.start(QStringLiteral(QS_PYTHON), {"-c", program, path});
        return python.waitForFinished(120000) && python.exitCode() == 0 ? path : QString();
    }
    int quantized() { return document().plan() ? document().plan()->quantizedOps : -1; }

private Q_SLOTS:
    void initTestCase() { startEngine(); }

    void oneButtonTakesItAsFloat32()
    {
        const QString path = halfModel();
        QVERIFY2(!path.isEmpty(), "PyTorch cannot write the model");
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(path);
        QTRY_VERIFY_WITH_TIMEOUT(document().plan(), 60000);
        QCOMPARE(quantized(), 0);
        auto* messages = m_window->findChild<MessageBar*>();
        QVERIFY(messages);
        QTRY_VERIFY2(messages->headline().contains("bfloat16"), qPrintable(messages->headline()));
        QPointer<QPushButton> take;
        for (auto* button : messages->findChildren<QPushButton*>())
            if (button->text() == QLatin1String("Convert to float32"))
                take = button;
        QVERIFY(take);
        take->click();
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(quantized() > 0, 30000);
        QCOMPARE(document().recipe().edits.size(), std::size_t(1));
        QVERIFY(document().recipe().edits.front().kind == EditKind::AsFloat32);
        QVERIFY(!messages->isVisible() || !messages->headline().contains("bfloat16"));
        workspace().undoStack().undo(); // a decision like any other
        settle();
        QTRY_COMPARE_WITH_TIMEOUT(quantized(), 0, 30000);
        QVERIFY(document().recipe().edits.empty());
    }
};

QTEST_MAIN(TestHalfPrecision)
#include "tst_ui_half_precision.moc"
