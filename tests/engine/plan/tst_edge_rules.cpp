// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/plan/planner.h"
#include "engine/plan/rules/edge_rules.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Rule edgeRule(const std::string& from, const std::string& to, int index, const std::string& name)
{
    Rule out;
    out.kind = RuleKind::Edge;
    out.key = from;
    out.secondKey = to;
    out.index = index;
    if (!name.empty())
        out.qconfig = {name, presetQConfig(name)};
    return out;
}

Recipe recipeWith(const std::vector<Rule>& rules)
{
    Recipe recipe = defaultRecipe();
    recipe.mapping.rules.insert(recipe.mapping.rules.end(), rules.begin(), rules.end());
    return recipe;
}

Plan planOf(const Graph& graph, const Recipe& recipe)
{
    auto plan = makePlan(graph, recipe, *findBackend("x86"));
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    return *plan;
}

/// The edge from one node's first value to another, by its place among the reader's activations.
Edge edgeOf(const Graph& graph, const char* from, const char* to)
{
    const ValueRef value {graph.tryFind(from)->id, 0};
    for (const Use& use : graph.users(value))
        if (use.node == graph.tryFind(to)->id)
            return {value, use};
    qFatal("no edge from %s to %s", from, to);
}

const PlannedObserver& observer(const Plan& plan, ObserverId id)
{
    return plan.observers.at(id.value() - 1);
}

std::string won(const EdgeFacts& facts)
{
    return facts.won < 0
        ? std::string("nothing")
        : std::string(ruleKindName(facts.candidates.at(std::size_t(facts.won)).rule.kind));
}

} // namespace

class TestEdgeRules : public QObject
{
    Q_OBJECT

private:
    /// x - a - b, a - c - out
    Graph fork()
    {
        GraphMaker m;
        const auto a = m.conv("a", m.input("x"));
        return m.finish({m.conv("b", a), m.conv("c", a)});
    }

private Q_SLOTS:
    void theRuleThatWonIsTold()
    {
        const Graph g = fork();
        const Recipe plain = defaultRecipe();
        const Plan before = planOf(g, plain);
        EdgeFacts facts = edgeFacts(g, before, plain, edgeOf(g, "a", "b"));
        QCOMPARE(facts.index, std::optional(0));
        QCOMPARE(won(facts), std::string("global"));
        QCOMPARE(int(facts.candidates.at(std::size_t(facts.won)).of),
                 int(EdgeRuleCandidate::Of::Producer));
        QVERIFY(facts.why.find("where it is made") != std::string::npos);
        const Recipe recipe = recipeWith({edgeRule("a", "b", 0, "qnnpack")});
        const Plan plan = planOf(g, recipe);
        facts = edgeFacts(g, plan, recipe, edgeOf(g, "a", "b"));
        QCOMPARE(won(facts), std::string("edge"));
        QCOMPARE(int(facts.candidates.size()), 3);
        QCOMPARE(observer(plan, facts.observer).rule.kind, RuleKind::Edge);
        QCOMPARE(observer(plan, facts.before).rule.kind, RuleKind::Global);
        QVERIFY(facts.why.find("again") != std::string::npos);
        // The other reader goes on as before.
        facts = edgeFacts(g, plan, recipe, edgeOf(g, "a", "c"));
        QCOMPARE(won(facts), std::string("global"));
        QVERIFY(!facts.before);
        Edge none = edgeOf(g, "a", "c");
        QVERIFY(isEdge(g, none));
        none.reader.argument = 1;
        QVERIFY(!isEdge(g, none));
        none = {{NodeId(9999), 0}, none.reader};
        QVERIFY(!isEdge(g, none));
    }

    void aRuleOfEveryReaderIsTheValuesOwn()
    {
        const Graph g = fork();
        const Recipe recipe
            = recipeWith({edgeRule("a", "b", 0, "qnnpack"), edgeRule("a", "c", 0, "qnnpack")});
        const Plan plan = planOf(g, recipe);
        const EdgeFacts b = edgeFacts(g, plan, recipe, edgeOf(g, "a", "b"));
        QVERIFY(b.observer && !b.before);
        QCOMPARE(b.observer, edgeFacts(g, plan, recipe, edgeOf(g, "a", "c")).observer);
        QCOMPARE(observer(plan, b.observer).spec, presetQConfig("qnnpack")->activation);
        QVERIFY(observer(plan, b.observer).edges.front().readers.empty());
        QCOMPARE(won(b), std::string("edge"));
        for (const char* name : {"b", "c"})
            QCOMPARE(int(plan.tryGet(g, g.tryFind(name)->id)->inputRules.size()), 1);
        // One of them alone would not do.
        const Recipe other
            = recipeWith({edgeRule("a", "b", 0, "qnnpack"), edgeRule("a", "c", 0, "default")});
        const Plan apart = planOf(g, other);
        QVERIFY(edgeFacts(g, apart, other, edgeOf(g, "a", "b")).before);
    }

    void aFloatReaderSaysWhy()
    {
        const Graph g = fork();
        const Recipe off = recipeWith({edgeRule("a", "b", 0, "")});
        EdgeFacts facts = edgeFacts(g, planOf(g, off), off, edgeOf(g, "a", "b"));
        QCOMPARE(won(facts), std::string("edge"));
        Recipe lost = recipeWith({edgeRule("a", "b", 0, "qnnpack")});
        Rule keep;
        keep.kind = RuleKind::Node;
        keep.key = "b";
        lost.mapping.rules.push_back(keep);
        const Plan plan = planOf(g, lost);
        facts = edgeFacts(g, plan, lost, edgeOf(g, "a", "b"));
        QVERIFY2(facts.why.find("the edge rule has no effect") != std::string::npos,
                 facts.why.c_str());
        QVERIFY(won(facts) != "edge");
        QVERIFY(plan.tryGet(g, g.tryFind("b")->id)->inputRules.empty());
    }

    /// A cat observes what it joins by one observer: a rule of one input alone would do nothing.
    void sharingPartnersChangeTogether()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const Graph g = m.finish({m.conv("c", m.cat("k", {m.conv("a", x), m.conv("b", x)}))});
        Recipe recipe = defaultRecipe();
        const Plan before = planOf(g, recipe);
        const Edge edge = edgeOf(g, "b", "k");
        const auto together = decidedTogether(g, before, edge);
        QCOMPARE(int(together.size()), 2);
        std::vector<std::string> lit;
        for (const ObservedEdge& partner : sharedAlong(g, before, edge))
            lit.push_back(g.value(partner.value).name);
        std::sort(lit.begin(), lit.end());
        QCOMPARE(lit, (std::vector<std::string> {"a", "b", "k"}));
        QVERIFY(sharedAlong(g, before, edgeOf(g, "k", "c")).empty());
        QCOMPARE(int(decidedTogether(g, before, edgeOf(g, "k", "c")).size()), 1);

        setEdgeRules(recipe, g, before, together,
                     NamedQConfig {"qnnpack", presetQConfig("qnnpack")});
        const Plan after = planOf(g, recipe);
        const ObserverSpec wanted = presetQConfig("qnnpack")->activation;
        for (const char* from : {"a", "b"}) {
            const EdgeFacts facts = edgeFacts(g, after, recipe, edgeOf(g, from, "k"));
            QCOMPARE(observer(after, facts.observer).spec, wanted);
            QCOMPARE(won(facts), std::string("edge"));
        }
        const EdgeFacts out = edgeFacts(g, after, recipe, edgeOf(g, "k", "c"));
        QCOMPARE(observer(after, out.observer).spec, wanted);
        QCOMPARE(won(out), std::string("edge"));
        setEdgeRules(recipe, g, after, together, std::nullopt);
        QVERIFY(recipe == defaultRecipe());
    }

    void indicesCountEveryTensor()
    {
        GraphMaker m;
        const auto ids = m.input("ids", DType::Int64);
        const auto a = m.conv("a", m.input("x"));
        const Graph g = m.finish({m.op("t", "aten.add.Tensor", {{"self", ids}, {"other", a}}, "",
                                       "", "builtin_function_or_method.add")});
        const Recipe recipe = defaultRecipe();
        QCOMPARE(edgeFacts(g, planOf(g, recipe), recipe, edgeOf(g, "a", "t")).index,
                 std::optional(1));
        // A weight is not an activation: no edge rule reaches it.
        const Edge weight = edgeOf(g, "a_w", "a");
        QVERIFY(!edgeFacts(g, planOf(g, recipe), recipe, weight).index);
        QVERIFY(edgesOf(g, planOf(g, recipe), weight.value).empty());
    }

    void derivedQConfigsGetOneName()
    {
        Recipe recipe = defaultRecipe();
        QConfig changed = *presetQConfig("x86");
        const NamedQConfig known = addQConfig(recipe, changed, "mine");
        QVERIFY(known.name != "mine" && presetQConfig(known.name) == changed);
        QVERIFY(recipe.qconfigs.empty());
        changed.activation.range = RangeMethod::Mse;
        QCOMPARE(addQConfig(recipe, changed, "x86_mse").name, std::string("x86_mse"));
        QCOMPARE(addQConfig(recipe, changed, "other").name, std::string("x86_mse"));
        changed.activation.range = RangeMethod::Entropy;
        QCOMPARE(addQConfig(recipe, changed, "x86_mse").name, std::string("x86_mse2"));
        QCOMPARE(int(recipe.qconfigs.size()), 2);
    }
};

QTEST_GUILESS_MAIN(TestEdgeRules)
#include "tst_edge_rules.moc"
