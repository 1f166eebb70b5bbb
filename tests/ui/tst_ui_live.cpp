// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/style/theme.h"

#include <QAction>

using namespace qs;

namespace {

bool near(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

} // namespace

/// Each decision is answered at once: a preview of the very figures that the command line gives for
/// these samples, and all data after it where the user wants that.
class TestLive : public test::EdgeWindow
{
    Q_OBJECT

private:
    /// The preview's samples are all data here: one batch is calibrated on and compared.
    QJsonObject all() { return m_commandLine.quantize(document().recipe(), document().settings()); }

    void checkPreview(const Preview& preview, const QJsonObject& wanted)
    {
        int compared = 0;
        for (const QJsonValue value : wanted["nodes"].toArray()) {
            const QJsonObject node = value.toObject();
            const Node* own = graph().tryFind(node["name"].toString().toStdString());
            const NodeError* error = own ? preview.tryGet(own->id) : nullptr;
            QCOMPARE(error != nullptr, node["error"].isObject());
            if (!error)
                continue;
            const QJsonObject term = node["error"].toObject()["cumulative"].toObject();
            QVERIFY(near(*error->cumulative->sqnrDb, term["sqnr_db"].toDouble()));
            QVERIFY(near(error->cumulative->mse, term["mse"].toDouble()));
            QVERIFY(near(error->cumulative->maxAbs, term["max_abs"].toDouble()));
            ++compared;
        }
        QVERIFY(compared > 5);
        const auto outputs = wanted["outputs"].toArray();
        QCOMPARE(qsizetype(preview.outputs.size()), outputs.size());
        // The exported form adds up in another order: a step here and there.
        QVERIFY(std::abs(*preview.outputDb()
                         - outputs[0].toObject()["cumulative"].toObject()["sqnr_db"].toDouble())
                < 0.1);
    }

    void keepFloat(const char* module)
    {
        workspace().assign({RuleKind::ModuleName, {module}}, std::string());
    }

    static EditStep removed(const char* module)
    {
        EditStep step;
        step.kind = EditKind::Remove;
        step.at.kind = ValueAddress::Kind::Operator;
        step.at.module = module;
        step.at.op = "aten.relu.default";
        return step;
    }
    bool isEdited() { return document().edited()->graph != document().edited()->file; }

    QString shownDb(double value) { return QStringLiteral("%1 dB").arg(value, 0, 'f', 1); }

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        Recipe recipe = document().recipe();
        recipe.calibration.batches = 1;
        workspace().change("one batch", recipe);
        settle();
        m_start = document().recipe();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
    }
    void init()
    {
        m_window->actions()[ActionId::CompareAfterEach].setChecked(false);
        startAgain();
    }
    void cleanupTestCase() { m_window.reset(); }

    void aDecisionIsAnsweredAtOnce()
    {
        QVERIFY(!document().isStale(Stage::Compare));
        QVERIFY(label("resultPreview").isEmpty());
        const PreviewPtr before = workspace().live().before();
        QVERIFY(before);
        for (const char* module : {"block2.conv2", "stem", "head"}) {
            startAgain();
            keepFloat(module);
            settle();
            QVERIFY(document().isStale(Stage::Compare));
            const PreviewPtr preview = document().preview();
            QVERIFY(preview);
            checkPreview(*preview, all());
            // The window's words and the graph's measures are the preview's.
            const double change = *preview->outputDb() - *before->outputDb();
            QTRY_COMPARE(label("resultPreview"),
                         QStringLiteral("%1 (%2%3, 8 samples)")
                             .arg(shownDb(*preview->outputDb()),
                                  change <= -0.05 ? QString() : QStringLiteral("+"),
                                  shownDb(std::abs(change) < 0.05 ? 0 : change)));
            const Facts& facts = workspace().facts();
            QVERIFY(facts.errorsStale());
            QVERIFY(!facts.errorsStale(ErrorTerm::Cumulative));
            QVERIFY(facts.errorsStale(ErrorTerm::BornHere));
            for (const NodeError& error : preview->nodes)
                QCOMPARE(facts.sqnr(error.node, ErrorTerm::Cumulative), error.cumulative->sqnrDb);
        }
    }

    void undoShowsTheComparisonAgain()
    {
        keepFloat("block1");
        settle();
        QVERIFY(document().preview() && workspace().facts().preview());
        workspace().undoStack().undo();
        settle();
        QVERIFY(!document().isStale(Stage::Compare));
        QVERIFY(!workspace().facts().preview());
        QTRY_VERIFY(label("resultPreview").isEmpty());
        for (const NodeError& error : document().comparison()->nodes)
            QCOMPARE(workspace().facts().sqnr(error.node, ErrorTerm::Cumulative),
                     error.cumulative->sqnrDb);
    }

    /// A range that is only tried: what it does to the output, before it is applied.
    void aTriedRangeTellsItsEffect()
    {
        workspace().selectNode(forked().value.node);
        QTRY_VERIFY(histogram().barCount() > 0);
        auto* plot = find<QWidget>("histogram");
        plot->setFocus();
        QTest::keyClick(plot, Qt::Key_End);
        for (int i = 0; i < 25; ++i)
            QTest::keyClick(plot, Qt::Key_Left);
        QVERIFY(histogram().trial().isMoved());
        QTRY_VERIFY_WITH_TIMEOUT(label("rangeEffect").startsWith(QLatin1String("output ")), 20000);
        settle();
        const PreviewPtr trial = workspace().live().trial();
        QVERIFY(trial);
        QVERIFY(document().recipe() == m_start);
        const PreviewPtr now = document().preview();
        QCOMPARE(label("rangeEffect"),
                 QStringLiteral("output %1 (now %2) · preview of 8 samples")
                     .arg(shownDb(*trial->outputDb()))
                     .arg(*now->outputDb(), 0, 'f', 1));
        // Applied, it gives the predicted figure and that of the command line.
        QTest::keyClick(plot, Qt::Key_Return);
        settle();
        QVERIFY(!(document().recipe() == m_start));
        QVERIFY(document().preview());
        QCOMPARE(*document().preview()->outputDb(), *trial->outputDb());
        checkPreview(*document().preview(), all());
    }

    void puttingBackForgetsTheEffect()
    {
        workspace().selectNode(forked().value.node);
        QTRY_VERIFY(histogram().barCount() > 0);
        auto* plot = find<QWidget>("histogram");
        plot->setFocus();
        QTest::keyClick(plot, Qt::Key_End);
        QTest::keyClick(plot, Qt::Key_Left);
        QTRY_VERIFY_WITH_TIMEOUT(!label("rangeEffect").isEmpty(), 20000);
        QTest::keyClick(plot, Qt::Key_Escape);
        settle();
        QVERIFY(label("rangeEffect").isEmpty());
        QVERIFY(!workspace().live().trial());
    }

    /// All data are compared after it by themselves, and the newest decision wins.
    void allDataFollow()
    {
        auto& keep = m_window->actions()[ActionId::CompareAfterEach];
        keep.setChecked(true);
        keepFloat("block2.conv2");
        keepFloat("head");
        keepFloat("block1.conv1");
        QTRY_VERIFY_WITH_TIMEOUT(
            document().plan() && !document().isStale(Stage::Plan) && document().comparison()
                && !document().isStale(Stage::Compare) && !workspace().pipeline().isBusy(),
            60000);
        QVERIFY(!workspace().live().isFollowing());
        const QJsonObject wanted = all();
        for (const QJsonValue value : wanted["nodes"].toArray()) {
            const QJsonObject node = value.toObject();
            const Node* own = graph().tryFind(node["name"].toString().toStdString());
            if (const NodeError* error = own ? workspace().facts().error(own->id) : nullptr;
                error && workspace().facts().last(own->id) == own->id)
                checkTerm(node["error"].toObject()["cumulative"], error->cumulative);
        }
        // A decision while it runs stops it and is answered in its place.
        keepFloat("stem");
        QTRY_VERIFY_WITH_TIMEOUT(workspace().live().isFollowing(), 20000);
        keepFloat("block1");
        QTRY_VERIFY_WITH_TIMEOUT(!document().isStale(Stage::Plan)
                                     && !document().isStale(Stage::Compare)
                                     && !workspace().pipeline().isBusy(),
                                 60000);
        keep.setChecked(false);
        QVERIFY(!workspace().live().isFollowing());
    }

    void aCancelStands_data()
    {
        QTest::addColumn<bool>("betweenStages");
        QTest::addColumn<int>("batchSize"); // nothing of it was ever compared
        QTest::newRow("as soon as it starts") << false << 7; // a moment later it may be done
        QTest::newRow("between two stages") << true << 6;
    }
    /// What the user cancels does not start again until something else is decided.
    void aCancelStands()
    {
        QFETCH(bool, betweenStages);
        QFETCH(int, batchSize);
        auto& keep = m_window->actions()[ActionId::CompareAfterEach];
        keep.setChecked(true);
        int cancelled = 0;
        const auto cancel = [&] {
            if (workspace().live().isFollowing() && ++cancelled == 1)
                m_window->actions()[ActionId::Cancel].trigger();
        };
        const auto cancelling = betweenStages
            ? connect(&workspace().pipeline(), &Pipeline::succeeded, this, cancel)
            : connect(&workspace().live(), &LivePreview::followingChanged, this, cancel);
        Recipe other = document().recipe();
        other.calibration.batchSize = batchSize;
        workspace().change("other batches", other);
        QTRY_COMPARE_WITH_TIMEOUT(cancelled, 1, 20000);
        settle();
        QTest::qWait(200);
        QVERIFY(!workspace().pipeline().isBusy());
        QVERIFY(document().isStale(Stage::Compare));
        QCOMPARE(cancelled, 1);
        disconnect(cancelling);
        keepFloat("head");
        QTRY_VERIFY_WITH_TIMEOUT(!document().isStale(Stage::Compare) && settled(), 60000);
        keep.setChecked(false);
    }

    /// An edit of the graph has a separate preview, though nothing was compared yet; an undo shows
    /// the earlier one.
    void editsHavePreviews()
    {
        keepFloat("head");
        settle();
        const PreviewPtr before = document().preview();
        QVERIFY(before);
        Recipe edited = document().recipe();
        edited.edits.push_back(removed("block1.relu"));
        workspace().change("remove", edited);
        QTRY_VERIFY_WITH_TIMEOUT(document().preview() && isEdited() && settled(), 60000);
        QVERIFY(!document().comparison());
        QVERIFY(document().preview()->samplesKey == before->samplesKey);
        QTRY_VERIFY2(label("resultPreview").contains(QLatin1String(" dB (")),
                     qPrintable(label("resultPreview")));
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(document().preview() && !isEdited(), 20000);
        QCOMPARE(*document().preview()->outputDb(), *before->outputDb());
    }

    /// An edit that changes no value promises nothing, though its ranges come from the preview's
    /// samples and those of the comparison before from all data.
    void anEditWithoutEffectPromisesNothing_data()
    {
        QTest::addColumn<QString>("what");
        for (const char* what : {"insert", "insert late", "rename"})
            QTest::newRow(what) << QString::fromLatin1(what);
    }
    void anEditWithoutEffectPromisesNothing()
    {
        QFETCH(QString, what);
        Recipe more = document().recipe();
        more.calibration.batches = 12;
        workspace().change("more data", more);
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QTRY_VERIFY(document().preview() && document().preview() == workspace().live().before());
        const PreviewPtr compared = document().preview();
        Recipe edited = document().recipe();
        EditStep step = removed(what == QLatin1String("insert late") ? "block2.relu" : "stem.relu");
        step.kind = what == QLatin1String("rename") ? EditKind::Rename : EditKind::Insert;
        step.name = "again";
        if (step.kind == EditKind::Insert)
            step.op = "aten.relu.default";
        edited.edits.push_back(step);
        workspace().change("without effect", edited);
        QTRY_VERIFY_WITH_TIMEOUT(document().preview() && isEdited() && settled(), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().live().gain(), 20000);
        const PreviewPtr now = document().preview();
        QCOMPARE(now->estimated.empty(), step.kind == EditKind::Rename);
        QVERIFY2(std::abs(*workspace().live().gain()) < 1e-6,
                 qPrintable(QString::number(*workspace().live().gain())));
        QTRY_VERIFY2(label("resultPreview").contains(QLatin1String("(+0.0 dB, 8 samples)")),
                     qPrintable(label("resultPreview")));
        if (what == QLatin1String("insert")) // what a comparison of unlike previews would promise
            QVERIFY(std::abs(*now->outputDb() - *compared->outputDb()) > 0.05);
    }

    /// A run that an edit overtakes, early or late, breaks nothing and shows nothing.
    void editsOvertakeRuns()
    {
        for (const int wait : {0, 20, 60, 150}) {
            startAgain();
            keepFloat("head");
            settle();
            workspace().pipeline().runUpTo(Stage::Compare);
            QTest::qWait(wait);
            Recipe edited = document().recipe();
            edited.edits.push_back(removed("block2.relu"));
            workspace().change("remove", edited);
            workspace().pipeline().cancel();
            QTRY_VERIFY_WITH_TIMEOUT(isEdited() && settled(), 60000);
            QVERIFY(!document().comparison() || !document().isStale(Stage::Compare));
        }
    }

    /// What cannot be run is said once, and nothing runs in circles.
    void whatFailsIsNotTriedAgain()
    {
        auto& keep = m_window->actions()[ActionId::CompareAfterEach];
        keep.setChecked(true);
        workspace().assign({RuleKind::Global, {""}}, std::string());
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().live().problem().isEmpty(), 20000);
        settle();
        QVERIFY(!document().preview());
        QVERIFY2(workspace().live().problem().contains(QLatin1String("quantize")),
                 qPrintable(workspace().live().problem()));
        QTest::qWait(300);
        QVERIFY(!workspace().pipeline().isBusy());
        keep.setChecked(false);
    }

    /// With QS_TOUR=FOLDER the picture is kept to be looked at.
    void picture()
    {
        const QString kept = qEnvironmentVariable("QS_TOUR");
        if (kept.isEmpty())
            QSKIP("QS_TOUR names no folder");
        pane().setColourBy(ColourBy::Cumulative);
        keepFloat("block2.conv2");
        settle();
        workspace().selectNode(forked().value.node);
        pane().revealSelection();
        QTRY_VERIFY(histogram().barCount() > 0);
        auto* plot = find<QWidget>("histogram");
        plot->setFocus();
        QTest::keyClick(plot, Qt::Key_End);
        for (int i = 0; i < 30; ++i)
            QTest::keyClick(plot, Qt::Key_Left);
        QTRY_VERIFY_WITH_TIMEOUT(!label("rangeEffect").isEmpty(), 20000);
        QTest::qWait(300);
        QVERIFY(m_window->grab().save(kept + QStringLiteral("/live.png")));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, qEnvironmentVariableIsSet("QS_DARK"));
    TestLive test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_live.moc"
