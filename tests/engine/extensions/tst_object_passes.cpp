// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/extensions/classes/adapt_classes.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/extensions/classes/split_objects.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

using namespace qs;

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
    m.class_<Box>("Box").def(torch::init<at::Tensor, std::int64_t>());
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
        for (const BoxPtr& x : all)
            sum = sum + x->features.sum() * double(x->place);
        return sum;
    });
}

/// "%c", "[%b, %c]", "2".
std::string argumentText(const Graph& graph, const Argument& argument)
{
    if (const ValueRef* ref = argument.asRef())
        return "%" + graph.value(*ref).name;
    if (const Argument::List* list = argument.asList()) {
        std::string text;
        for (const Argument& item : *list)
            text += (text.empty() ? "" : ", ") + argumentText(graph, item);
        return "[" + text + "]";
    }
    if (const std::int64_t* number = argument.asInt())
        return std::to_string(*number);
    const double* number = argument.asDouble();
    return number ? QString::number(*number).toStdString() : "";
}

/// One call a line: "r = aten.relu.default(self=%c)".
QStringList linesOf(const Graph& graph)
{
    QStringList lines;
    for (const NodePtr& node : graph.nodes()) {
        if (node->kind == NodeKind::Input)
            continue;
        std::string results, args;
        for (const Value& value : node->outputs)
            results += (results.empty() ? "" : ", ") + value.name;
        for (const NamedArgument& argument : node->args)
            args += (args.empty() ? "" : ", ") + argument.name + (argument.name.empty() ? "" : "=")
                + argumentText(graph, argument.value);
        lines << QString::fromStdString(node->kind == NodeKind::Output
                                            ? "return " + args
                                            : results + " = " + node->target + "(" + args + ")");
    }
    return lines;
}

const std::string kBox = "Custom class=\"" BOX "\"";

/// A graph of one tensor `x` with these lines.
GraphPtr parsed(const std::string& lines)
{
    auto graph
        = parseGraph("graph name=\"t\" format=\"text\" producer=\"\" sha256=\"\" inputs=\"\" "
                     "outputs=\"\" converted=0 next=100\n%x #1 = input \"x\" () -> (x: float32[2, "
                     "3])\n"
                     + lines);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    GraphEdit edit(*graph);
    edit.setTensors(std::make_shared<TensorStore>());
    return std::make_shared<const Graph>(edit.build());
}

std::string op(const std::string& name, int id, const std::string& target, const std::string& args,
               const std::string& type)
{
    return "%" + name + " #" + std::to_string(id) + " = op \"" + target + "\" (" + args + ") -> ("
        + name + ": " + type + ")\n";
}

GraphPtr unwrapped(Result<GraphPtr> graph)
{
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return *graph;
}

at::Tensor resultOf(const GraphPtr& graph)
{
    const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3}) - 2;
    return Interpreter::create(graph)->run({x})->at(0).toTensor();
}

/// Takes objects apart, compares, joins them again, compares, and runs all three forms.
void passes(const GraphPtr& graph, const QStringList& split, const QStringList& joined)
{
    const GraphPtr apart = unwrapped(splitObjects(graph));
    QCOMPARE(linesOf(*apart), split);
    const GraphPtr whole = unwrapped(joinObjects(apart));
    QCOMPARE(linesOf(*whole), joined);
    QVERIFY(at::equal(resultOf(apart), resultOf(graph)));
    QVERIFY(at::equal(resultOf(whole), resultOf(graph)));
}

const std::string kMade = op("b", 2, "toys.make.default", "x=%x, place=3", kBox);
const std::string kScaled = op("c", 3, "toys.scaled.default", "x=%b, by=2.0", kBox);

} // namespace

class TestObjectPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QCOMPARE(
            unwrapped(splitObjects(parsed(kMade + "%output #9 = output \"\" (\"\"=%x) -> ()\n")))
                ->nodes()
                .size(),
            std::size_t(3)); // no pack knows the class yet
        ExtensionPack pack;
        pack.name = pack.sha256 = "toys";
        pack.classes = {{"toys::Box", "features", {"toys::features"}, {"toys::replaced"}}};
        const auto adapted = adaptClasses(pack);
        QVERIFY2(adapted, adapted ? "" : adapted.error().line().c_str());
        addLoadedPack(std::make_shared<const ExtensionPack>(pack));
    }

    void theFieldIsATensorLikeAnyOther()
    {
        passes(parsed(kMade + kScaled + op("f", 4, "toys.features.default", "x=%c", "float32[2, 3]")
                      + op("r", 5, "aten.relu.default", "self=%f", "float32[2, 3]")
                      + op("d", 6, "toys.replaced.default", "x=%c, features=%r", kBox)
                      + op("s", 7, "toys.summed.default", "x=%d", "float32[]")
                      + "%output #9 = output \"\" (\"\"=%s) -> ()\n"),
               {"b, b_rest = toys.make.parts(x=%x, place=3)",
                "c, c_rest = toys.scaled.parts(x=%b, x_rest=%b_rest, by=2)",
                "r = aten.relu.default(self=%c)", "s = toys.summed.parts(x=%r, x_rest=%c_rest)",
                "return %s"},
               {"b = toys.make.default(x=%x, place=3)", "c = toys.scaled.default(x=%b, by=2)",
                "features_1 = toys.features.default(x=%c)",
                "r = aten.relu.default(self=%features_1)",
                "replace_features = toys.replaced.default(x=%c, features=%r)",
                "s = toys.summed.default(x=%replace_features)", "return %s"});
    }

    /// What takes a list reads whole objects, made anew where they were taken apart; joined, they
    /// are the objects themselves.
    void listsHoldWholeObjects()
    {
        passes(parsed(kMade + kScaled + op("s", 4, "toys.listed.default", "x=[%b, %c]", "float32[]")
                      + "%output #9 = output \"\" (\"\"=%s) -> ()\n"),
               {"b, b_rest = toys.make.parts(x=%x, place=3)",
                "c, c_rest = toys.scaled.parts(x=%b, x_rest=%b_rest, by=2)",
                "replace_features = toys.replaced.default(x=%b_rest, features=%b)",
                "replace_features_1 = toys.replaced.default(x=%c_rest, features=%c)",
                "s = toys.listed.default(x=[%replace_features, %replace_features_1])", "return %s"},
               {"b = toys.make.default(x=%x, place=3)", "c = toys.scaled.default(x=%b, by=2)",
                "s = toys.listed.default(x=[%b, %c])", "return %s"});
    }

    /// A field that another takes the place of is in no object that is read later.
    void oneObjectIsReadInTwoForms()
    {
        passes(parsed(kMade + op("r", 4, "aten.relu.default", "self=%x", "float32[2, 3]")
                      + op("d", 5, "toys.replaced.default", "x=%b, features=%r", kBox)
                      + op("s", 6, "toys.listed.default", "x=[%b, %d]", "float32[]")
                      + "%output #9 = output \"\" (\"\"=%s) -> ()\n"),
               {"b, b_rest = toys.make.parts(x=%x, place=3)", "r = aten.relu.default(self=%x)",
                "d = toys.replaced.default(x=%b_rest, features=%r)",
                "replace_features = toys.replaced.default(x=%b_rest, features=%b)",
                "s = toys.listed.default(x=[%replace_features, %d])", "return %s"},
               {"b = toys.make.default(x=%x, place=3)", "r = aten.relu.default(self=%x)",
                "d = toys.replaced.default(x=%b, features=%r)",
                "s = toys.listed.default(x=[%b, %d])", "return %s"});
    }

    void graphsWithoutObjectsStayThemselves()
    {
        const GraphPtr graph = parsed(op("r", 2, "aten.relu.default", "self=%x", "float32[2, 3]")
                                      + "%output #9 = output \"\" (\"\"=%r) -> ()\n");
        QCOMPARE(unwrapped(splitObjects(graph)), graph);
        QCOMPARE(unwrapped(joinObjects(graph)), graph);
    }
};

QTEST_GUILESS_MAIN(TestObjectPasses)
#include "tst_object_passes.moc"
