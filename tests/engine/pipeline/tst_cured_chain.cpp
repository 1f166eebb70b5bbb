// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/model_cures.h"
#include "engine/import/importer.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/plan/cures/expand_cures.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

const char* const kDigits = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kDigitsData = QS_SOURCE_DIR "/resources/samples/calib.npz";

Cure floatCure(const std::string& module, const std::string& op)
{
    Cure out;
    out.at.kind = ValueAddress::Kind::Operator;
    out.at.module = module;
    out.at.op = op;
    return out;
}

Cure headFloat()
{
    return floatCure("head", "aten.linear.default");
}

Recipe withCures(std::vector<Cure> cures)
{
    Recipe out = defaultRecipe();
    out.calibration.batches = 2;
    out.cures = std::move(cures);
    return out;
}

template<class T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

} // namespace

/// Cures in the chain of stages: their keys, the plan that follows, what an edited model keeps of
/// them.
class TestCuredChain : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_model;
    RunSettings m_settings {kDigitsData, {}, "cpu"};

    DecisionKeys keysOf(const Recipe& recipe) const
    {
        return decisionKeys("model", recipe, m_settings, DataState::of(m_settings));
    }
    const NodePlan& headOf(const Plan& plan) const
    {
        for (const NodePlan& node : plan.nodes)
            if (const Node& own = m_model->get(node.node);
                own.isOperator() && own.scope.path == "head")
                return node;
        qFatal("no head");
    }

private Q_SLOTS:
    void initTestCase() { m_model = must(importModel(kDigits)); }

    /// Cures that are off, and remarks, change no byte of any key.
    void keysCountWhatHasAnEffect()
    {
        const DecisionKeys none = keysOf(withCures({}));
        Cure off = headFloat();
        off.off = true;
        const auto isSame = [](const DecisionKeys& a, const DecisionKeys& b) {
            return a.plan == b.plan && a.calibration == b.calibration
                && a.conversion == b.conversion && a.comparison == b.comparison
                && a.planning == b.planning && a.lowering == b.lowering;
        };
        QVERIFY(isSame(keysOf(withCures({off})), none));
        const DecisionKeys one = keysOf(withCures({headFloat()}));
        QVERIFY(one.plan != none.plan && one.calibration != none.calibration);
        QCOMPARE(one.lowering, none.lowering);
        Cure told = headFloat();
        told.gainDb = 4.2;
        told.by = "tune 1f3a";
        QVERIFY(isSame(keysOf(withCures({off, told})), one));
        // What is saved is another file all the same.
        QVERIFY(contentKey(withCures({off}), m_settings) != contentKey(withCures({}), m_settings));
        QVERIFY(contentKey(withCures({told}), m_settings)
                != contentKey(withCures({headFloat()}), m_settings));
    }

    void thePlanFollowsCures()
    {
        StageChain chain;
        const PlanPtr plain = must(chain.plan(m_model, withCures({})));
        const PlanPtr cured = must(chain.plan(m_model, withCures({headFloat()})));
        QVERIFY(headOf(*plain).quantized && !headOf(*cured).quantized);
        QCOMPARE(cured->quantizedOps, plain->quantizedOps - 1);
        QCOMPARE(must(chain.plan(m_model, withCures({}))), plain);
        Cure off = headFloat();
        off.off = true;
        QCOMPARE(must(chain.plan(m_model, withCures({off}))), plain);
        const CureExpansionPtr cures = must(chain.cures(m_model, withCures({headFloat()})));
        QCOMPARE(cures->cureOf(headOf(*cured).rule), 0);
        QCOMPARE(cures->cureOf(headOf(*plain).rule), -1);
    }

    /// The statistics are those of before; no data is run for another decision.
    void aCureRunsNoData()
    {
        StageChain chain;
        int batches = 0;
        const JobContext job({}, [&batches](const Progress& progress) {
            batches += progress.stage == "calibrate" && progress.what.starts_with("batch ");
        });
        const auto calibrated = [&](const Recipe& recipe) {
            const PlanPtr plan = must(chain.plan(m_model, recipe));
            return must(chain.calibrate({m_model, plan, recipe, m_settings}, job));
        };
        const CalibrationPtr plain = calibrated(withCures({}));
        QCOMPARE(batches, 2);
        const CalibrationPtr cured = calibrated(withCures({headFloat()}));
        QCOMPARE(batches, 2);
        QVERIFY(cured->qparams.size() < plain->qparams.size());
        QCOMPARE(calibrated(withCures({})), plain);
    }

    /// Addresses are counted in the file: an edit that removes an operator before moves none.
    void addressesOutliveEdits()
    {
        Recipe recipe = withCures({headFloat()});
        EditStep remove;
        remove.kind = EditKind::Remove;
        remove.at = floatCure("stem.relu", "aten.relu.default").at;
        recipe.edits = {remove};
        StageChain chain;
        const EditedModelPtr edited = must(chain.edited(m_model, recipe, {}));
        const PlanPtr plan = must(chain.plan(edited->graph, recipe));
        QVERIFY2(plan->warnings.empty(),
                 plan->warnings.empty() ? "" : plan->warnings.front().c_str());
        QVERIFY(!headOf(*plan).quantized);
        // A cure of a node that the edit removed is reported; the plan equals that without the
        // cure.
        recipe.cures = {floatCure("stem.relu", "aten.relu.default")};
        const PlanPtr left = must(chain.plan(edited->graph, recipe));
        QCOMPARE(left->warnings.size(), std::size_t(1));
        QVERIFY2(left->warnings.front().find("was removed by an earlier edit") != std::string::npos,
                 left->warnings.front().c_str());
        // A chain that never saw the file cannot know the places.
        StageChain other;
        QVERIFY(!other.plan(edited->graph, recipe));
    }

    /// The index by which planning finds places keeps no model alive.
    void editedModelsAreLetGo()
    {
        StageChain::Options options;
        options.resultBytes = 1;
        StageChain chain(options);
        std::weak_ptr<const EditedModel> first;
        for (const char* name : {"one", "two"}) {
            Recipe recipe = withCures({headFloat()});
            EditStep rename;
            rename.kind = EditKind::Rename;
            rename.at = headFloat().at;
            rename.name = name;
            recipe.edits = {rename};
            const EditedModelPtr edited = must(chain.edited(m_model, recipe, {}));
            QVERIFY(must(chain.plan(edited->graph, recipe))->warnings.empty());
            if (recipe.edits.front().name == "one")
                first = edited;
        }
        QVERIFY(first.expired());
    }

    void aBoundThatDoesNotFitLeavesTheModel()
    {
        Cure bound;
        bound.kind = CureKind::Bound;
        bound.at.kind = ValueAddress::Kind::Stored;
        bound.at.name = "head.bias";
        bound.bound = 104;
        StageChain chain;
        const Recipe recipe = withCures({bound});
        const EditedModelPtr edited = must(chain.edited(m_model, recipe, {}));
        QCOMPARE(edited->graph, m_model);
        QCOMPARE(edited->cures.size(), std::size_t(1));
        QVERIFY(!edited->cures.front().problem.empty());
        QCOMPARE(unfitModelCures(*edited).size(), std::size_t(1));
        QCOMPARE(must(chain.plan(edited->graph, recipe))->warnings, unfitModelCures(*edited));
        QVERIFY(must(chain.plan(m_model, withCures({})))->warnings.empty());
    }

    /// Trained weights below folded norms are observed anew, in a chain that knows the untrained.
    void aTrainingIsMeasuredAsInANewChain()
    {
        const QTemporaryDir folder;
        StageChain chain;
        TrainRequest request;
        request.recipe = withCures({});
        request.settings = m_settings;
        request.plan = must(chain.plan(m_model, request.recipe));
        request.start
            = must(chain.calibrate({m_model, request.plan, request.recipe, m_settings}, {}));
        request.file = m_model;
        request.model = request.start->prepared->model;
        request.training.steps = 2;
        request.training.guard = 0;
        const std::string path = folder.filePath("trained.pt2").toStdString();
        const Recipe recipe
            = withTraining(request.recipe, must(chain.train(request, path, {}, {})).cure);
        const auto calibrated = [&](StageChain& in) {
            const GraphPtr model = must(in.edited(m_model, recipe, {}))->graph;
            const PlanPtr plan = must(in.plan(model, recipe));
            return must(in.calibrate({model, plan, recipe, m_settings}, {}));
        };
        StageChain other;
        const CalibrationPtr here = calibrated(chain), there = calibrated(other);
        QVERIFY(here->qparams == there->qparams);
        QVERIFY(here->qparams != request.start->qparams);
    }
};

QTEST_APPLESS_MAIN(TestCuredChain)
#include "tst_cured_chain.moc"
