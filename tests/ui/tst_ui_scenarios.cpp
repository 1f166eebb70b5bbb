// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/block/prepare_lists.h"
#include "engine/plan/rules/edge_rules.h"
#include "tests/ui/scenario_window.h"
#include "ui/plots/histogram_plot.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/source/source_view.h"

#include <QMenu>
#include <QTextBlock>

using namespace qs;

using Flags = std::vector<bool>;

/// The acceptance scenarios of the requirements in the window, on the real engine. Those with packs
/// are in tst_ui_pack_scenarios, the 16th in tst_ui_form_edits, those of the command line in
/// tests/cli/test_scenarios.py.
class TestScenarios : public test::ScenarioWindow
{
    Q_OBJECT

private:
    void tutorial(bool usesBatchNorm, const QString& more = {})
    {
        const QString made = python(
            QStringLiteral("write('my_backend.json', **models.my_backend())\n"
                           "keys = dict(qconfigs={'act7': models.ACT7}, mapping=models.TYPES)\n%1\n"
                           "recipe(**{**keys, 'backend': 'my_backend.json'})\n"
                           "models.saved(folder, models.Tutorial(%2).eval(), "
                           "torch.randn(1, 3, 10, 10))\n")
                .arg(more, usesBatchNorm ? QStringLiteral("True") : QStringLiteral("False")));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QFile::remove(file("recipe.json")); }
    void cleanup() { leave(); }

    void scenario1TwoStatesOfAnLstm()
    {
        const QString made = python(QStringLiteral(
            "x, h = torch.randn(3, 3, 8), torch.randn(2, 3, 8)\n"
            "models.saved(folder, models.TwoStates().eval(), x, h, torch.randn(2, 3, 8))\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        QS_STEP(runAll());
        QCOMPARE(document().comparison()->outputs.size(), std::size_t(2));
        const QString lowered = code("lowered", QStringLiteral("QuantizedLSTM("));
        QCOMPARE(lowered.count(QStringLiteral("QuantizedLinear(")), 2);
        for (const char* name : {"linear", "linear_1"}) {
            const QString shown = cards(name);
            QVERIFY2(shown.contains(QStringLiteral("[2, 3, 3]")), qPrintable(shown));
        }
        QVERIFY(said().isEmpty());
    }

    void scenario2CountsOfAStaticLstm()
    {
        const QString made = python(
            QStringLiteral("models.saved(folder, models.Leaves().eval(), torch.randn(5, 3, 50), "
                           "torch.randn(1, 3, 50), torch.randn(1, 3, 50))\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        QS_STEP(runAll());
        const QString quantize = QStringLiteral("torch.quantize_per_tensor(");
        const QString dequantize = QStringLiteral(".dequantize()");
        const QString observer = QStringLiteral("= self.activation_post_process_");
        QCOMPARE(code("prepared", observer).count(observer), 6);
        const QString reference = code("reference", quantize);
        QCOMPARE(reference.count(quantize), 6);
        QCOMPARE(reference.count(dequantize), 6);
        const QString lowered = code("lowered", QStringLiteral("QuantizedLSTM("));
        QCOMPARE(lowered.count(quantize), 3);
        QCOMPARE(lowered.count(dequantize), 3);
        QCOMPARE(document().comparison()->outputs.size(), std::size_t(3));
    }

    void scenario4TheTutorialsModel()
    {
        QS_STEP(tutorial(false));
        QS_STEP(runAll());
        const QString observer = QStringLiteral("= self.activation_post_process_");
        QCOMPARE(code("prepared", observer).count(observer), 3);
        const QString lowered = code("lowered", QStringLiteral("QuantizedConvReLU2d("));
        QVERIFY2(lowered.contains(QStringLiteral("QuantizedLinear(")), qPrintable(lowered));
        QCOMPARE(lowered.count(QStringLiteral("torch.quantize_per_tensor(")), 1);
        QCOMPARE(lowered.count(QStringLiteral(".dequantize()")), 1);
        QVERIFY(!planOf("sigmoid").quantized);
    }

    void scenario5AMissingFusionIsAdded()
    {
        QS_STEP(tutorial(true));
        for (const char* name : {"conv2d", "batch_norm", "relu"})
            QVERIFY2(!planOf(name).quantized, name);
        QVERIFY2(cards("conv2d").contains(QStringLiteral("has no pattern")),
                 qPrintable(cards("conv2d")));
        press(ActionId::ApplyRemedy);
        QS_STEP(settle());
        QS_STEP(runAll());
        QVERIFY(code("lowered", QStringLiteral("QuantizedConvReLU2d("))
                    .contains(QStringLiteral("QuantizedConvReLU2d(")));
    }

    void scenario6TheDefaultMappingOnAStricterBackend()
    {
        QS_STEP(tutorial(false, QStringLiteral("keys['mapping'] = {'global': 'x86'}")));
        for (const char* name : {"linear", "conv2d"}) {
            const QString told = cards(name);
            QVERIFY2(told.contains(QStringLiteral("0.000244140625"))
                         && told.contains(QStringLiteral("1.19")),
                     qPrintable(told));
        }
        QVERIFY2(!said().isEmpty(), "nothing is quantized, and nothing says so");
        QVERIFY2(said().contains(QStringLiteral("quantized")), qPrintable(said()));
    }

    void scenario7AWeightRangeWherePyTorchIsSilent()
    {
        QS_STEP(tutorial(false,
                         QStringLiteral("write('my_backend.json', **models.my_backend("
                                        "quant_min_lower_bound=-64, quant_max_upper_bound=63))\n"
                                        "keys['qconfigs']['act7']['weight'].update(quant_min=-128, "
                                        "quant_max=127)")));
        QVERIFY(!planOf("linear").quantized);
        const QString told = cards("linear");
        QVERIFY2(told.contains(QStringLiteral("-128")) && told.contains(QStringLiteral("-64")),
                 qPrintable(told));
        QVERIFY2(told.contains(QStringLiteral("stricter than PyTorch")), qPrintable(told));
    }

    void scenario8AConflictInsideAFusion_data()
    {
        QTest::addColumn<QString>("choice");
        QTest::addColumn<bool>("convStays");
        QTest::newRow("unfuse") << QStringLiteral("nfuse") << true;
        QTest::newRow("apply to both") << QStringLiteral("Apply to both") << false;
    }
    void scenario8AConflictInsideAFusion()
    {
        QFETCH(QString, choice);
        QFETCH(bool, convStays);
        const QString made = python(
            QStringLiteral("models.saved(folder, nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), "
                           "nn.Conv2d(4, 4, 1)).eval(), torch.randn(1, 3, 8, 8))\n"
                           "recipe(mapping={'global': 'x86', 'module_name': [['2', 'x86']]})\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        workspace().assign({RuleKind::ModuleName, {"1"}}, std::string());
        QS_STEP(settle());
        QTRY_VERIFY2(said().contains(QStringLiteral("fused")), qPrintable(said()));
        QVERIFY2(choose(choice), qPrintable(said()));
        QS_STEP(settle());
        QCOMPARE(quantizedIn("0"), Flags {convStays});
        QCOMPARE(quantizedIn("1"), Flags {false});
        workspace().undoStack().undo();
        QS_STEP(settle());
        QCOMPARE(quantizedIn("0"), Flags {true});
    }

    void scenario10ABranchThatDataDecide()
    {
        const QString made = python(QStringLiteral(
            "torch.jit.script(models.Branching().eval()).save(str(folder / 'model.pt'))\n"
            "torch.save([(torch.randn(2, 8),) for _ in range(4)], folder / 'data.pt')\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open("model.pt"));
        QS_STEP(settle());
        workspace().selectEntry(workspace().foldTree()->moduleEntry("part"));
        press(ActionId::LeafModule);
        QS_STEP(settle());
        QCOMPARE(prepareList(document().recipe(), "non_traceable_module_name"),
                 std::vector<std::string> {"part"});
        QCOMPARE(quantizedIn("before"), Flags {true});
        QCOMPARE(quantizedIn("after"), Flags {true});
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        QVERIFY(document().comparison()->outputs.front().cumulative->sqnrDb.value_or(0) > 20);
    }

    void scenario11OneObserverForAllThatIsJoined()
    {
        const QString made = python(QStringLiteral(
            "models.saved(folder, models.Joined().eval(), torch.randn(2, 3, 8, 8))\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        const auto edgesFrom = [&](const char* name) {
            return edgesOf(*document().model(), *document().plan(), {node(name), 0});
        };
        const auto observed = [&] {
            std::vector<ObserverId> ids;
            for (const char* name : {"conv2d", "conv2d_1", "cat", "avg_pool2d"})
                ids.push_back(workspace().facts().outputObserver(node(name)));
            return ids;
        };
        const std::vector<ObserverId> before = observed();
        QVERIFY(before.front()
                && workspace().facts().observer(before.front())->spec.kind != ObserverKind::MinMax);
        workspace().selectEdge(edgesFrom("conv2d").front());
        QTRY_VERIFY(find<QComboBox>("edgeObserverBox")
                    && find<QComboBox>("edgeObserverBox")->isVisible());
        auto* box = find<QComboBox>("edgeObserverBox");
        box->setCurrentText(QStringLiteral("minmax"));
        QCOMPARE(box->currentText(), QStringLiteral("minmax"));
        Q_EMIT box->activated(box->currentIndex());
        QS_STEP(settle());
        QS_STEP(runAll());
        const std::vector<ObserverId> now = observed();
        QCOMPARE(now, std::vector<ObserverId>(4, now.front()));
        QCOMPARE(workspace().facts().observer(now.front())->spec.kind, ObserverKind::MinMax);
        auto* plot = find<HistogramPlot>("histogramPlot");
        m_window->showTab("histogramPlot");
        for (const char* name : {"conv2d", "conv2d_1"}) {
            workspace().selectEdge(edgesFrom(name).front());
            QTRY_VERIFY(
                plot->caption().startsWith(edgeText(workspace().facts(), edgesFrom(name).front())));
            QTRY_VERIFY(plot->barCount() > 0);
            QCOMPARE(observerOnEdge(workspace(), edgesFrom(name).front()), now.front());
        }
        workspace().undoStack().undo();
        QS_STEP(settle());
        QCOMPARE(observed(), before);
    }

    void scenario12AMethodIsWrapped()
    {
        QFile::copy(QStringLiteral(QS_SOURCE_DIR "/tests/cli/scenario_models.py"),
                    file("scenario_models.py"));
        const QString made = python(QStringLiteral(
            "torch.export.save(torch.export.export(models.Detector().eval(), "
            "(torch.randn(1, 3, 8, 8),), strict=True), folder / 'model.pt2')\n"
            "torch.save([(torch.randn(1, 3, 8, 8),) for _ in range(4)], folder / 'data.pt')\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        m_window->showTab("codePanel");
        find<QComboBox>("codeOtherForm")->setCurrentText(QStringLiteral("beside Python"));
        workspace().selectNode(node("softmax"));
        auto* text = find<QPlainTextEdit>("sourceText");
        QTRY_VERIFY_WITH_TIMEOUT(text->toPlainText().contains(QStringLiteral("_post_process")),
                                 20000);
        const auto wrap = [&](const QString& line) {
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete); // the menu before
            const QTextCursor at = text->document()->find(line);
            text->setTextCursor(at);
            text->ensureCursorVisible();
            const QPoint point = text->cursorRect(at).center();
            QContextMenuEvent asked(QContextMenuEvent::Mouse, point,
                                    text->viewport()->mapToGlobal(point));
            QApplication::sendEvent(text->viewport(), &asked);
            auto* action = find<QAction>("wrapFunction");
            const bool isOffered = action && action->isEnabled();
            if (isOffered)
                action->trigger();
            if (auto* menu = QApplication::activePopupWidget())
                menu->close();
            return isOffered;
        };
        QVERIFY(!wrap(QStringLiteral("class Branching"))); // of no function
        QVERIFY(wrap(QStringLiteral("scores.softmax")));
        QS_STEP(settle());
        QCOMPARE(prepareList(document().recipe(), "wrap"),
                 std::vector<std::string> {"::_post_process"});
        QVERIFY(workspace().foldTree()->moduleEntry("_post_process()") >= 0);
        for (const char* name : {"softmax", "permute", "permute_1"}) // called functions too
            QVERIFY2(!planOf(name).quantized
                         && workspace()
                                .foldTree()
                                ->entry(workspace().foldTree()->unitOf(node(name)))
                                .path.starts_with("_post_process()"),
                     name);
        QCOMPARE(quantizedIn("refine"), Flags {true}); // configurable all the same
        QCOMPARE(workspace().undoStack().undoText(),
                 QStringLiteral("show ::_post_process as one node"));
        workspace().undoStack().undo();
        QS_STEP(settle());
        QVERIFY(prepareList(document().recipe(), "wrap").empty());
        QVERIFY(workspace().foldTree()->moduleEntry("_post_process()") < 0);
    }

    void scenario13MixedSetters()
    {
        const QString made = python(QStringLiteral(
            "models.saved(folder, nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).eval()"
            ", torch.randn(2, 4))\n"
            "recipe(mapping={'global': 'x86', 'module_name': [['2', 'x86_qat']]})\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QTRY_VERIFY2_WITH_TIMEOUT(said().contains(QStringLiteral("'2 · linear' has 'x86_qat'")),
                                  qPrintable(said()), 60000);
        QVERIFY(!document().plan());
    }

    void scenario14NeverRunObservers()
    {
        const QString made = python(QStringLiteral("models.saved(folder, models.Idle().eval(), "
                                                   "torch.randn(8, 4), torch.randn(8, 0, 4))\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        QS_STEP(runAll());
        for (const char* word : {"never saw a value", "rest", "second · linear"})
            QVERIFY2(said().contains(QString::fromUtf8(word)), qPrintable(said()));
        QVERIFY(!document().converted());
    }

    void scenario15AnLstmWithoutStates()
    {
        const QString made = python(QStringLiteral(
            "models.saved(folder, models.TwoStates().eval(), torch.randn(3, 3, 8))\n"));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        QS_STEP(open());
        QS_STEP(settle());
        QVERIFY2(planOf("lstm").quantized, planOf("lstm").reason.text().c_str());
        QVERIFY2(cards("lstm").contains(QStringLiteral("zeros")), qPrintable(cards("lstm")));
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        QCOMPARE(document().comparison()->outputs.size(), std::size_t(2));
    }

    void scenario17ExportsThatEqual()
    {
        QS_STEP(tutorial(false));
        QS_STEP(runAll());
        ExportChoices choices;
        choices.folder = file("out");
        choices.forms = {"torchscript", "pt2-reference"};
        workspace().pipeline().exportTo(choices);
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file("out/model.int8.ts.pt"))
                                     && QFile::exists(file("out/model.reference.pt2"))
                                     && !workspace().pipeline().isBusy(),
                                 120000);
        const QString compared = python(
            QStringLiteral("import torch.ao.quantization.fx._decomposed\n"
                           "a = torch.jit.load(folder / 'out/model.int8.ts.pt')\n"
                           "b = torch.export.load(folder / 'out/model.reference.pt2').module()\n"
                           "calls = torch.load(folder / 'data.pt')\n"
                           "a, b = (torch.cat([one(*call) for call in calls]) for one in (a, b))\n"
                           "assert harness.sqnr(a, b) > 35, harness.sqnr(a, b)\n"));
        QVERIFY2(compared.isEmpty(), qPrintable(compared));
    }
};

QTEST_MAIN(TestScenarios)
#include "tst_ui_scenarios.moc"
