// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/backend/fusion_entries.h"
#include "tests/ui/backend_window.h"
#include "tests/ui/dialogs.h"

#include <QJsonArray>
#include <QPushButton>

using namespace qs;
using test::kFused;
using test::kFusion;

/// The fusion, or its partner entry, that a float verdict asks for.
class TestMissingFusions : public test::BackendWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { makeModel(); }
    void cleanup() { m_window.reset(); }
    void aMissingFusionIsOneClick();
    void aMissingPartnerIsOneClick();

private:
    QPushButton* suggestion(const char* name)
    {
        workspace().selectNode(node(name));
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        [this] { QTRY_VERIFY(find<QPushButton>("applyRemedy")); }();
        return find<QPushButton>("applyRemedy");
    }
    void clickTheSuggestion(const char* button);
};

/// A click on the Why card's button quantizes the three operators, as the command line plans with
/// the saved backend; undo takes it back.
void TestMissingFusions::clickTheSuggestion(const char* words)
{
    const Recipe before = document().recipe();
    QVERIFY(!areQuantized());
    for (const char* name : kFused)
        QCOMPARE(suggestion(name)->text(), QString::fromLatin1(words));
    QVERIFY(!find<QPushButton>("applyRemedy")->toolTip().isEmpty());
    QTest::mouseClick(suggestion("batch_norm"), Qt::LeftButton);
    settle();
    QVERIFY(areQuantized() && planOf("linear").quantized && !planOf("sigmoid").quantized);
    const std::string saved = document().recipe().backend;
    QVERIFY(saved != before.backend);
    QCOMPARE(QFileInfo(QString::fromStdString(saved)).path(), m_folder.path());
    QVERIFY(hasFusion(*readBackend(saved), kFusion));

    QFile recipe(file("recipe.json"));
    QVERIFY(recipe.open(QIODevice::WriteOnly));
    recipe.write(QByteArray::fromStdString(recipeToJson(document().recipe())));
    recipe.close();
    const QJsonObject told
        = test::commandLine({QStringLiteral("plan"), m_model, QStringLiteral("--recipe"),
                             recipe.fileName(), QStringLiteral("--json")});
    int compared = 0;
    for (const QJsonValue value : told["nodes"].toArray()) {
        const Node* shown = document().model()->tryFind(value["name"].toString().toStdString());
        if (!shown || !shown->isOperator())
            continue;
        const NodePlan* decided = document().plan()->tryGet(*document().model(), shown->id);
        QCOMPARE(decided->quantized, value["quantized"].toBool());
        QCOMPARE(QString::fromStdString(decided->reason.text()), value["reason"].toString());
        QCOMPARE(decided->pattern.size(), std::size_t(value["pattern"].toArray().size()));
        ++compared;
    }
    QCOMPARE(compared, 5);

    workspace().undoStack().undo();
    settle();
    QVERIFY(!areQuantized() && document().recipe() == before);
    // Done again by the key, it is the same file.
    workspace().selectNode(node("relu"));
    m_window->actions()[ActionId::ApplyRemedy].trigger();
    settle();
    QVERIFY(areQuantized());
    QCOMPARE(document().recipe().backend, saved);
}

void TestMissingFusions::aMissingFusionIsOneClick()
{
    openWith(tutorialRecipe(myBackend(), "my_backend.json"));
    QVERIFY(planOf("conv2d").reason.text().find(
                "has no pattern (torch.nn.Conv2d, torch.nn.BatchNorm2d, "
                "torch.nn.ReLU)")
            != std::string::npos);
    clickTheSuggestion("Add the fusion");
    // What the requirement wants to see after converting again.
    RunSettings settings = document().settings();
    settings.calibrationData = "sample";
    settings.device = "cpu";
    document().setSettings(settings);
    workspace().pipeline().runUpTo(Stage::Convert);
    QTRY_VERIFY_WITH_TIMEOUT(document().converted() && settled(), 120000);
    const auto lowered = document().converted()->lowered->nodes();
    QCOMPARE(std::count_if(lowered.begin(), lowered.end(),
                           [](const NodePtr& one) {
                               return one->target.starts_with("quantized.conv2d_relu");
                           }),
             std::ptrdiff_t(1));
}

void TestMissingFusions::aMissingPartnerIsOneClick()
{
    Backend lonely = *withFusion(myBackend(), kFusion);
    std::erase_if(lonely.patterns, [](const BackendPattern& entry) {
        return entry.pattern.front() == "torch.ao.nn.intrinsic.ConvReLU2d";
    });
    openWith(tutorialRecipe(lonely, "lonely.json"));
    QVERIFY(planOf("conv2d").reason.text().find("fuses to torch.ao.nn.intrinsic.ConvReLU2d")
            != std::string::npos);
    clickTheSuggestion("Add its entry");
}

QTEST_MAIN(TestMissingFusions)
#include "tst_ui_missing_fusions.moc"
