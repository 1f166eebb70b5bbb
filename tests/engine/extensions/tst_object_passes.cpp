// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/interpreter.h"
#include "engine/export/forms/python_objects.h"
#include "engine/export/pt2/pt2_objects.h"
#include "engine/extensions/classes/adapt_classes.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/extensions/classes/split_objects.h"
#include "tests/support/graph_text_case.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

using namespace qs;
using namespace qs::test;

namespace {

struct Box : torch::CustomClassHolder
{
    Box(at::Tensor values, std::int64_t number)
        : features(std::move(values))
        , place(number)
    {
    }
    at::Tensor features;
    std::int64_t place;
};
using BoxPtr = c10::intrusive_ptr<Box>;

BoxPtr replaced(const BoxPtr& x, const at::Tensor& features)
{
    return c10::make_intrusive<Box>(features, x->place);
}

#define BOX "__torch__.torch.classes.toys.Box"

TORCH_LIBRARY(toys, m)
{
    m.class_<Box>("Box")
        .def(torch::init<at::Tensor, std::int64_t>())
        .def("scaled_sum", [](const BoxPtr& x, double by) { return x->features.sum() * by; });
    m.def("make(Tensor x, int place) -> " BOX);
    m.def("features(" BOX " x) -> Tensor");
    m.def("replaced(" BOX " x, Tensor features) -> " BOX);
    m.def("scaled(" BOX " x, float by) -> " BOX);
    m.def("summed(" BOX " x) -> Tensor");
    m.def("listed(" BOX "[] x) -> Tensor");
}

TORCH_LIBRARY_IMPL(toys, CompositeExplicitAutograd, m)
{
    m.impl("make", [](const at::Tensor& x, std::int64_t place) {
        return c10::make_intrusive<Box>(x, place);
    });
    m.impl("features", [](const BoxPtr& x) { return x->features; });
    m.impl("replaced", &replaced);
    m.impl("scaled", [](const BoxPtr& x, double by) { return replaced(x, x->features * by); });
    m.impl("summed", [](const BoxPtr& x) { return x->features.sum() + double(x->place); });
    m.impl("listed", [](const c10::List<BoxPtr>& all) {
        at::Tensor sum = at::zeros({});
        for (std::size_t i = 0; i < all.size(); ++i) {
            const BoxPtr x = all.get(i);
            sum = sum + x->features.sum() * double(x->place);
        }
        return sum;
    });
}

const Pass kSplit("split-objects", splitObjects);
const Pass kJoin("join-objects", joinObjects);
const Pass kMethods("method-calls", withMethodCalls);
const Pass kPython("python-objects", withPythonObjects);

/// Notation with "Box" for the type of an object.
QString objects(QString text)
{
    return text.replace(": Box", ": Custom class=\"" BOX "\"");
}

at::Tensor resultOf(const QString& notation)
{
    const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3}) - 2;
    const auto graph = std::make_shared<const Graph>(GraphText().read(objects(notation)));
    return Interpreter::create(graph)->run({x})->at(0).toTensor();
}

/// Splits objects, compares, joins them again, compares, and runs all three forms.
void passes(const QString& graph, const QString& split, const QString& joined)
{
    compareTexts({kSplit, "", objects(graph), objects(split)});
    compareTexts({kJoin, "", objects(split), objects(joined)});
    QVERIFY(at::equal(resultOf(split), resultOf(graph)));
    QVERIFY(at::equal(resultOf(joined), resultOf(graph)));
}

} // namespace

class TestObjectPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        compareTexts({kSplit, "no pack knows the class yet",
                      objects("x: float32[2, 3] = input\n"
                              "b: Box = toys.make.default(x=%x, place=3)\n"
                              "return %b"),
                      ""});
        ExtensionPack pack;
        pack.name = pack.sha256 = "toys";
        pack.classes = {{"toys::Box", "features", {"toys::features"}, {"toys::replaced"}}};
        const auto adapted = adaptClasses(pack);
        QVERIFY2(adapted, adapted ? "" : adapted.error().line().c_str());
        addLoadedPack(std::make_shared<const ExtensionPack>(pack));
        QVERIFY(classMethodTarget(findForeignClass(BOX), "scaled_sum"));
    }

    void theFieldIsATensorLikeAnyOther()
    {
        passes(R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            c: Box = toys.scaled.default(x=%b, by=2.0)
            f: float32[2, 3] = toys.features.default(x=%c)
            r: float32[2, 3] = aten.relu.default(self=%f)
            d: Box = toys.replaced.default(x=%c, features=%r)
            s: float32[] = toys.summed.default(x=%d)
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b (b: unknown[...], b_rest: Box) = toys.make.parts(x=%x, place=3)
            c (c: unknown[...], c_rest: Box) = toys.scaled.parts(x=%b, x_rest=%b_rest, by=2.0)
            r: float32[2, 3] = aten.relu.default(self=%c)
            s: float32[] = toys.summed.parts(x=%r, x_rest=%c_rest)
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            c: Box = toys.scaled.default(x=%b, by=2.0)
            features_1: unknown[...] = toys.features.default(x=%c)
            r: float32[2, 3] = aten.relu.default(self=%features_1)
            replace_features: Box = toys.replaced.default(x=%c, features=%r)
            s: float32[] = toys.summed.default(x=%replace_features)
            return %s
        )");
    }

    /// An operator on a list reads whole objects, rebuilt if they were split; after joining, it
    /// reads the objects themselves.
    void listsHoldWholeObjects()
    {
        passes(R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            c: Box = toys.scaled.default(x=%b, by=2.0)
            s: float32[] = toys.listed.default(x=[%b, %c])
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b (b: unknown[...], b_rest: Box) = toys.make.parts(x=%x, place=3)
            c (c: unknown[...], c_rest: Box) = toys.scaled.parts(x=%b, x_rest=%b_rest, by=2.0)
            replace_features: Box = toys.replaced.default(x=%b_rest, features=%b)
            replace_features_1: Box = toys.replaced.default(x=%c_rest, features=%c)
            s: float32[] = toys.listed.default(x=[%replace_features, %replace_features_1])
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            c: Box = toys.scaled.default(x=%b, by=2.0)
            s: float32[] = toys.listed.default(x=[%b, %c])
            return %s
        )");
    }

    /// A field that another takes the place of is in no object that is read later.
    void oneObjectIsReadInTwoForms()
    {
        passes(R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            r: float32[2, 3] = aten.relu.default(self=%x)
            d: Box = toys.replaced.default(x=%b, features=%r)
            s: float32[] = toys.listed.default(x=[%b, %d])
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b (b: unknown[...], b_rest: Box) = toys.make.parts(x=%x, place=3)
            r: float32[2, 3] = aten.relu.default(self=%x)
            d: Box = toys.replaced.default(x=%b_rest, features=%r)
            replace_features: Box = toys.replaced.default(x=%b_rest, features=%b)
            s: float32[] = toys.listed.default(x=[%replace_features, %d])
            return %s
        )",
               R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            r: float32[2, 3] = aten.relu.default(self=%x)
            d: Box = toys.replaced.default(x=%b, features=%r)
            s: float32[] = toys.listed.default(x=[%b, %d])
            return %s
        )");
    }

    /// As torch.export calls them, and as Python does; operators are not methods.
    void methodsAreSpelled()
    {
        const auto spelled = [](const char* call) {
            return objects(QString(R"(
            x: float32[2, 3] = input
            b: Box = toys.make.default(x=%x, place=3)
            s: float32[] = %1
            t: float32[] = toys.summed.default(x=%b)
            return %s, %t
        )")
                               .replace("%1", call));
        };
        const QString graph = spelled("toys.Box_scaled_sum.default(self=%b, by=2.0)");
        compareTexts({kMethods, "", graph,
                      spelled("higher_order.call_torchbind(=%b, =\"scaled_sum\", =2.0)")});
        compareTexts(
            {kPython, "", graph, spelled("torch.classes.toys.Box.scaled_sum(self=%b, by=2.0)")});
    }

    void graphsWithoutObjectsStayThemselves()
    {
        const auto graph = std::make_shared<const Graph>(GraphText().read(R"(
            x: float32[2, 3] = input
            r: float32[2, 3] = aten.relu.default(self=%x)
            return %r
        )"));
        for (const Pass& pass : {kSplit, kJoin})
            QCOMPARE(*pass.run(graph, {}), graph);
    }
};

QTEST_GUILESS_MAIN(TestObjectPasses)
#include "tst_object_passes.moc"
