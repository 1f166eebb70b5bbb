// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#include "tests/support/command_line.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/shown_numbers.h"
#include "tests/ui/shown_texts.h"
#include "tests/ui/window_test.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/shell/project_files.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <map>
#include <random>
#include <set>

namespace qs::test {

/// What gestures are made on.
struct Walked
{
    QString model, data, otherData;
    /// A few modules that decisions are aimed at: few enough that decisions come again.
    std::vector<std::string> modules;
};

/// QS_WALK=MODEL names a .pt2 with MODEL.calib.npz, or MODEL.npz, and perhaps MODEL.test.npz beside
/// it.
inline Walked walked()
{
    const QString given = qEnvironmentVariable("QS_WALK");
    if (given.isEmpty())
        return {kSamples + "digits.pt2",
                kSamples + "calib.npz",
                kSamples + "test.npz",
                {"block1.conv2", "block2", "head", "block1"}};
    const auto either = [](const QString& first, const QString& second) {
        return QFile::exists(first) ? first : second;
    };
    const QString data = either(given + ".calib.npz", given + ".npz");
    return {given + ".pt2", data, either(given + ".test.npz", data), {}};
}

/// Paths of modules that hold operators, at most eight, from all over the model.
inline std::vector<std::string> modulesOf(const Graph& model)
{
    std::set<std::string> paths;
    for (const NodePtr& node : model.nodes())
        if (node->isOperator())
            paths.insert(node->scope.path);
    std::vector<std::string> all(paths.begin(), paths.end()), out;
    for (std::size_t i = 0; i < all.size(); i += std::max<std::size_t>(1, all.size() / 8))
        out.push_back(all[i]);
    return out;
}

/// A test with a model open in the window on the real engine, and the numbers that it should show.
class GesturesWindow : public WindowTest<RealEngine>
{
protected:
    QTemporaryDir m_folder;
    std::mt19937 m_random;
    Walked m_walked = walked();
    CommandLine m_commandLine {m_walked.model, m_folder.path()};
    QString m_project;
    int m_edits = 0;
    int m_compared = 0, m_labelled = 0, m_exports = 0;

    Document& document() { return workspace().document(); }
    Pipeline& pipeline() { return workspace().pipeline(); }
    int dice(int sides) { return int(m_random() % unsigned(sides)); }

    void settle() { QTRY_VERIFY_WITH_TIMEOUT(!pipeline().isBusy(), 120000); }

    bool isCurrent(Stage stage)
    {
        return document().hasResult(stage) && !document().isStale(stage);
    }

    QJsonObject told()
    {
        return m_commandLine.quantize(document().recipe(), document().settings());
    }

    /// The observer that the window shows of a node: on its value, else on its readers' first edge.
    ObserverId shownObserver(NodeId node)
    {
        workspace().selection().selectNodes({node});
        const auto edge = inspectedEdge(workspace());
        return edge ? observerOnEdge(workspace(), *edge) : workspace().facts().outputObserver(node);
    }

    void checkObserver(const QJsonValue& wanted, ObserverId observer)
    {
        checkScales(wanted, workspace().facts().qparams(observer),
                    workspace().facts().stats(observer));
    }

    void checkNode(const QJsonObject& wanted)
    {
        const Facts& facts = workspace().facts();
        const Node* node = document().model()->tryFind(wanted["name"].toString().toStdString());
        QVERIFY(node);
        if (!node->isOperator())
            return;
        const NodePlan* plan = facts.plan(node->id);
        QVERIFY(plan);
        QCOMPARE(plan->quantized, wanted["quantized"].toBool());
        if (isCurrent(Stage::Calibrate)) {
            if (facts.last(node->id) == node->id)
                checkObserver(wanted["output"], shownObserver(node->id));
            const MatchGroup* group = facts.group(node->id);
            if (wanted["weight"].isObject() && group && group->root == node->id)
                checkObserver(wanted["weight"], facts.weightObserver(node->id));
        }
        // The members of a fusion show what stands on the last.
        if (!isCurrent(Stage::Compare) || facts.last(node->id) != node->id)
            return;
        const NodeError* error = facts.error(node->id);
        QCOMPARE(error != nullptr, wanted["error"].isObject());
        if (!error)
            return;
        const QJsonObject terms = wanted["error"].toObject();
        checkTerm(terms["isolated"], error->isolated);
        checkTerm(terms["inherited"], error->inherited);
        checkTerm(terms["born_here"], error->bornHere);
        checkTerm(terms["cumulative"], error->cumulative);
    }

    void checkStale()
    {
        QCOMPARE(workspace().facts().calibrationStale(), document().isStale(Stage::Calibrate));
        QCOMPARE(workspace().facts().errorsStale(), document().isStale(Stage::Compare));
        for (const Stage stage : {Stage::Calibrate, Stage::Convert, Stage::Compare}) {
            const StageStatus status = pipeline().status(stage);
            const bool done = status.state == StageStatus::State::Done;
            QCOMPARE(done, isCurrent(stage));
            if (document().isStale(stage))
                QVERIFY(!document().staleReason(stage).isEmpty());
        }
        QCOMPARE(m_window->windowTitle().contains(QLatin1Char('*')), document().isModified());
    }

    void check()
    {
        settle();
        if (!isCurrent(Stage::Plan)) { // refused, by the command line as well
            QVERIFY(
                !m_commandLine
                     .refusal(document().recipe(), document().settings(), QStringLiteral("none"))
                     .isEmpty());
            workspace().undoStack().undo();
            return;
        }
        checkStale();
        if (!isCurrent(Stage::Calibrate))
            return;
        const QJsonObject wanted = told();
        for (const QJsonValue node : wanted["nodes"].toArray()) {
            checkNode(node.toObject());
            if (QTest::currentTestFailed()) {
                qWarning("at %s", qPrintable(node.toObject()["name"].toString()));
                return;
            }
        }
        if (!isCurrent(Stage::Compare))
            return;
        ++m_compared;
        checkTop1(wanted, *document().comparison(), *m_window);
        m_labelled += wanted["labels"].isObject();
        checkTexts(wanted);
        const QJsonArray outputs = wanted["outputs"].toArray();
        const auto& shown = document().comparison()->outputs;
        QCOMPARE(qsizetype(shown.size()), outputs.size());
        for (qsizetype i = 0; i < outputs.size(); ++i) {
            checkTerm(outputs[i].toObject()["cumulative"], shown[std::size_t(i)].cumulative);
            checkTerm(outputs[i].toObject()["lowered"], shown[std::size_t(i)].lowered);
        }
    }

    /// What is written in the strip, and in the cards of a node that is selected for it.
    void checkTexts(const QJsonObject& wanted)
    {
        const Facts& facts = workspace().facts();
        if (facts.preview() || facts.shownRun())
            return;
        std::map<NodeId, QJsonObject> told;
        for (const QJsonValue node : wanted["nodes"].toArray())
            if (const Node* shown
                = document().model()->tryFind(node.toObject()["name"].toString().toStdString());
                shown && shown->isOperator())
                told.emplace(shown->id, node.toObject());
        std::vector<QJsonObject> lasts;
        for (const auto& [id, node] : told)
            if (facts.last(id) == id)
                lasts.push_back(node);
        checkStrip(wanted, lasts, *m_window);
        checkCounts(wanted, *m_window);
        if (told.empty() || QTest::currentTestFailed())
            return;
        auto& selection = workspace().selection();
        workspace().selectNode(std::next(told.begin(), dice(int(told.size())))->first);
        std::set<NodeId> last;
        for (const NodeId id : selection.nodes())
            last.insert(facts.last(id));
        if (!selection.isModule() && last.size() == 1 && told.count(*last.begin()) > 0)
            checkCards(told.at(selection.current()), told.at(*last.begin()), *m_window);
    }

    /// Whether stages end well; what they refuse, the command line refuses in the same words, and
    /// the decision is taken back.
    bool runs(const QString& form, const std::function<void()>& start)
    {
        QSignalSpy failures(&pipeline(), &Pipeline::failed);
        start();
        settle();
        if (failures.isEmpty())
            return true;
        const QString said = toQString(failures.front().value(1).value<Error>().message);
        const QString refused
            = m_commandLine.refusal(document().recipe(), document().settings(), form);
        if (!refused.contains(said))
            QTest::qFail(qPrintable(said + " | " + refused), __FILE__, __LINE__);
        workspace().undoStack().undo();
        return false;
    }

    void exportAll()
    {
        const QString folder = m_folder.filePath("export");
        if (!runs(QStringLiteral("torchscript"), [&] {
                pipeline().exportTo({folder, {"torchscript"}});
            }))
            return;
        QFile file(folder + "/result.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonArray nodes
            = QJsonDocument::fromJson(file.readAll()).object()["nodes"].toArray();
        const QJsonArray wanted = told()["nodes"].toArray();
        QCOMPARE(nodes.size(), wanted.size());
        for (qsizetype i = 0; i < nodes.size(); ++i)
            for (const char* key : {"name", "quantized", "output", "weight", "inputs"})
                QCOMPARE(nodes[i].toObject()[key], wanted[i].toObject()[key]);
        ++m_exports;
    }

    void changeRecipe(const QString& what, const std::function<void(Recipe&)>& change)
    {
        Recipe recipe = document().recipe();
        change(recipe);
        workspace().change(what, recipe);
    }

    void openModel(const QString& path)
    {
        m_window->openModel(path);
        settle();
        if (path == m_project)
            return;
        if (m_walked.modules.empty())
            m_walked.modules = modulesOf(*document().model());
        RunSettings settings = document().settings();
        settings.calibrationData = m_walked.data.toStdString();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        changeRecipe("few batches", [](Recipe& recipe) { recipe.calibration.batches = 2; });
    }
};

} // namespace qs::test
