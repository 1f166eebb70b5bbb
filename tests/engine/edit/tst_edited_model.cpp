// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/edited_model.h"
#include "engine/edit/operator_catalog.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/graph/text/size_expression.h"
#include "tests/engine/edit/edit_runs.h"

#include <QtTest>

#include <random>

using namespace qs;
using namespace qs::test;

namespace {

/// Edits that leave shapes as they are, and some that do not fit everywhere.
class RandomEdits
{
public:
    explicit RandomEdits(unsigned seed)
        : m_random(seed)
    {
    }

    EditStep next(const EditedModel& model)
    {
        const auto nodes = model.graph->nodes();
        std::vector<const Node*> operators;
        for (const NodePtr& node : nodes)
            if (node->isOperator())
                operators.push_back(node.get());
        const Node& node = *operators[pick(operators.size())];
        const Node& other = *operators[pick(operators.size())];
        EditStep step;
        step.at = model.addresses->of({node.id, 0});
        step.name = "edit" + std::to_string(++m_count);
        switch (pick(8)) {
        case 0:
            step.op = "aten.relu.default";
            break;
        case 1:
            step.op = "aten.clamp.default";
            step.json = R"({"min":-1,"max":1.5})";
            break;
        case 2:
            step.op = "aten.flatten.using_ints"; // changes shapes, fits sometimes
            step.json = R"({"start_dim":1})";
            break;
        case 3:
            step.kind = EditKind::Remove;
            break;
        case 4:
            step.kind = EditKind::Rewire;
            for (const NamedArgument& argument : node.args)
                if (argument.value.asRef())
                    step.argument = argument.name;
            step.to = model.addresses->of({other.id, 0});
            break;
        case 5:
            step.kind = EditKind::Replace;
            step.op = "aten.sigmoid.default";
            break;
        case 6:
            step.kind = EditKind::Rename;
            break;
        default:
            step.kind = EditKind::AddOutput;
            break;
        }
        return step;
    }

private:
    std::size_t pick(std::size_t count) { return m_random() % count; }

    std::mt19937 m_random;
    int m_count = 0;
};

} // namespace

/// A graph after any edits: sound, with the types that running it shows, and the file's own again
/// without them.
class TestEditedModel : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_file;

    /// Every shape and element type is what a run of this batch shows.
    void checkTypes(const GraphPtr& graph, std::int64_t batch)
    {
        std::map<std::string, std::int64_t> symbols;
        for (const Node* input : graph->inputs())
            for (const Dim& dim : input->outputs[0].type.shape)
                if (dim.isSymbolic())
                    symbols[dim.symbol] = batch;
        auto interpreter = Interpreter::create(graph);
        QVERIFY(interpreter);
        std::string wrong;
        const Tap tap
            = [&](ValueRef ref, const Node& node, const at::IValue& value) -> Result<void> {
            const ValueType& type = graph->value(ref).type;
            if (!value.isTensor() || !value.toTensor().defined())
                return {};
            const at::Tensor& tensor = value.toTensor();
            bool same = type.shapeKnown && type.dtype == fromScalarType(tensor.scalar_type())
                && std::int64_t(type.shape.size()) == tensor.dim();
            for (std::size_t i = 0; same && i < type.shape.size(); ++i) {
                const Dim& dim = type.shape[i];
                const auto size = dim.isSymbolic() ? evaluateSize(dim.symbol, symbols)
                                                   : std::optional(dim.size);
                same = size == tensor.size(std::int64_t(i));
            }
            if (!same)
                wrong = node.name + " (" + node.target + "): inferred " + type.text() + ", is "
                    + c10::str(tensor.sizes());
            return {};
        };
        const auto ran = interpreter->run(inputsOf(*graph, batch), tap);
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY2(ran, ran ? "" : ran.error().line().c_str());
    }

private Q_SLOTS:
    void initTestCase() { m_file = openModel("digits"); }

    void randomEditsKeepTheGraphSound_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<unsigned>("seed");
        for (const unsigned seed : {1u, 2u, 3u, 4u})
            QTest::addRow("digits %u", seed) << "digits" << seed;
        QTest::addRow("resnet18") << "resnet18" << 5u;
        QTest::addRow("transformer") << "attention" << 6u;
    }

    void randomEditsKeepTheGraphSound()
    {
        QFETCH(QString, model);
        QFETCH(unsigned, seed);
        const GraphPtr file = openModel(model.toStdString());
        // A whole journal again at every undo takes its time on a large model: at some of them.
        const int again = model == QStringLiteral("resnet18") ? 50 : 5;
        RandomEdits random(seed);
        std::vector<EditStep> steps;
        std::vector<EditedModelPtr> history {*editModel(file, {})};
        std::vector<std::string> texts {printGraph(*file)};
        int done = 0, refused = 0;
        for (int i = 0; i < 200; ++i) {
            if (i % 5 == 4 && !steps.empty()) { // an undo: the model before, to the letter
                steps.pop_back();
                history.pop_back();
                texts.pop_back();
                if (i % again == again - 1) {
                    const auto whole = editModel(file, steps);
                    QVERIFY(whole);
                    QCOMPARE(printGraph(*(*whole)->graph), texts.back());
                }
                continue;
            }
            steps.push_back(random.next(*history.back()));
            const auto edited = editFurther(history.back(), steps);
            QVERIFY(edited);
            const std::string& problem = (*edited)->outcomes.back().problem;
            (problem.empty() ? done : refused) += 1;
            QVERIFY2(problem.find('\n') == std::string::npos
                         && problem.find("c10") == std::string::npos,
                     problem.c_str());
            if (!problem.empty()) // refused whole
                QCOMPARE(printGraph(*(*edited)->graph), texts.back());
            QVERIFY(verifyGraph(*(*edited)->graph));
            history.push_back(*edited);
            texts.push_back(printGraph(*(*edited)->graph));
            if (i % 10 == 0) {
                checkTypes((*edited)->graph, 3);
                checkTypes((*edited)->graph, 5);
                if (QTest::currentTestFailed())
                    return;
            }
        }
        QVERIFY2(done > 60 && refused > 10, qPrintable(QString("%1 %2").arg(done).arg(refused)));
        // The journal from scratch gives what step by step gave.
        const auto whole = editModel(file, steps);
        QVERIFY(whole);
        QCOMPARE(printGraph(*(*whole)->graph), texts.back());
    }

    void addressesNameTheSameNodeAfterRemovals()
    {
        const auto plain = editModel(m_file, {});
        QVERIFY(plain);
        for (const NodePtr& node : m_file->nodes()) {
            if (node->kind == NodeKind::Output)
                continue;
            const ValueAddress address = (*plain)->addresses->of({node->id, 0});
            const auto found = (*plain)->addresses->find(address);
            QVERIFY2(found && *found == node->id, node->name.c_str());
        }
    }

    void theCatalogOffersWhatAnEditTakes()
    {
        const auto& targets = operatorTargets();
        QVERIFY(targets.size() > 500);
        const auto has = [&](const char* name) {
            return std::find(targets.begin(), targets.end(), name) != targets.end();
        };
        QVERIFY(has("aten.relu.default") && has("aten.clamp.default") && has("aten.add.Tensor"));
        QVERIFY(!has("aten.relu_.default") && !has("aten.from_file.default"));
        const auto schema = operatorSchema("aten.hardtanh.default");
        QVERIFY(schema);
        QCOMPARE(schema->arguments.size(), std::size_t(3));
        QVERIFY(schema->arguments[0].isTensor && schema->arguments[0].isNeeded());
        QCOMPARE(schema->arguments[1].defaultJson, std::string("-1"));
        QVERIFY(!operatorSchema("aten.hardtan.default"));
    }
};

QTEST_GUILESS_MAIN(TestEditedModel)
#include "tst_edited_model.moc"
