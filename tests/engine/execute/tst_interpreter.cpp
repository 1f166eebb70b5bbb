// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/goes_on.h"
#include "engine/execute/control/scalar_ops.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/code/code_printer.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/importer.h"

#include <QtTest/QtTest>

#include <limits>
#include <set>

using namespace qs;

namespace {

const std::string kFolder = QS_BINARY_DIR "/tests/models/";

GraphPtr opened(const std::string& name)
{
    auto graph = importModel(kFolder + name + ".pt2");
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return *graph;
}

Interpreter runnerFor(GraphPtr graph)
{
    return *Interpreter::create(std::move(graph));
}

/// A graph from its text, with the given tensors as keys 1, 2, ...
GraphPtr parsed(const std::string& text, const std::vector<at::Tensor>& tensors = {})
{
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    auto store = std::make_shared<TensorStore>();
    for (const auto& tensor : tensors)
        store->add(tensor);
    GraphEdit edit(*graph);
    edit.setTensors(store);
    return std::make_shared<const Graph>(edit.build());
}

at::Tensor onlyTensor(const Result<std::vector<at::IValue>>& outputs)
{
    if (!outputs)
        qFatal("%s", outputs.error().line().c_str());
    return outputs->at(0).toTensor();
}

} // namespace

class TestInterpreter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void tapSeesEveryInputAndOperator()
    {
        const GraphPtr graph = opened("lists");
        const auto inputs = *readSampleInputs(*graph);
        std::vector<std::string> seen;
        const Tap tap
            = [&](ValueRef ref, const Node& node, const at::IValue& value) -> Result<void> {
            if (value.isTensor() && node.outputs[ref.index].type.kind == ValueKind::Tensor)
                seen.push_back(node.outputs[ref.index].name);
            return {};
        };
        QVERIFY(runnerFor(graph).run(inputs, tap));
        std::vector<std::string> wanted;
        for (const auto& node : graph->nodes())
            if (node->kind == NodeKind::Input || node->kind == NodeKind::Op)
                for (const auto& value : node->outputs)
                    wanted.push_back(value.name);
        QVERIFY(seen == wanted);
        QVERIFY(wanted.size() > 10);
    }
    void aTapMayStopTheRun()
    {
        const GraphPtr graph = opened("lists");
        const Tap tap = [&](ValueRef, const Node& node, const at::IValue&) -> Result<void> {
            if (node.kind == NodeKind::Op)
                return fail(makeError(ErrorCode::Numeric, "NaN").atNode(node.name));
            return {};
        };
        const auto outputs = runnerFor(graph).run(*readSampleInputs(*graph), tap);
        QVERIFY(!outputs);
        QVERIFY(outputs.error().code == ErrorCode::Numeric);
    }
    void cancelStopsWithinANode()
    {
        const GraphPtr graph = opened("lists");
        std::stop_source source;
        const JobContext job(source.get_token());
        int after = 0;
        const Tap tap = [&](ValueRef, const Node& node, const at::IValue&) -> Result<void> {
            if (source.stop_requested() && node.outputs.size() == 1)
                ++after;
            if (node.kind == NodeKind::Op)
                source.request_stop();
            return {};
        };
        const auto outputs = runnerFor(graph).run(*readSampleInputs(*graph), tap, job);
        QVERIFY(!outputs);
        QVERIFY(outputs.error().code == ErrorCode::Cancelled);
        QCOMPARE(after, 0);
        // The error names the node; never the end of a body, which the user does not know.
        QCOMPARE(checkGoesOn(job, *graph->inputs().at(0)).error().node, graph->inputs()[0]->name);
        QCOMPARE(checkGoesOn(job, graph->output()).error().node, std::string());
    }
    void valuesDieAfterTheirLastReader()
    {
        // A chain keeps two values alive at most, however long it is.
        const GraphPtr graph = opened("resnet18");
        const Interpreter runner = runnerFor(graph);
        std::set<ValueRef> alive;
        std::size_t most = 0;
        for (std::size_t i = 0; i < graph->nodes().size(); ++i) {
            const Node& node = *graph->nodes()[i];
            if (node.kind != NodeKind::Op && node.kind != NodeKind::Input)
                continue;
            for (const auto& arg : node.args)
                forEachRef(arg.value, [&](ValueRef ref) {
                    QVERIFY(runner.isConstant(ref) || alive.contains(ref));
                });
            for (std::uint32_t k = 0; k < node.outputs.size(); ++k)
                alive.insert({node.id, k});
            most = std::max(most, alive.size());
            for (const ValueRef& ref : runner.deadAfter(i))
                alive.erase(ref);
        }
        QVERIFY2(most <= 4, std::to_string(most).c_str());
        QCOMPARE(alive.size(), std::size_t(1)); // the output
    }
    void tensorsAreFreedDuringTheRun()
    {
        const GraphPtr graph = opened("resnet18");
        std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> seen;
        std::size_t most = 0;
        const Tap tap = [&](ValueRef, const Node&, const at::IValue& value) -> Result<void> {
            seen.emplace_back(value.toTensor().getIntrusivePtr());
            std::set<const void*> alive; // a value written over another is the same tensor
            for (const auto& one : seen)
                if (const auto held = one.lock())
                    alive.insert(held.get());
            most = std::max(most, alive.size());
            return {};
        };
        QVERIFY(runnerFor(graph).run(*readSampleInputs(*graph), tap));
        QVERIFY2(most <= 5, std::to_string(most).c_str());
        QVERIFY(seen.size() > 60);
    }
    void evaluateFromAnyCut()
    {
        const GraphPtr graph = opened("resnet18");
        const Interpreter runner = runnerFor(graph);
        const auto inputs = *readSampleInputs(*graph);
        std::map<ValueRef, at::Tensor> values;
        const Tap tap = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            values[ref] = value.toTensor();
            return {};
        };
        const at::Tensor expected = onlyTensor(runner.run(inputs, tap));
        const ValueRef result = *graph->output().args[0].value.asRef();
        for (const char* name : {"max_pool2d", "add_", "add__3", "relu__9"}) {
            const Node* cut = graph->tryFind(name);
            QVERIFY2(cut, name);
            // A residual block's cut: what crosses it is in the frame.
            Frame frame;
            const std::size_t at = graph->position(cut->id);
            for (const auto& [ref, value] : values)
                if (graph->position(ref.node) <= at)
                    frame.set(ref, value);
            const std::size_t before = frame.size();
            const std::vector<ValueRef> wanted {result};
            const auto done = runner.evaluate(frame, wanted);
            QVERIFY2(done, done ? "" : done.error().line().c_str());
            QVERIFY(at::equal(frame.get(result).toTensor(), expected));
            QCOMPARE(frame.size(), before + 1); // nothing else stays in the frame
        }
        Frame empty;
        const std::vector<ValueRef> wanted {result};
        const auto done = runner.evaluate(empty, wanted);
        QVERIFY(!done);
        QCOMPARE(done.error().node, graph->inputs()[0]->name);
    }
    void constantsAreFoldedOnce()
    {
        const GraphPtr graph
            = parsed("%x #1 = input \"x\" () -> (x: float32[2, 2])\n"
                     "%w #2 = parameter \"w\" () -> (w: float32[2, 2]) tensor=1\n"
                     "%t #3 = op \"aten.t.default\" (self=%w) -> (t: float32[2, 2])\n"
                     "%r #4 = op \"aten.rand_like.default\" (self=%w) -> (r: float32[2, 2])\n"
                     "%m #5 = op \"aten.mm.default\" (self=%x, mat2=%t) -> (m: float32[2, 2])\n"
                     "%s #6 = op \"aten.add.Tensor\" (self=%m, other=%r) -> (s: float32[2, 2])\n"
                     "%output #7 = output \"\" (\"\"=%s) -> ()\n",
                     {at::eye(2) * 3});
        const Interpreter runner = runnerFor(graph);
        QVERIFY(runner.isConstant({NodeId(3), 0}));
        QVERIFY(!runner.isConstant({NodeId(4), 0})); // random: not the same twice
        QVERIFY(!runner.isConstant({NodeId(5), 0}));
        const auto first = runner.constant({NodeId(3), 0});
        const auto second = runner.constant({NodeId(3), 0});
        QVERIFY(first && second);
        QVERIFY(first->toTensor().is_same(second->toTensor()));
        QVERIFY(!runner.constant({NodeId(5), 0}));
        QVERIFY(runner.run({at::ones({2, 2})}));
    }
    void argumentsFitTheirSlots()
    {
        // Integers for floats and scalars, one number for int[2], numbers for tensors, defaults.
        const GraphPtr graph = parsed(
            "%x #1 = input \"x\" () -> (x: float16[2, 3, 8, 8])\n"
            "%a #2 = op \"aten.add.Tensor\" (self=%x, other=2.5, alpha=2) -> (a: float16[...])\n"
            "%n #3 = op \"aten.sym_size.int\" (self=%a, dim=0) -> (n: SymInt)\n"
            "%b #4 = op \"aten.mul.Tensor\" (self=%a, other=%n) -> (b: float16[...])\n"
            "%c #5 = op \"aten.clamp.default\" (self=%b, min=None, max=9) -> (c: float16[...])\n"
            "%d #6 = op \"aten.to.dtype\" (self=%c, dtype=dtype(float32)) -> (d: float32[...])\n"
            "%e #7 = op \"aten.avg_pool2d.default\" (self=%d, kernel_size=2) -> (e: float32[...])\n"
            "%f #8 = op \"aten.full.default\" (size=[%n, 3, 4, 4], fill_value=1) -> (f: "
            "float32[...])\n"
            "%g #9 = op \"aten.sub.Tensor\" (self=%e, other=%f) -> (g: float32[...])\n"
            "%output #10 = output \"\" (\"\"=%g) -> ()\n");
        const at::Tensor x = at::randn({2, 3, 8, 8}).to(at::kHalf);
        const at::Tensor wanted
            = at::avg_pool2d(at::clamp((x + 5.0) * 2, {}, 9).to(at::kFloat), {2, 2}) - 1;
        const at::Tensor got = onlyTensor(runnerFor(graph).run({x}));
        QVERIFY(at::equal(got, wanted)); // a float16 result would differ: numbers do not widen
    }
    void observersPassValuesThrough()
    {
        const GraphPtr graph
            = parsed("%x #1 = input \"x\" () -> (x: float32[2])\n"
                     "%o #2 = op \"quantscope.observe.default\" (input=%x) -> (o: float32[2])\n"
                     "%output #3 = output \"\" (\"\"=%o) -> ()\n");
        const at::Tensor x = at::ones({2});
        QVERIFY(onlyTensor(runnerFor(graph).run({x})).is_same(x));
    }
    void errorsNameTheNode()
    {
        const auto graphWith = [](const std::string& fact) {
            return parsed("%x #1 = input \"x\" () -> (x: float32[2])\n%bad #2 = op "
                          "\"aten.view.default\" (self=%x, size=[3]) -> (bad: float32[3])"
                          + fact + "\n%output #3 = output \"\" (\"\"=%bad) -> ()\n");
        };
        const GraphPtr graph = graphWith("");
        const auto outputs = runnerFor(graph).run({at::ones({2})});
        QVERIFY(!outputs);
        QCOMPARE(outputs.error().node, std::string("bad"));
        QVERIFY(outputs.error().line().find('\n') == std::string::npos);
        // One that conversion made: its name may be that of another node of the float model.
        const auto converted = runnerFor(graphWith(" origin=7")).run({at::ones({2})});
        QVERIFY(!converted);
        QCOMPARE(converted.error().node, std::string("bad of the converted model"));
        const auto none = runnerFor(graph).run({});
        QVERIFY(!none);
        QVERIFY(none.error().message.find("takes 1 input,") != std::string::npos);
    }
    void memoryIsReusedWhereNobodySeesIt()
    {
        const GraphPtr graph = parsed(
            "%x #1 = input \"x\" () -> (x: float32[64])\n"
            "%k #2 = op \"aten.relu.default\" (self=%x) -> (k: float32[64])\n"
            "%a #3 = op \"aten.sub.Tensor\" (self=%x, other=1) -> (a: float32[64])\n"
            "%r #4 = op \"aten.relu.default\" (self=%a) -> (r: float32[64])\n"
            "%m #5 = op \"aten.mul.Tensor\" (self=%a, other=%r) -> (m: float32[64])\n"
            "%v #6 = op \"aten.view.default\" (self=%m, size=[8, 8]) -> (v: float32[8, 8])\n"
            "%h #7 = op \"aten.hardtanh.default\" (self=%m, min_val=0, max_val=0.5) -> (h: "
            "float32[64])\n"
            "%f #8 = op \"aten.view.default\" (self=%v, size=[64]) -> (f: float32[64])\n"
            "%s #9 = op \"aten.add.Tensor\" (self=%f, other=%h) -> (s: float32[64])\n"
            "%c #10 = op \"aten.clamp.default\" (self=%s, min=-1, max=1) -> (c: float32[64])\n"
            "%t #11 = op \"aten.add.Tensor\" (self=%c, other=%k) -> (t: float32[64])\n"
            "%output #12 = output \"\" (\"\"=%t) -> ()\n");
        const at::Tensor x = at::randn({64});
        const at::Tensor kept = x.clone();
        const at::Tensor a = x - 1, m = a * at::relu(a);
        const at::Tensor wanted = at::clamp(m + at::hardtanh(m, 0, 0.5), -1, 1) + at::relu(x);
        QVERIFY(at::equal(onlyTensor(runnerFor(graph).run({x})), wanted));
        QVERIFY(at::equal(x, kept));
    }
    void pairsWithoutObserverAreOnePass()
    {
        const std::string numbers
            = "scale=0.03, zero_point=7, quant_min=0, quant_max=255, dtype=dtype(uint8)";
        const GraphPtr graph = parsed(
            "%x #1 = input \"x\" () -> (x: float32[1000])\n"
            "%a #2 = op \"aten.sub.Tensor\" (self=%x, other=1) -> (a: float32[1000])\n"
            "%q #3 = op \"quantized_decomposed.quantize_per_tensor.default\" (input=%a, "
            + numbers
            + ") -> (q: uint8[1000])\n"
              "%d #4 = op \"quantized_decomposed.dequantize_per_tensor.default\" (input=%q, "
            + numbers
            + ") -> (d: float32[1000])\n"
              "%output #5 = output \"\" (\"\"=%d) -> ()\n");
        const at::Tensor x = 3 * at::randn({1000});
        bool integers = false;
        const Tap tap = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            integers = integers
                || (ref.node == NodeId(3) && value.toTensor().scalar_type() == at::kByte);
            return {};
        };
        const at::Tensor observed = onlyTensor(runnerFor(graph).run({x}, tap));
        QVERIFY(integers); // who looks sees them
        QVERIFY(at::equal(onlyTensor(runnerFor(graph).run({x})), observed));
    }
    void channelsLastChangesNoValue()
    {
        const std::string body
            = "%x #1 = input \"x\" () -> (x: float32[2, 3, 8, 8])\n"
              "%w #2 = parameter \"w\" () -> (w: float32[6, 3, 3, 3]) tensor=1\n"
              "%c #3 = op \"aten.conv2d.default\" (input=%x, weight=%w) -> (c: float32[2, 6, 6, "
              "6])\n";
        const GraphPtr graph
            = parsed(body
                         + "%v #4 = op \"aten.view.default\" (self=%c, size=[2, 216]) -> (v: "
                           "float32[2, 216])\n"
                           "%output #5 = output \"\" (\"\"=%v) -> ()\n",
                     {at::randn({6, 3, 3, 3})});
        QVERIFY(fastLayout(*graph) == Layout::ChannelsLast);
        const at::Tensor x = at::randn({2, 3, 8, 8});
        const auto fast = Interpreter::create(graph, {.layout = Layout::ChannelsLast});
        const at::Tensor made = onlyTensor(fast->run({x}));
        QVERIFY(at::allclose(made, onlyTensor(runnerFor(graph).run({x})), 1e-4, 1e-5));
        // Strides that are looked at must be the ones PyTorch would see.
        const GraphPtr strided = parsed(
            body
                + "%v #4 = op \"aten.as_strided.default\" (self=%c, size=[2], stride=[1]) -> (v: "
                  "float32[2])\n"
                  "%output #5 = output \"\" (\"\"=%v) -> ()\n",
            {at::randn({6, 3, 3, 3})});
        QVERIFY(fastLayout(*strided) == Layout::AsGiven);
    }
    void scalarOperatorsFollowPython()
    {
        const auto run = [](const char* target, const std::vector<at::IValue>& args) {
            auto value = runScalarOp(target, args);
            return value ? *value : at::IValue();
        };
        QCOMPARE(run("_operator.floordiv", {-7, 2}).toInt(), -4);
        QCOMPARE(run("_operator.mod", {-7, 2}).toInt(), 1);
        QCOMPARE(run("_operator.mod", {7, -2}).toInt(), -1);
        QCOMPARE(run("_operator.truediv", {7, 2}).toDouble(), 3.5);
        QCOMPARE(run("_operator.mul", {3, 1.5}).toDouble(), 4.5);
        QCOMPARE(run("_operator.pow", {2, 10}).toInt(), 1024);
        QCOMPARE(run("torch.sym_max", {2, 10}).toInt(), 10);
        QCOMPARE(run("torch.sym_float", {2}).toDouble(), 2.0);
        QCOMPARE(run("builtins.round", {2.5}).toInt(), 2);
        QCOMPARE(run("math.ceil", {2.1}).toInt(), 3);
        QVERIFY(run("_operator.ge", {2, 2}).toBool());
        QVERIFY(run("_operator.and_", {true, true}).toBool());
        QCOMPARE(run("torch.sym_sum", {c10::List<std::int64_t>({1, 2, 3})}).toInt(), 6);
        const std::int64_t large = std::numeric_limits<std::int64_t>::max();
        QVERIFY(run("_operator.mul", {large, 2}).isNone());
        QVERIFY(run("_operator.floordiv", {1, 0}).isNone());
        QVERIFY(run("_operator.truediv", {1, 0}).isNone());
        QVERIFY(run("_operator.pow", {1, large}).toInt() == 1);
        QVERIFY(!isScalarOp("aten.mul.Tensor"));
        QVERIFY(!isScalarOp("_operator.getitem"));
    }
    void realGraphsSurviveTheTextForm_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"resnet18", "shapes", "structured", "branch", "mixed", "through_views", "attention"})
            QTest::newRow(name) << name;
    }
    void realGraphsSurviveTheTextForm()
    {
        QFETCH(QString, name);
        const GraphPtr graph = opened(name.toStdString());
        const std::string text = printGraph(*graph);
        const auto read = parseGraph(text);
        QVERIFY2(read, read ? "" : read.error().line().c_str());
        QVERIFY(printGraph(*read) == text);
        QCOMPARE(printCode(*read), printCode(*graph));
        // With the weights put back it runs to the same values.
        GraphEdit edit(*read);
        edit.setTensors(graph->tensors());
        const auto again = std::make_shared<const Graph>(edit.build());
        const auto inputs = *readSampleInputs(*graph);
        const auto wanted = runnerFor(graph).run(inputs), got = runnerFor(again).run(inputs);
        QVERIFY2(wanted, wanted ? "" : wanted.error().line().c_str());
        QVERIFY2(got, got ? "" : got.error().line().c_str());
        for (std::size_t i = 0; i < wanted->size(); ++i)
            QVERIFY((*wanted)[i].isTensor()
                    && at::equal((*wanted)[i].toTensor(), (*got)[i].toTensor()));
    }
};

QTEST_GUILESS_MAIN(TestInterpreter)
#include "tst_interpreter.moc"
