// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/locate_cures.h"
#include "engine/plan/cures/expand_cures.h"
#include "engine/plan/planner.h"
#include "tests/engine/plan/decided_nodes.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

ValueAddress operatorAt(const std::string& module, const std::string& op)
{
    ValueAddress out;
    out.kind = ValueAddress::Kind::Operator;
    out.module = module;
    out.op = op;
    return out;
}

ValueAddress convAt(const std::string& module)
{
    return operatorAt(module, "aten.conv2d.default");
}

Cure cureOf(CureKind kind, const ValueAddress& at, const std::string& qconfig = {})
{
    Cure out;
    out.kind = kind;
    out.at = at;
    out.qconfig = qconfig;
    return out;
}

ReaderAddress readerOf(const ValueAddress& node, const std::string& argument)
{
    ReaderAddress out;
    out.node = node;
    out.argument = argument;
    return out;
}

/// x - a - r - b, r + b = sum - out; a and r are fused.
GraphPtr network()
{
    GraphMaker m;
    const ValueRef r = m.relu("r", m.conv("a", m.input("x")));
    const ValueRef b = m.conv("b", r);
    return std::make_shared<const Graph>(m.finish({m.plus("sum", r, b)}));
}

Plan planned(const Graph& graph, const Recipe& recipe)
{
    auto plan = makePlan(graph, recipe, *findBackend("x86"));
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    return *plan;
}

CureExpansion expanded(const GraphPtr& graph, const Recipe& recipe)
{
    Recipe uncured = recipe;
    uncured.cures.clear();
    const Addresses addresses(graph);
    return expandCures(*graph, planned(*graph, uncured), recipe,
                       locateCures(graph, addresses, recipe.cures), quotedNames(*graph, addresses));
}

Recipe withCures(std::vector<Cure> cures)
{
    Recipe recipe = defaultRecipe();
    QConfig own = *presetQConfig("x86");
    own.activation.kind = ObserverKind::MinMax;
    recipe.qconfigs["tune_1"] = own;
    recipe.cures = std::move(cures);
    return recipe;
}

/// "node b: float", "edge r b 0: tune_1".
QStringList rulesOf(const CureExpansion& expansion)
{
    QStringList out;
    for (const CureRule& own : expansion.rules) {
        const Rule& rule = own.rule;
        std::string text(ruleKindName(rule.kind));
        text += " " + rule.key;
        if (rule.kind == RuleKind::Edge)
            text += " " + rule.secondKey + " " + std::to_string(rule.index);
        text += ": " + (rule.qconfig.config ? rule.qconfig.name : "float");
        if (rule.qconfig.config && rule.qconfig.config->floatResult)
            text += ", float result";
        out << QString::fromStdString(text);
    }
    return out;
}

} // namespace

/// What cures are to planning: which rules, in which order, and why one does not fit.
class TestExpandedCures : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void eachKindBecomesRules()
    {
        const GraphPtr g = network();
        const auto rules
            = [&](const Cure& cure) { return rulesOf(expanded(g, withCures({cure}))); };
        QCOMPARE(rules(cureOf(CureKind::Float, convAt("b"))), QStringList {"node b: float"});
        // What is fused is decided together, whichever of it is named.
        const QStringList both {"node a: float", "node r: float"};
        QCOMPARE(rules(cureOf(CureKind::Float, convAt("a"))), both);
        QCOMPARE(rules(cureOf(CureKind::Float, operatorAt("r", "aten.relu.default"))), both);
        QCOMPARE(rules(cureOf(CureKind::FloatResult, convAt("b"))),
                 QStringList {"node b: x86, float result"});
        QCOMPARE(rules(cureOf(CureKind::Dynamic, convAt("b"), "default_dynamic")),
                 QStringList {"node b: default_dynamic"});
        QCOMPARE(rules(cureOf(CureKind::Range, convAt("b"), "tune_1")),
                 QStringList {"node b: tune_1"});
        Cure region = cureOf(CureKind::Float, convAt("b"));
        region.nodes = {operatorAt("", "aten.add.Tensor")};
        QCOMPARE(rules(region), (QStringList {"node b: float", "node sum: float"}));
    }
    /// An input of an operator that a later cure keeps float has no range.
    void aFloatReaderDropsTheRange()
    {
        const GraphPtr g = network();
        Cure range = cureOf(CureKind::Range, operatorAt("r", "aten.relu.default"), "tune_1");
        range.readers = {readerOf(convAt("b"), "input")};
        const CureExpansion out
            = expanded(g, withCures({range, cureOf(CureKind::Float, convAt("b"))}));
        QCOMPARE(rulesOf(out), QStringList {"node b: float"});
        const auto& rules = out.recipe.mapping.rules;
        QVERIFY(std::none_of(rules.begin(), rules.end(),
                             [](const Rule& rule) { return rule.kind == RuleKind::Edge; }));
        QVERIFY(out.problems.empty());
    }
    /// Of `range` the activation's observer counts; the weight's stays what it was.
    void rangeChangesTheActivationAlone()
    {
        const GraphPtr g = network();
        Recipe recipe = withCures({cureOf(CureKind::Range, convAt("b"), "other")});
        recipe.qconfigs["other"] = *presetQConfig("qnnpack");
        const CureExpansion out = expanded(g, recipe);
        const QConfig& got = *out.rules.at(0).rule.qconfig.config;
        QVERIFY(got.activation == presetQConfig("qnnpack")->activation);
        QVERIFY(got.weight == presetQConfig("x86")->weight);
        QVERIFY(!(got.weight == presetQConfig("qnnpack")->weight));
    }
    void rangeForReadersIsOneEdgeRuleEach()
    {
        const GraphPtr g = network();
        Cure cure = cureOf(CureKind::Range, operatorAt("r", "aten.relu.default"), "tune_1");
        cure.readers = {readerOf(convAt("b"), "input")};
        QCOMPARE(rulesOf(expanded(g, withCures({cure}))), QStringList {"edge r b 0: tune_1"});
        cure.readers.push_back(readerOf(operatorAt("", "aten.add.Tensor"), "self"));
        QCOMPARE(rulesOf(expanded(g, withCures({cure}))),
                 (QStringList {"edge r b 0: tune_1", "edge r sum 0: tune_1"}));
        // An input of the model has no operator: its readers are listed.
        ValueAddress input;
        input.kind = ValueAddress::Kind::Input;
        input.name = "x";
        QCOMPARE(rulesOf(expanded(g, withCures({cureOf(CureKind::Range, input, "tune_1")}))),
                 QStringList {"edge x a 0: tune_1"});
    }
    /// Above the mapping's rules for the same node and the same edge, whatever they say.
    void curesStandAboveTheMapping()
    {
        const GraphPtr g = network();
        Recipe recipe = withCures({cureOf(CureKind::Float, convAt("b"))});
        Rule node;
        node.kind = RuleKind::Node;
        node.key = "b";
        node.qconfig = {"qnnpack", presetQConfig("qnnpack")};
        recipe.mapping.rules.push_back(node);
        CureExpansion out = expanded(g, recipe);
        Plan plan = planned(*g, out.recipe);
        QVERIFY(nodeOf(plan, *g, "b").verdict == Verdict::FloatByRule);
        QCOMPARE(out.cureOf(nodeOf(plan, *g, "b").rule), 0);
        QCOMPARE(nodeOf(plan, *g, "b").overrides.at(0).qconfig.name, std::string("qnnpack"));
        QCOMPARE(out.cureOf(nodeOf(plan, *g, "sum").rule), -1);

        Cure cure = cureOf(CureKind::Range, operatorAt("r", "aten.relu.default"), "tune_1");
        Rule edge;
        edge.kind = RuleKind::Edge;
        edge.key = "r";
        edge.secondKey = "b";
        edge.qconfig = {"qnnpack", presetQConfig("qnnpack")};
        for (const bool named : {true, false}) {
            cure.readers.clear();
            if (named)
                cure.readers = {readerOf(convAt("b"), "input")};
            recipe = withCures({cure});
            recipe.mapping.rules.push_back(edge);
            out = expanded(g, recipe);
            plan = planned(*g, out.recipe);
            QVERIFY(plan.warnings.empty());
            for (const PlannedObserver& observer : plan.observers)
                for (const ObservedEdge& at : observer.edges)
                    if (!observer.isWeight && at.value.node == g->tryFind("r")->id)
                        QVERIFY(named == at.readers.empty()
                                || observer.spec.kind == ObserverKind::MinMax);
            const auto& inputs = nodeOf(plan, *g, "b").inputRules;
            QCOMPARE(inputs.size(), std::size_t(named ? 1 : 0));
            if (named)
                QCOMPARE(out.cureOf(inputs.at(0)), 0);
        }
    }
    /// A later cure sees what an earlier one decided, and decides over it.
    void theOrderOfCuresCounts()
    {
        const GraphPtr g = network();
        const Cure range = cureOf(CureKind::Range, convAt("b"), "tune_1");
        const Cure real = cureOf(CureKind::FloatResult, convAt("b"));
        const Cure keep = cureOf(CureKind::Float, convAt("b"));
        QCOMPARE(rulesOf(expanded(g, withCures({range, real}))),
                 (QStringList {"node b: tune_1", "node b: tune_1, float result"}));
        QCOMPARE(rulesOf(expanded(g, withCures({real, range}))),
                 (QStringList {"node b: x86, float result", "node b: tune_1, float result"}));
        const CureExpansion lost = expanded(g, withCures({keep, real}));
        QCOMPARE(rulesOf(lost), QStringList {"node b: float"});
        QCOMPARE(lost.problems.size(), std::size_t(1));
        QVERIFY(nodeOf(planned(*g, expanded(g, withCures({real, keep})).recipe), *g, "b").verdict
                == Verdict::FloatByRule);
    }
    /// Cures that are off, and remarks, change nothing; equal input gives equal output.
    void expansionIsPure()
    {
        const GraphPtr g = network();
        Recipe recipe = withCures({cureOf(CureKind::Range, convAt("b"), "tune_1")});
        const CureExpansion first = expanded(g, recipe);
        recipe.cures[0].gainDb = 3;
        recipe.cures[0].by = "tune 1f3a";
        Cure off = cureOf(CureKind::Float, convAt("a"));
        off.off = true;
        recipe.cures.insert(recipe.cures.begin(), off);
        const Recipe before = recipe;
        const CureExpansion again = expanded(g, recipe);
        QVERIFY(recipe == before);
        QVERIFY(first.recipe == again.recipe);
        QCOMPARE(rulesOf(first), rulesOf(again));
        QVERIFY(again.recipe.cures.empty());
        QCOMPARE(again.rules.at(0).cure, std::size_t(1));
        recipe.cures.resize(1);
        Recipe none = recipe;
        none.cures.clear();
        QVERIFY(expanded(g, recipe).recipe == none);
    }
    void whatDoesNotFitIsTold_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("module");
        QTest::addColumn<QString>("op");
        QTest::addColumn<QString>("qconfig");
        QTest::addColumn<QString>("wanted");
        const QString conv = QStringLiteral("aten.conv2d.default");
        const auto row = [&](const char* name, CureKind kind, const char* module, const QString& op,
                             const char* qconfig, const char* wanted) {
            QTest::newRow(name) << int(kind) << module << op << qconfig << wanted;
        };
        row("address", CureKind::Float, "gone", conv, "", "'gone' has no operator");
        row("no weight", CureKind::FloatResult, "", QStringLiteral("aten.add.Tensor"), "",
            "'sum' has no weight");
        row("qconfig", CureKind::Range, "b", conv, "tune_2", "did you mean 'tune_1'");
        row("dynamic qconfig", CureKind::Dynamic, "b", conv, "default_dynamik",
            "did you mean 'default_dynamic'");
        row("static qconfig", CureKind::Dynamic, "b", conv, "x86",
            "'x86' chooses its ranges before the run");
    }
    void whatDoesNotFitIsTold()
    {
        QFETCH(int, kind);
        QFETCH(QString, module);
        QFETCH(QString, op);
        QFETCH(QString, qconfig);
        QFETCH(QString, wanted);
        const Cure cure = cureOf(CureKind(kind), operatorAt(module.toStdString(), op.toStdString()),
                                 qconfig.toStdString());
        const CureExpansion out = expanded(network(), withCures({cure}));
        QVERIFY(out.rules.empty());
        QCOMPARE(out.problems.size(), std::size_t(1));
        const QString line = QString::fromStdString(out.problems.front());
        QVERIFY2(line.contains(wanted) && line.contains("does not fit this model and was left out"),
                 qPrintable(line));
        QVERIFY(!line.contains('\n'));
    }
    void readersThatDoNotReadAreTold()
    {
        Cure cure = cureOf(CureKind::Range, convAt("b"), "tune_1");
        cure.readers = {readerOf(convAt("a"), "input")};
        CureExpansion out = expanded(network(), withCures({cure}));
        QVERIFY2(out.problems.at(0).find("a.input does not read that value") != std::string::npos,
                 out.problems.at(0).c_str());
        cure.readers = {readerOf(operatorAt("", "aten.add.Tensor"), "othr")};
        out = expanded(network(), withCures({cure}));
        QVERIFY2(out.problems.at(0).find("did you mean 'other'") != std::string::npos,
                 out.problems.at(0).c_str());
    }
    /// A cure of a node that the mapping keeps float cannot change its range.
    void aFloatOperatorHasNoFloatResult()
    {
        const GraphPtr g = network();
        Recipe recipe = withCures({cureOf(CureKind::FloatResult, convAt("b"))});
        Rule node;
        node.kind = RuleKind::Node;
        node.key = "b";
        recipe.mapping.rules.push_back(node);
        const CureExpansion out = expanded(g, recipe);
        QVERIFY2(out.problems.at(0).find("'b' stays float") != std::string::npos,
                 out.problems.at(0).c_str());
    }
};

QTEST_APPLESS_MAIN(TestExpandedCures)
#include "tst_expanded_cures.moc"
