// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

at::Tensor number(float value)
{
    return at::full({1}, value);
}

float read(const TensorStore& store, TensorId id)
{
    const auto tensor = store.getTensor(id);
    return tensor ? tensor->item<float>() : -1;
}

} // namespace

class TestTensorStore : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// All users of a derived tensor share it; it is freed with its last user.
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
        QCOMPARE(madeV, 2); // it had no user
    }

    void aStoreOverAnotherAddsItsOwn()
    {
        const auto model = std::make_shared<TensorStore>();
        const TensorId weight = model->add(number(1));
        const auto first = TensorStore::over(model);
        const auto second = TensorStore::over(model);
        const TensorId a = first->add(number(2)), b = second->add(number(3));
        // Siblings give the same ids: what is made from a model does not depend on what was made
        // before.
        QCOMPARE(a, b);
        QCOMPARE(read(*first, weight), 1.0f);
        QCOMPARE(read(*first, a), 2.0f);
        QCOMPARE(read(*second, b), 3.0f);
        QCOMPARE(model->size(), std::size_t(1));
        QCOMPARE(first->size(), std::size_t(2));
        QCOMPARE(first->bytes(weight) + first->bytes(a), std::uint64_t(8));
        // A third storey, and what is added below afterwards is not seen above.
        const auto third = TensorStore::over(first);
        const TensorId c = third->add(number(4));
        model->add(number(9));
        QCOMPARE(read(*third, weight), 1.0f);
        QCOMPARE(read(*third, a), 2.0f);
        QCOMPARE(read(*third, c), 4.0f);
        QVERIFY(!third->get(TensorId(c.value() + 1)));
        QVERIFY(!third->get(TensorId()));
        QCOMPARE(third->bytes(TensorId(c.value() + 1)), std::uint64_t(0));
    }

    void itsValuesLeaveWithIt()
    {
        const auto model = std::make_shared<TensorStore>();
        model->add(number(1));
        at::Tensor held = number(2);
        {
            const auto made = TensorStore::over(model);
            made->add(held);
            QCOMPARE(held.use_count(), std::size_t(2));
        }
        QCOMPARE(held.use_count(), std::size_t(1));
    }

    void aLazyValueIsReadOnceHoweverManyStand()
    {
        int reads = 0;
        const auto model = std::make_shared<TensorStore>();
        const TensorId lazy = model->addLazy(
            [&reads]() -> Result<at::IValue> {
                ++reads;
                return at::IValue(number(5));
            },
            4);
        QCOMPARE(read(*TensorStore::over(model), lazy), 5.0f);
        QCOMPARE(read(*TensorStore::over(model), lazy), 5.0f);
        QCOMPARE(reads, 1);
    }

    void nothingOverNothing() { QVERIFY(!TensorStore::over(nullptr)); }
};

QTEST_GUILESS_MAIN(TestTensorStore)
#include "tst_tensor_store.moc"
