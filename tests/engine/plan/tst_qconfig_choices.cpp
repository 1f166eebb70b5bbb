// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/target.h"
#include "engine/configure/backend_config.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "engine/plan/summaries/qconfig_choices.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

/// Each answer is held against the planner itself: the qconfig given to the node by a rule.
class TestQConfigChoices : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_digits, m_sequences, m_shapes;

    static GraphPtr open(const char* name)
    {
        auto graph = importModel(QS_SOURCE_DIR "/resources/samples/" + std::string(name));
        if (!graph)
            qFatal("%s", graph.error().line().c_str());
        return *graph;
    }

    static Recipe recipeFor(const std::string& backend)
    {
        Recipe recipe;
        recipe.backend = backend;
        Rule all; // as a recipe that names nothing else
        all.qconfig.name = presetOf(backend);
        all.qconfig.config = findQConfig(recipe, all.qconfig.name);
        recipe.mapping.rules.push_back(all);
        return recipe;
    }

    struct Asked
    {
        Recipe recipe;
        Backend backend;
        Plan plan;
        std::vector<QConfigChoice> choices;
        const QConfigChoice* of(const std::string& name) const
        {
            for (const QConfigChoice& choice : choices)
                if (choice.name == name)
                    return &choice;
            return nullptr;
        }
        std::vector<std::string> names(QConfigFit fit) const
        {
            std::vector<std::string> out;
            for (const QConfigChoice& choice : choices)
                if (choice.fit == fit)
                    out.push_back(choice.name);
            return out;
        }
    };

    static Asked ask(const Graph& graph, const std::string& backend,
                     const std::vector<std::string>& names)
    {
        Asked asked {recipeFor(backend), *findBackend(backend), {}, {}};
        asked.plan = *makePlan(graph, asked.recipe, asked.backend);
        std::vector<NodeId> nodes;
        for (const std::string& name : names)
            nodes.push_back(graph.tryFind(name)->id);
        asked.choices = qconfigChoices(graph, asked.plan, asked.recipe, asked.backend, nodes);
        return asked;
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_digits = open("digits.pt2");
        m_sequences = open("sequences.pt2");
        m_shapes = open("shapes.pt2");
    }

    void eachAnswerIsThePlanners_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("backend");
        for (const std::string& backend : shippedBackends()) {
            for (const char* node : {"conv2d", "linear", "add", "adaptive_avg_pool2d"})
                QTest::addRow("%s on %s", node, backend.c_str())
                    << "digits" << node << QString::fromStdString(backend);
            for (const char* node : {"sigmoid", "cat"})
                QTest::addRow("%s on %s", node, backend.c_str())
                    << "shapes" << node << QString::fromStdString(backend);
            for (const char* node : {"embedding", "softmax", "matmul", "layer_norm", "gelu"})
                QTest::addRow("%s on %s", node, backend.c_str())
                    << "sequences" << node << QString::fromStdString(backend);
        }
    }
    void eachAnswerIsThePlanners()
    {
        QFETCH(QString, model);
        QFETCH(QString, node);
        QFETCH(QString, backend);
        const Graph& graph = model == QLatin1String("digits") ? *m_digits
            : model == QLatin1String("shapes")                ? *m_shapes
                                                              : *m_sequences;
        const Node* found = graph.tryFind(node.toStdString());
        QVERIFY(found);
        const Asked asked = ask(graph, backend.toStdString(), {found->name});
        QVERIFY(asked.choices.size() >= presetNames().size());
        const NodePlan* before = asked.plan.tryGet(graph, found->id);
        for (const QConfigChoice& choice : asked.choices) {
            if (isForTraining(choice.config))
                continue; // a plan does not mix them with others
            Recipe recipe = asked.recipe;
            if (choice.isNew)
                recipe.qconfigs[choice.name] = choice.config;
            std::vector<NodeId> members {found->id};
            if (before->group >= 0)
                members = asked.plan.groups[std::size_t(before->group)].members;
            for (const NodeId id : members) {
                Rule rule;
                rule.kind = RuleKind::Node;
                rule.key = graph.get(id).name;
                rule.qconfig = {choice.name, choice.config};
                recipe.mapping.rules.push_back(rule);
            }
            const auto plan = makePlan(graph, recipe, asked.backend);
            QVERIFY(plan);
            const NodePlan* after = plan->tryGet(graph, found->id);
            const bool isQuantized
                = after->group >= 0 && plan->groups[std::size_t(after->group)].quantized;
            QVERIFY2(isQuantized == (choice.fit != QConfigFit::Unfit),
                     (choice.name + ": " + choice.why + " / " + after->reason.text()).c_str());
            if (choice.fit == QConfigFit::Unfit)
                QVERIFY2(!choice.why.empty(), choice.name.c_str());
        }
        if (before->patternEntry < 0)
            QVERIFY(asked.names(QConfigFit::Recommended).empty());
    }

    void theBackendsOwnIsRecommended()
    {
        using Names = std::vector<std::string>;
        QCOMPARE(ask(*m_digits, "x86", {"conv2d"}).names(QConfigFit::Recommended), Names {"x86"});
        QCOMPARE(ask(*m_digits, "qnnpack", {"linear"}).names(QConfigFit::Recommended),
                 Names {"qnnpack"});
        // Neither the preset nor the default mapping fits: of what does, eight bits before four.
        QCOMPARE(ask(*m_sequences, "x86", {"embedding"}).names(QConfigFit::Recommended),
                 Names {"float_qparams_weight_only"});
        // Fixed parameters have no name: the recipe must take them in.
        const Asked sigmoid = ask(*m_shapes, "x86", {"sigmoid"});
        QCOMPARE(sigmoid.of("x86")->fit, QConfigFit::Unfit);
        QCOMPARE(sigmoid.names(QConfigFit::Recommended), Names {"fixed_0_to_1"});
        const QConfigChoice* fitted = sigmoid.of("fixed_0_to_1");
        QVERIFY(fitted->isNew);
        QCOMPARE(fitted->config.activation.kind, ObserverKind::FixedQParams);
    }

    void severalNodes()
    {
        const Asked both = ask(*m_sequences, "x86", {"embedding", "linear"});
        const QConfigChoice* preset = both.of("x86");
        QCOMPARE(preset->fit, QConfigFit::Compatible); // for one of them
        QVERIFY(!preset->why.empty());
        QVERIFY(both.names(QConfigFit::Recommended).empty());
        // What fits all of them comes before what fits some.
        const Asked mixed = ask(*m_sequences, "x86", {"linear", "add"});
        bool isPartial = false;
        for (const QConfigChoice& choice : mixed.choices) {
            if (choice.fit != QConfigFit::Compatible)
                continue;
            QVERIFY2(!isPartial || !choice.why.empty(), choice.name.c_str());
            isPartial |= !choice.why.empty();
        }
        QVERIFY(isPartial);
        QCOMPARE(ask(*m_sequences, "x86", {"linear", "linear_1", "add"}).of("x86")->fit,
                 QConfigFit::Recommended);
    }

    void wordsBesideAName()
    {
        const auto words = [](const char* name) {
            return QString::fromStdString(qconfigWords(*presetQConfig(name)));
        };
        QCOMPARE(words("x86"),
                 QStringLiteral("7-bit affine · weight 8-bit symmetric, per channel"));
        QCOMPARE(words("qnnpack"), QStringLiteral("8-bit affine · weight 8-bit symmetric"));
        QCOMPARE(words("per_channel_dynamic"),
                 QStringLiteral("8-bit dynamic · weight 8-bit symmetric, per channel"));
        QCOMPARE(words("int4_weight_only"),
                 QStringLiteral("float32 · weight 4-bit symmetric, groups of 32"));
        QCOMPARE(words("tensorrt"),
                 QStringLiteral("8-bit symmetric · weight 8-bit symmetric, per channel"));
    }
};

QTEST_GUILESS_MAIN(TestQConfigChoices)
#include "tst_qconfig_choices.moc"
