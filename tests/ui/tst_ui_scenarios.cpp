// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/command_line.h"
#include "tests/ui/scenario_window.h"
#include "ui/source/source_view.h"

#include <QListWidget>
#include <QRegularExpression>
#include <QTextBlock>

using namespace qs;

/// The acceptance scenarios of the requirements in the window, on the real engine: what is asserted
/// is what the window shows. Those of LSTMs are in tst_ui_lstm_scenarios, those with packs in
/// tst_ui_pack_scenarios, the 16th in tst_ui_form_edits, those of the command line in
/// tests/cli/test_scenarios.py.
class TestScenarios : public test::ScenarioWindow
{
    Q_OBJECT

private:
    void tutorial(bool usesBatchNorm, const QString& more = {})
    {
        made(
            QStringLiteral("write('my_backend.json', **models.my_backend())\n"
                           "keys = dict(qconfigs={'act7': models.ACT7}, mapping=models.TYPES)\n%1\n"
                           "recipe(**{**keys, 'backend': 'my_backend.json'})\n"
                           "models.saved(folder, models.Tutorial(%2).eval(), "
                           "torch.randn(1, 3, 10, 10))\n")
                .arg(more, usesBatchNorm ? QStringLiteral("True") : QStringLiteral("False")));
    }
    /// Clicks the edge from the unit to its first reader in the card of edges.
    void inspectEdge(const QString& title)
    {
        QS_STEP(select(title));
        auto* list = find<QListWidget>("edgeList");
        for (int i = 0; i < list->count(); ++i)
            if (list->item(i)->text().startsWith(QStringLiteral("▸ cat"))) {
                click(*list, list->model()->index(i, 0));
                return;
            }
        QFAIL("the card lists no edge to cat");
    }
    QString edgeRow(const char* label) { return cardValue(*m_window, "cardEdge", label); }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QFile::remove(file("recipe.json")); }
    void cleanup() { leave(); }

    void scenario4TheTutorialsModel()
    {
        QS_STEP(tutorial(false));
        QS_STEP(runAll());
        QCOMPARE(code("prepared", kObserver).count(kObserver), 3);
        const QString lowered = code("lowered", QStringLiteral("QuantizedConvReLU2d("));
        for (const char* printed :
             {"(linear): QuantizedLinear(in_features=10, out_features=3, scale=",
              "qscheme=torch.per_tensor_affine", "zero_point=0)",
              "(conv): QuantizedConvReLU2d(3, 3, kernel_size=(3, 3), stride=(1, 1), scale=",
              "(sigmoid): Sigmoid()", "torch.quint8"})
            QVERIFY2(lowered.contains(QLatin1String(printed)), qPrintable(printed + lowered));
        QCOMPARE(lowered.count(kQuantize), 1);
        QCOMPARE(lowered.count(kDequantize), 1);
        static const QRegularExpression kPoint(QStringLiteral("zero_point=(-?\\d+)"));
        for (auto it = kPoint.globalMatch(lowered); it.hasNext();) {
            const int point = it.next().captured(1).toInt();
            QVERIFY2(point >= 0 && point <= 127, qPrintable(lowered));
        }
        QCOMPARE(verdict(QStringLiteral("linear · linear")), kQuantized);
        QCOMPARE(verdict(QStringLiteral("conv + relu")), kQuantized);
        QCOMPARE(verdict(QStringLiteral("sigmoid · sigmoid")), QStringLiteral("float by backend"));
    }

    void scenario5AMissingFusionIsAdded()
    {
        QS_STEP(tutorial(true));
        for (const char* title : {"bn · batch_norm", "relu · relu", "conv · conv2d"})
            QVERIFY2(verdict(QString::fromUtf8(title)).startsWith(QLatin1String("float by")),
                     title);
        const QString told = cards(QStringLiteral("conv · conv2d"));
        QVERIFY2(told.contains(QStringLiteral("has no pattern")), qPrintable(told));
        auto* apply = find<QPushButton>("applyRemedy");
        QCOMPARE(apply->text(), QStringLiteral("Add the fusion"));
        QTest::mouseClick(apply, Qt::LeftButton);
        QS_STEP(settle());
        QS_STEP(runAll());
        QCOMPARE(verdict(QStringLiteral("conv + bn + relu")), kQuantized);
        QVERIFY(code("lowered", QStringLiteral("QuantizedConvReLU2d("))
                    .contains(QStringLiteral("QuantizedConvReLU2d(")));
    }

    void scenario6TheDefaultMappingOnAStricterBackend()
    {
        QS_STEP(tutorial(false, QStringLiteral("keys['mapping'] = {'global': 'x86'}")));
        QVERIFY2(said().startsWith(QLatin1String("Nothing will be quantized: 0 of 4 operators")),
                 qPrintable(said()));
        for (const char* title : {"linear · linear", "conv + relu"}) {
            const QString told = cards(QString::fromUtf8(title));
            for (const char* word : {"float by constraint", "0.000244140625", "eps 1.19"})
                QVERIFY2(told.contains(QLatin1String(word)), qPrintable(told));
        }
        QS_STEP(exportInto("float", {QStringLiteral("torchscript")}));
        QVERIFY2(said().contains(QStringLiteral("No node would be quantized, of 4 operators")),
                 qPrintable(said()));
        QVERIFY(!QFile::exists(file("float")));
    }

    void scenario7AWeightRangeWherePyTorchIsSilent()
    {
        QS_STEP(tutorial(false,
                         QStringLiteral("write('my_backend.json', **models.my_backend("
                                        "quant_min_lower_bound=-64, quant_max_upper_bound=63))\n"
                                        "keys['qconfigs']['act7']['weight'].update(quant_min=-128, "
                                        "quant_max=127)")));
        const QString told = cards(QStringLiteral("linear · linear"));
        for (const char* word :
             {"float by constraint", "-128..127", "-64..63", "stricter than PyTorch"})
            QVERIFY2(told.contains(QLatin1String(word)), qPrintable(told));
    }

    void scenario8AConflictInsideAFusion_data()
    {
        QTest::addColumn<QString>("choice");
        QTest::addColumn<QString>("conv");
        QTest::newRow("unfuse") << QStringLiteral("nfuse") << kQuantized;
        QTest::newRow("apply to both")
            << QStringLiteral("Apply to both") << QStringLiteral("float by rule");
    }
    void scenario8AConflictInsideAFusion()
    {
        QFETCH(QString, choice);
        QFETCH(QString, conv);
        const QString fused = QStringLiteral("0 · conv2d + relu");
        QS_STEP(made(
            QStringLiteral("models.saved(folder, nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), "
                           "nn.Conv2d(4, 4, 1)).eval(), torch.randn(1, 3, 8, 8))\n"
                           "recipe(mapping={'global': 'x86', 'module_name': [['2', 'x86']]})\n")));
        workspace().assign({RuleKind::ModuleName, {"1"}}, std::string());
        QS_STEP(settle());
        QTRY_VERIFY2(said().contains(QStringLiteral("1 · relu is fused into 0 · conv2d")),
                     qPrintable(said()));
        auto* listed = findingRow(QStringLiteral("is fused into"));
        QVERIFY2(listed && listed->text(1).contains("'1 · relu' is fused into '0 · conv2d'"),
                 qPrintable(listed ? listed->text(1) : QString()));
        QVERIFY2(choose(choice), qPrintable(said()));
        QS_STEP(settle());
        QCOMPARE(verdict(row(fused).isValid() ? fused : QStringLiteral("0 · conv2d")), conv);
        QCOMPARE(verdict(row(fused).isValid() ? fused : QStringLiteral("1 · relu")),
                 QStringLiteral("float by rule"));
        press(ActionId::Undo);
        QS_STEP(settle());
        QCOMPARE(verdict(fused), kQuantized);
    }

    void scenario10ABranchThatDataDecide()
    {
        QS_STEP(
            made(QStringLiteral(
                     "torch.jit.script(models.Branching().eval()).save(str(folder / 'model.pt'))\n"
                     "torch.save([(torch.randn(2, 8),) for _ in range(4)], folder / 'data.pt')\n"),
                 "model.pt"));
        // Its place: module, file and line.
        const QString branch = cards(QStringLiteral("If"));
        for (const char* word : {"part · If", "a data-dependent branch", "opaque"})
            QVERIFY2(branch.contains(QString::fromUtf8(word)), qPrintable(branch));
        static const QRegularExpression kPlace(
            QStringLiteral("^scenario_models\\.py:\\d+  if x\\.sum\\(\\) > 0:$"));
        const QString place = value(QStringLiteral("If"), "cardArguments", "source");
        QVERIFY2(kPlace.match(place).hasMatch(), qPrintable(place));
        QS_STEP(select(QStringLiteral("part (Deciding)")));
        press(ActionId::LeafModule);
        QS_STEP(settle());
        QVERIFY(m_window->actions()[ActionId::LeafModule].isChecked());
        QCOMPARE(verdict(QStringLiteral("before · linear")), kQuantized);
        QCOMPARE(verdict(QStringLiteral("after · linear")), kQuantized);
        QCOMPARE(verdict(QStringLiteral("sum")), QStringLiteral("float by rule"));
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        const auto errors = outputErrors();
        QVERIFY(errors.size() == 1 && errors[0] > 20);
        // The interior is that of the float form.
        static const QRegularExpression kInside(QStringLiteral("\\n    def If_.*\\n.*\\n.*"));
        QStringList inside;
        for (const char* form : {"float", "lowered"}) {
            const QString text = code(form, QStringLiteral("def If_otherwise"));
            QString bodies;
            for (auto it = kInside.globalMatch(text); it.hasNext();)
                bodies += it.next().captured();
            inside << bodies;
        }
        QVERIFY2(inside[0].contains(QStringLiteral("self.part.other("))
                     && inside[0].contains(QStringLiteral("self.part.inner(")),
                 qPrintable(inside[0]));
        QCOMPARE(inside[1], inside[0]);
    }

    void scenario11OneObserverForAllThatIsJoined()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, models.Joined().eval(), torch.randn(2, 3, 8, 8))\n")));
        const QStringList makers {QStringLiteral("a · conv2d"), QStringLiteral("b · conv2d")};
        QS_STEP(inspectEdge(makers[0]));
        QVERIFY2(edgeRow("Read as").endsWith(QLatin1String("histogram")),
                 qPrintable(edgeRow("Read as")));
        auto* box = find<QComboBox>("edgeObserverBox");
        QVERIFY(box && box->isVisible());
        box->setCurrentText(QStringLiteral("minmax"));
        QCOMPARE(box->currentText(), QStringLiteral("minmax"));
        Q_EMIT box->activated(box->currentIndex());
        QS_STEP(settle());
        QS_STEP(runAll());
        QStringList scales, drawn;
        for (const QString& maker : makers) {
            QS_STEP(inspectEdge(maker));
            QVERIFY2(edgeRow("Read as").endsWith(QLatin1String("minmax")),
                     qPrintable(edgeRow("Read as")));
            const QString partners = find<QLabel>("edgePartners")->text();
            const QString other = makers[maker == makers[0] ? 1 : 0];
            QVERIFY2(partners.contains(other) && partners.contains(QLatin1String("cat"))
                         && partners.contains(QLatin1String("they change together")),
                     qPrintable(partners));
            scales << edgeRow("Scale");
            QTRY_VERIFY2(histogram().caption().startsWith(maker) && histogram().barCount() > 0,
                         qPrintable(histogram().caption()));
            drawn << histogram().caption().section(QStringLiteral(" · "), -2); // values, batches
        }
        QVERIFY2(!scales[0].isEmpty() && scales[0] == scales[1], qPrintable(scales.join('|')));
        QCOMPARE(drawn[0], drawn[1]); // one histogram
        for (const char* title : {"cat", "pool · avg_pool2d"})
            QVERIFY2(cards(QString::fromUtf8(title)).contains(QStringLiteral("0…127 · minmax")),
                     title);
        press(ActionId::Undo);
        QS_STEP(settle());
        QS_STEP(inspectEdge(makers[1]));
        QVERIFY(edgeRow("Read as").endsWith(QLatin1String("histogram")));
    }

    void scenario12AMethodIsWrapped()
    {
        QFile::copy(QStringLiteral(QS_SOURCE_DIR "/tests/cli/scenario_models.py"),
                    file("scenario_models.py"));
        QS_STEP(made(QStringLiteral(
            "torch.export.save(torch.export.export(models.Detector().eval(), "
            "(torch.randn(1, 3, 8, 8),), strict=True), folder / 'model.pt2')\n"
            "torch.save([(torch.randn(1, 3, 8, 8),) for _ in range(4)], folder / 'data.pt')\n")));
        m_window->showTab("codePanel");
        find<QComboBox>("codeOtherForm")->setCurrentText(QStringLiteral("beside Python"));
        QS_STEP(select(QStringLiteral("softmax")));
        auto* text = find<QPlainTextEdit>("sourceText");
        QTRY_VERIFY_WITH_TIMEOUT(text->toPlainText().contains(QStringLiteral("_post_process")),
                                 20000);
        QVERIFY(text->toPlainText().contains(QStringLiteral("if self.training:"))); // both branches
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
        const QString method = QStringLiteral("_post_process()");
        QVERIFY(!wrap(QStringLiteral("class Branching"))); // of no function
        QVERIFY(wrap(QStringLiteral("scores.softmax")));
        QS_STEP(settle());
        const QString told = cards(method);
        QVERIFY2(told.contains(QStringLiteral("one node: its own operators stay float")),
                 qPrintable(told));
        for (const char* title : {"softmax", "permute", "permute_1"}) { // called functions too
            const QModelIndex inside = row(QString::fromLatin1(title));
            QVERIFY2(inside.parent().data().toString() == method, title);
            QCOMPARE(verdict(QString::fromLatin1(title)), QStringLiteral("float by rule"));
        }
        QCOMPARE(verdict(QStringLiteral("refine · linear")),
                 kQuantized); // configurable all the same
        QCOMPARE(workspace().undoStack().undoText(),
                 QStringLiteral("show ::_post_process as one node"));
        press(ActionId::Undo);
        QS_STEP(settle());
        QVERIFY(!row(method).isValid());
    }

    void scenario13MixedSettersOrNoTarget()
    {
        const QString network = QStringLiteral(
            "models.saved(folder, nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).eval()"
            ", torch.randn(2, 4))\n");
        const QString failed = python(network
                                      + QStringLiteral("recipe(mapping={'global': 'x86', "
                                                       "'module_name': [['2', 'x86_qat']]})\n"));
        QVERIFY2(failed.isEmpty(), qPrintable(failed));
        QS_STEP(open());
        QTRY_VERIFY2_WITH_TIMEOUT(said().contains(QStringLiteral("'2 · linear' has 'x86_qat'")),
                                  qPrintable(said()), 60000);
        QTRY_VERIFY(cards(QStringLiteral("2 · linear")).contains(QStringLiteral("Not planned")));
        leave();
        // No target, where the user wants one named; settings of the test's own.
        const QByteArray shared = qgetenv("XDG_CONFIG_HOME");
        qputenv("XDG_CONFIG_HOME", m_folder.path().toLocal8Bit());
        const auto back = qScopeGuard([&] { qputenv("XDG_CONFIG_HOME", shared); });
        QFile::remove(file("recipe.json"));
        QS_STEP(open());
        QS_STEP(settle());
        fromBackendMenu(QStringLiteral("requireTarget"));
        QTRY_VERIFY2(
            said().contains(QStringLiteral("the recipe names no target"), Qt::CaseInsensitive),
            qPrintable(said()));
        QVERIFY2(said().startsWith(QLatin1String("Plan failed")), qPrintable(said()));
        fromBackendMenu(QStringLiteral("qnnpack"));
        QS_STEP(settle());
        QTRY_VERIFY2(!said().contains(QStringLiteral("target")), qPrintable(said()));
        QCOMPARE(verdict(QStringLiteral("2 · linear")), kQuantized);
    }

    void scenario14NeverRunObservers()
    {
        QS_STEP(made(QStringLiteral("models.saved(folder, models.Idle().eval(), "
                                    "torch.randn(8, 4), torch.randn(8, 0, 4))\n")));
        QS_STEP(runAll());
        const auto isListed = [this] {
            for (const char* word : {"never saw a value", "rest", "second · linear"})
                QVERIFY2(said().contains(QString::fromUtf8(word)), qPrintable(said()));
        };
        QS_STEP(isListed());
        m_window->messageBar().dismiss();
        QS_STEP(exportInto("none", {QStringLiteral("torchscript")}));
        QS_STEP(isListed());
        QVERIFY(!QFile::exists(file("none")));
    }

    void scenario17ExportsThatEqual()
    {
        QS_STEP(tutorial(false));
        QS_STEP(runAll());
        QS_STEP(
            exportInto("out", {QStringLiteral("torchscript"), QStringLiteral("pt2-reference")}));
        QTRY_VERIFY2_WITH_TIMEOUT(said().contains(QStringLiteral("files written to")),
                                  qPrintable(said()), 120000);
        // The strip and the cards show what the command line finds for the same decisions.
        CommandLine commands(file("model.pt2"), m_folder.path());
        const QJsonObject wanted = commands.quantize(document().recipe(), document().settings());
        std::map<QString, QJsonObject> nodes;
        for (const QJsonValue node : wanted["nodes"].toArray())
            nodes.emplace(node["name"].toString(), node.toObject());
        QS_STEP(checkStrip(wanted, {nodes["linear"], nodes["relu"], nodes["sigmoid"]}, *m_window));
        const std::tuple<const char*, const char*, const char*> units[]
            = {{"linear · linear", "linear", "linear"},
               {"conv + relu", "conv2d", "relu"},
               {"sigmoid · sigmoid", "sigmoid", "sigmoid"}};
        for (const auto& [title, leader, last] : units) {
            QS_STEP(select(QString::fromUtf8(title)));
            QS_STEP(checkCards(nodes[leader], nodes[last], *m_window));
        }
        // What is reloaded has the parameters that the code shows, and computes the same.
        const QString lowered = code("lowered", QStringLiteral("QuantizedConvReLU2d("));
        static const QRegularExpression kStep(QStringLiteral("scale=([^,]+), zero_point=(\\d+)"));
        auto steps = kStep.globalMatch(lowered);
        const auto linear = steps.next(), conv = steps.next();
        const QString compared = python(
            QStringLiteral("import torch.ao.quantization.fx._decomposed\n"
                           "a = torch.jit.load(folder / 'out/model.int8.ts.pt')\n"
                           "shown = [(%1, %2), (%3, %4)]\n"
                           "held = [(part.scale, part.zero_point) for part in (a.linear, a.conv)]\n"
                           "assert held == shown, (held, shown)\n"
                           "b = torch.export.load(folder / 'out/model.reference.pt2').module()\n"
                           "calls = torch.load(folder / 'data.pt')\n"
                           "a, b = (torch.cat([one(*call) for call in calls]) for one in (a, b))\n"
                           "assert harness.sqnr(a, b) > 35, harness.sqnr(a, b)\n")
                .arg(linear.captured(1), linear.captured(2), conv.captured(1), conv.captured(2)));
        QVERIFY2(compared.isEmpty(), qPrintable(compared));
    }
};

QTEST_MAIN(TestScenarios)
#include "tst_ui_scenarios.moc"
