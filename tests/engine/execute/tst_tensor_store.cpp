// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

class TestTensorStore : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// Everybody who has a derived tensor has the same one; when nobody has it, it is gone.
    void derivedTensorsLiveWithTheirUsers()
    {
        TensorStore store;
        int made = 0;
        const TensorId id = store.addDerived(
            [&made]() -> Result<at::IValue> {
                ++made;
                return at::IValue(at::full({3}, 7.0));
            },
            12);
        QCOMPARE(made, 0);
        QCOMPARE(store.bytes(id), std::uint64_t(12));
        {
            const auto first = store.getTensor(id);
            const auto second = store.getTensor(id);
            QVERIFY(first && second);
            QVERIFY(first->is_same(*second));
            QCOMPARE(made, 1);
        }
        const auto again = store.getTensor(id);
        QVERIFY(again);
        QCOMPARE(again->sum().item<double>(), 21.0);
        QCOMPARE(made, 2);
    }

    void aDerivedTensorThatFailsMayBeAskedForAgain()
    {
        TensorStore store;
        bool works = false;
        const TensorId id = store.addDerived(
            [&works]() -> Result<at::IValue> {
                if (!works)
                    return fail(ErrorCode::BadInput, "not now");
                return at::IValue(at::ones({1}));
            },
            4);
        QVERIFY(!store.get(id));
        works = true;
        QVERIFY(store.get(id).has_value());
    }

    /// What a graph reads in each run is made once for all of them; what only makes a constant is
    /// not kept beside it.
    void aRunnerKeepsWhatItsRunsRead()
    {
        auto graph = parseGraph(
            "%x #1 = input \"x\" () -> (x: float32[2, 2])\n"
            "%w #2 = parameter \"w\" () -> (w: float32[2, 2]) tensor=1\n"
            "%v #3 = parameter \"v\" () -> (v: float32[2, 2]) tensor=2\n"
            "%t #4 = op \"aten.t.default\" (self=%v) -> (t: float32[2, 2])\n"
            "%c #5 = op \"aten.neg.default\" (self=%t) -> (c: float32[2, 2])\n"
            "%m #6 = op \"aten.mm.default\" (self=%x, mat2=%w) -> (m: float32[2, 2])\n"
            "%s #7 = op \"aten.add.Tensor\" (self=%m, other=%c) -> (s: float32[2, 2])\n"
            "%output #8 = output \"\" (\"\"=%s) -> ()\n");
        QVERIFY(graph);
        int madeW = 0, madeV = 0;
        auto store = std::make_shared<TensorStore>();
        store->addDerived([&]() -> Result<at::IValue> { return ++madeW, at::eye(2) * 3; }, 16);
        store->addDerived([&]() -> Result<at::IValue> { return ++madeV, at::ones({2, 2}); }, 16);
        GraphEdit edit(*graph);
        edit.setTensors(store);
        const auto runner = Interpreter::create(std::make_shared<const Graph>(edit.build()));
        QVERIFY(runner);
        for (int run = 0; run < 3; ++run) {
            const auto out = runner->run({at::ones({2, 2})});
            QVERIFY(out);
            QVERIFY(at::equal(out->at(0).toTensor(), at::full({2, 2}, 2.0)));
        }
        QCOMPARE(madeW, 1);
        QCOMPARE(madeV, 1);
        QVERIFY(store->get(TensorId(1)) && store->get(TensorId(2)));
        QCOMPARE(madeW, 1); // the runner has it
        QCOMPARE(madeV, 2); // nobody had it
    }
};

QTEST_GUILESS_MAIN(TestTensorStore)
#include "tst_tensor_store.moc"
