// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/shell/bars/stage_button.h"

#include <QSettings>

using namespace qs;

/// Training in the window on the real engine, beside the command line.
class TestTrainedHere : public test::EdgeWindow
{
    Q_OBJECT

    std::vector<std::string> weights()
    {
        std::vector<std::string> all;
        for (const NodePtr& node : graph().nodes())
            if (node->kind == NodeKind::Parameter)
                all.push_back(node->target + " " + node->tensorSha256);
        return all;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QSettings().clear();
        openAndCompare();
    }
    void cleanupTestCase() { m_window.reset(); }

    void qconfigsForTrainingShowTheStage()
    {
        auto* stage = find<StageButton>("stageTrain");
        QVERIFY(!stage->isVisible());
        workspace().assign({RuleKind::Global, {""}}, std::string("x86_qat"));
        settle();
        QTRY_VERIFY(stage->isVisible());
        QCOMPARE(stage->status().state, StageStatus::State::Waiting);
        startAgain();
        QTRY_VERIFY(!stage->isVisible());
    }

    void theResultIsTheCommandLines()
    {
        const auto before = weights();
        const Recipe untrained = document().recipe();
        const double db = *document().comparison()->outputDb();
        TrainingChoices choices;
        choices.steps = 200;
        choices.file = m_folder.filePath("digits.trained.pt2");
        workspace().trainer().start(choices);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().trainer().isRunning() && settled(), 120000);
        QVERIFY2(QFileInfo::exists(choices.file), qPrintable(workspace().trainer().resultText()));
        QVERIFY2(document().recipe().cures.size() == 1,
                 qPrintable(workspace().trainer().resultText()));
        QVERIFY(weights() != before);
        for (const CureRow& row : cureRows(document()))
            QCOMPARE(row.problem, QString());
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const double trained = *document().comparison()->outputDb();
        const QJsonObject told = m_commandLine.quantize(document().recipe(), document().settings());
        const QJsonObject output = told["outputs"].toArray()[0].toObject();
        QVERIFY(sameNumber(trained, output["lowered"].toObject()["sqnr_db"].toDouble()));
        QVERIFY2(trained > db, qPrintable(QStringLiteral("%1 to %2").arg(db).arg(trained)));
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == untrained);
        QVERIFY(weights() == before);
        QTRY_VERIFY(document().comparison() && !document().isStale(Stage::Compare));
        QCOMPARE(*document().comparison()->outputDb(), db);
    }
};

QTEST_MAIN(TestTrainedHere)
#include "tst_ui_training_result.moc"
