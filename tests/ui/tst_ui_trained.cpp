// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/scenario_window.h"

#include <QListWidget>

using namespace qs;

/// A file that was trained with simulated quantization elsewhere, in the window: which ranges are
/// those of training is shown wherever a range is.
class TestTrained : public test::ScenarioWindow
{
    Q_OBJECT

private:
    const QString m_unit = QStringLiteral("conv · conv2d + bn + relu");
    const QString m_trained = QStringLiteral("from training");

    /// The words of the alternative that is in force for the value, "now" beside it.
    QString wayNow()
    {
        auto* tree = find<QTreeWidget>("alternativesTree");
        if (!find<QWidget>("alternativesWait")->isHidden())
            return {};
        for (QTreeWidgetItemIterator it(tree); *it; ++it)
            if (!(*it)->isHidden() && (*it)->text(2) == QLatin1String("now"))
                return (*it)->text(0);
        return {};
    }
    QString footer() { return find<QLabel>("histogramFooter")->text(); }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void cleanup() { leave(); }

    void whichRangesAreOfTraining()
    {
        QS_STEP(made(QStringLiteral(
            "sys.path.insert(0, sys.argv[1] + '/tests/oracle')\n"
            "import test_trained as trained\n"
            "torch.backends.quantized.engine = 'x86'\n"
            "prepared = trained.trained('residual')\n"
            "trained.save(prepared, 'pt2', trained.images(8), folder / 'model.pt2')\n"
            "torch.save([(trained.images(8),) for _ in range(4)], folder / 'data.pt')\n")));
        QS_STEP(select(m_unit));
        for (const char* part : {"qconfigActivation", "qconfigWeight"})
            QVERIFY2(find<QLabel>(part)->text().contains(m_trained),
                     qPrintable(find<QLabel>(part)->text()));
        QS_STEP(runAll());
        const QJsonObject told = test::commandLine({"plan", file("model.pt2"), "--json"});
        const QJsonObject counts = told["fake_quantizers"].toObject();
        QVERIFY(counts["used"].toInt() > 5);
        QTRY_COMPARE(
            find<QLabel>("resultTrained")->text(),
            QStringLiteral("%1 of %2").arg(counts["used"].toInt()).arg(counts["found"].toInt()));
        QS_STEP(select(m_unit));
        QTRY_VERIFY2(footer().startsWith(QLatin1String("range from training")),
                     qPrintable(footer()));
        QTRY_COMPARE(wayNow(), m_trained);
        auto* edges = find<QListWidget>("edgeList");
        QVERIFY(edges->count() > 1);
        for (int i = 0; i < edges->count(); ++i)
            QVERIFY2(edges->item(i)->text().endsWith(m_trained),
                     qPrintable(edges->item(i)->text()));
        click(*edges, edges->model()->index(0, 0));
        QCOMPARE(cardValue(*m_window, "cardEdge", "Range"),
                 QStringLiteral("from the file's fake quantizer"));
    }

    /// Results follow the file as it was opened, or say that it is another one.
    void aFileWrittenAnewWhileItIsOpen()
    {
        const QString write = QStringLiteral(
            "model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()\n"
            "data = [(torch.randn(16, 8),) for _ in range(2)]\n"
            "for weight in model.parameters():\n"
            "    weight.requires_grad_(False).mul_(%1)\n"
            "models.saved(folder, model, torch.randn(16, 8), data=data)\n");
        QStringList shown;
        for (const bool isWrittenAnew : {false, true}) {
            QS_STEP(made(write.arg(1)));
            if (isWrittenAnew) {
                const QString problem
                    = python(write.arg(QStringLiteral("torch.randn_like(weight)")));
                QVERIFY2(problem.isEmpty(), qPrintable(problem));
            }
            QS_STEP(runAll());
            const auto errors = outputErrors();
            shown << (errors.empty() ? said() : QString::number(errors[0]));
            leave();
        }
        QVERIFY2(shown[1] == shown[0] || shown[1].contains(QLatin1String("model.pt2")),
                 qPrintable(shown.join(QLatin1String(" and "))));
    }

    void aFileWithoutSaysNothing()
    {
        QS_STEP(made(QStringLiteral("models.saved(folder, nn.Sequential(nn.Linear(4, 4)).eval(), "
                                    "torch.randn(2, 4))\n")));
        QS_STEP(runAll());
        QVERIFY(find<QLabel>("resultTrained")->text().isEmpty());
        QVERIFY(!cards(QStringLiteral("0 · linear")).contains(m_trained));
    }
};

QTEST_MAIN(TestTrained)
#include "tst_ui_trained.moc"
