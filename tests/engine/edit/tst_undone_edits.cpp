// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"
#include "engine/edit/edited_model.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/text/graph_printer.h"
#include "tests/engine/edit/edit_runs.h"

#include <QtTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

/// The steps of one kind, made for a model: what has to be there first, and the edit itself.
class Steps
{
public:
    explicit Steps(const GraphPtr& file)
        : m_file(*file)
        , m_plain(*editModel(file, {}))
        , m_relu(first("aten.relu"))
        , m_add(first("aten.add.Tensor"))
    {
    }

    /// A clamp after the first relu, as a second output; a halved parameter.
    std::vector<EditStep> before() const
    {
        EditStep clip = about(EditKind::Insert, m_relu);
        clip.op = "aten.clamp.default";
        clip.name = "clip";
        clip.json = R"({"min":-1,"max":1.5})";
        EditStep output = aboutAdded(EditKind::AddOutput);
        EditStep half = about(EditKind::Insert, parameter());
        half.op = "aten.mul.Tensor";
        half.name = "half";
        half.json = R"({"other":0.5})";
        return {clip, output, half};
    }

    EditStep of(EditKind kind) const
    {
        EditStep step = about(kind, m_relu);
        switch (kind) {
        case EditKind::Insert:
            step.op = "aten.hardtanh.default";
            step.name = "again";
            break;
        case EditKind::Replace:
            step.op = "aten.sigmoid.default";
            break;
        case EditKind::ReplaceEvery:
            step.at = {};
            step.every = m_relu.target;
            step.op = "aten.silu.default";
            break;
        case EditKind::Set:
            step = aboutAdded(kind);
            step.json = R"({"max":0.25})";
            break;
        case EditKind::Rewire:
            step = about(kind, m_add);
            step.argument = m_add.args.at(1).name.empty() ? "other" : m_add.args.at(1).name;
            step.to = m_plain->addresses->of(*m_add.args.at(0).value.asRef());
            break;
        case EditKind::Duplicate:
            step = aboutAdded(kind);
            step.name = "copy";
            step.readers = {{{}, {}, 1}}; // the output that it is
            break;
        case EditKind::Rename:
            step.name = "renamed";
            break;
        case EditKind::Constant:
            step = about(kind, parameter());
            step.json = "[";
            for (std::int64_t i = 0; i < parameter().outputs[0].type.shape[0].size; ++i)
                step.json += (i ? ",0.125" : "0.125");
            step.json += "]";
            break;
        case EditKind::AddOutput:
            step = about(kind, m_add);
            break;
        case EditKind::DropOutput:
            step = {};
            step.kind = kind;
            step.item = 1;
            break;
        case EditKind::AsFloat32:
        case EditKind::Fold:
            step = {};
            step.kind = kind;
            break;
        case EditKind::Extract: {
            step = {};
            step.kind = kind;
            step.nodes = {m_plain->addresses->of({m_relu.id, 0}), added("clip")};
            break;
        }
        case EditKind::Remove:
            break;
        }
        return step;
    }

private:
    const Node& first(const std::string& target) const
    {
        for (const NodePtr& node : m_file.nodes())
            if (node->isOperator() && node->target.starts_with(target))
                return *node;
        qFatal("no %s", target.c_str());
    }

    /// One of a single dimension.
    const Node& parameter() const
    {
        for (const NodePtr& node : m_file.nodes())
            if (node->kind == NodeKind::Parameter && node->outputs[0].type.shape.size() == 1
                && !m_file.users({node->id, 0}).empty())
                return *node;
        qFatal("no parameter of one dimension");
    }

    static ValueAddress added(const char* name)
    {
        ValueAddress address;
        address.kind = ValueAddress::Kind::Added;
        address.name = name;
        return address;
    }

    EditStep about(EditKind kind, const Node& node) const
    {
        EditStep step;
        step.kind = kind;
        step.at = m_plain->addresses->of({node.id, 0});
        return step;
    }

    EditStep aboutAdded(EditKind kind) const
    {
        EditStep step;
        step.kind = kind;
        step.at = added("clip");
        return step;
    }

    const Graph& m_file;
    const EditedModelPtr m_plain;
    const Node& m_relu;
    const Node& m_add;
};

} // namespace

/// Every kind of edit, on a convolutional network and on a transformer's block: made, run and
/// undone, the model computes what it did before, to the bit.
class TestUndoneEdits : public QObject
{
    Q_OBJECT

private:
    static std::vector<at::Tensor> run(const GraphPtr& graph, const std::vector<at::IValue>& inputs)
    {
        const InferenceScope inference;
        const auto interpreter = Interpreter::create(graph);
        const auto values = interpreter->run(inputs);
        if (!values)
            qFatal("%s", values.error().line().c_str());
        std::vector<at::Tensor> out;
        for (const at::IValue& value : *values)
            out.push_back(value.toTensor());
        return out;
    }

    static bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
    {
        return a.size() == b.size()
            && std::equal(a.begin(), a.end(), b.begin(),
                          [](const at::Tensor& x, const at::Tensor& y) { return x.equal(y); });
    }

private Q_SLOTS:
    void undoGivesTheModelBefore_data()
    {
        QTest::addColumn<QString>("model");
        for (const char* model : {"resnet18", "attention"})
            QTest::addRow("%s", model) << QString(model);
    }

    void undoGivesTheModelBefore()
    {
        QFETCH(QString, model);
        const GraphPtr file = openModel(model.toStdString());
        const Steps steps(file);
        at::manual_seed(1);
        const auto inputs = inputsOf(*file, 2);
        const auto original = run(file, inputs);
        const auto first = editModel(file, steps.before());
        QVERIFY(first);
        for (const EditOutcome& outcome : (*first)->outcomes)
            QVERIFY2(outcome.problem.empty(), outcome.problem.c_str());
        const auto wanted = run((*first)->graph, inputs);
        QVERIFY(!same(wanted, original));
        for (int kind = 0; kind <= int(EditKind::Extract); ++kind) { // float32 alone here
            const std::string name(editKindName(EditKind(kind)));
            std::vector<EditStep> all = steps.before();
            all.push_back(steps.of(EditKind(kind)));
            const auto edited = editFurther(*first, all);
            QVERIFY(edited);
            const EditOutcome& outcome = (*edited)->outcomes.back();
            QVERIFY2(outcome.problem.empty(), (name + ": " + outcome.problem).c_str());
            QVERIFY2(verifyGraph(*(*edited)->graph), name.c_str());
            QVERIFY2(printGraph(*(*edited)->graph) != printGraph(*(*first)->graph), name.c_str());
            const auto given
                = EditKind(kind) == EditKind::Extract ? inputsOf(*(*edited)->graph, 2) : inputs;
            const auto made = run((*edited)->graph, given);
            const bool changesNumbers = EditKind(kind) != EditKind::Rename
                && EditKind(kind) != EditKind::Fold && EditKind(kind) != EditKind::Duplicate
                && EditKind(kind) != EditKind::Insert; // after a relu hardtanh may cut nothing
            QVERIFY2(!changesNumbers || !same(made, wanted), name.c_str());
            // The undo: the journal without it, from the file on.
            all.pop_back();
            const auto undone = editModel(file, all);
            QVERIFY(undone);
            QCOMPARE(printGraph(*(*undone)->graph), printGraph(*(*first)->graph));
            QCOMPARE((*undone)->graph->info().edits, (*first)->graph->info().edits);
            QVERIFY2(same(run((*undone)->graph, inputs), wanted), name.c_str());
            QVERIFY2(same(run((*first)->graph, inputs), wanted), name.c_str());
        }
        QVERIFY(same(run(file, inputs), original)); // nothing was written to the file's tensors
    }
};

QTEST_GUILESS_MAIN(TestUndoneEdits)
#include "tst_undone_edits.moc"
