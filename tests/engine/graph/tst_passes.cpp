// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/pass.h"
#include "tests/support/graph_text_case.h"

#include <QtTest/QtTest>

#include <array>

using namespace qs;
using namespace qs::test;

namespace {

const GraphPtr kGraph = std::make_shared<const Graph>(GraphText().read(R"(
    x: float32[2] = input
    y: float32[2] = aten.relu.default(self=%x)
    return %y
)"));

/// Renames the operator: "aten.relu.default" to `to`.
Pass renaming(const std::string& name, const std::string& to, PassTraits traits = {})
{
    const auto rename = [to](const Graph& graph) {
        GraphEdit edit(graph);
        edit.change(graph.tryFind("y")->id).target = to;
        return edit.build();
    };
    return Pass(name, rename, traits);
}

/// One more operator before the output.
Pass adding(const std::string& name, PassTraits traits = {})
{
    const auto add = [](const Graph& graph) {
        GraphEdit edit(graph);
        Node node;
        node.name = node.target = "more";
        edit.insert(node);
        return edit.build();
    };
    return Pass(name, add, traits);
}

const std::string kInPlace = "aten.relu_.default"; ///< which no graph of the engine may hold
constexpr PassTraits kLeavable {.isNeeded = false};

} // namespace

class TestPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theyRunInOrder()
    {
        const std::array passes {renaming("one", "a.one"), renaming("two", "a.two")};
        const auto made = runPasses(kGraph, passes);
        QVERIFY(made);
        QCOMPARE((*made)->tryFind("y")->target, std::string("a.two"));
        QCOMPARE(kGraph->tryFind("y")->target, std::string("aten.relu.default"));
        QCOMPARE(*runPasses(kGraph, {}), kGraph);
    }

    /// A rewrite takes and gives what is handiest for it.
    void everyShapeOfRewriteIsOne()
    {
        std::string ran;
        const auto ptr = [&](const GraphPtr& g) { return ran += "p", g; };
        const std::array passes {
            Pass("a", [&](const Graph& g) { return ran += "a", g; }),
            Pass("b", [&](const Graph& g) -> Result<Graph> { return ran += "b", g; }),
            Pass("c",
                 [&](const GraphPtr& g, const JobContext&) -> Result<GraphPtr> { return ptr(g); }),
            Pass("d", [&](const Graph& g, const JobContext&) { return ran += "d", g; }),
            Pass("e", ptr),
        };
        QCOMPARE(*runPasses(kGraph, passes), kGraph); // copies of the same graph are the graph
        QCOMPARE(ran, std::string("abpdp"));
    }

    void anUnsoundGraphNamesItsPass()
    {
        const std::array passes {renaming("good", "a.one"), renaming("bad", kInPlace),
                                 renaming("never", "a.two")};
        const PassWatch watch;
        const auto made = runPasses(kGraph, passes);
        QVERIFY(!made);
        QCOMPARE(made.error().code, ErrorCode::Internal);
        QVERIFY2(made.error().message.starts_with("after the pass 'bad': "),
                 made.error().line().c_str());
        QCOMPARE(watch.runs().size(), std::size_t(1));
    }

    /// What a file is written from has operators that work in place; what no pass changed was
    /// verified where it was made.
    void someGraphsAreNotVerified()
    {
        const std::array passes {renaming("file", kInPlace, {.isVerified = false}),
                                 Pass("same", [](const Graph& g) { return g; })};
        const auto made = runPasses(kGraph, passes);
        QVERIFY(made);
        QCOMPARE((*made)->tryFind("y")->target, kInPlace);
    }

    void anErrorEndsThem()
    {
        const auto refuse = [](const Graph&) -> Result<Graph> {
            return fail(ErrorCode::Unsupported, "not this one");
        };
        const std::array passes {Pass("refuses", refuse), renaming("never", "a.two")};
        const PassWatch watch;
        const auto made = runPasses(kGraph, passes);
        QVERIFY(!made);
        QCOMPARE(made.error().code, ErrorCode::Unsupported);
        QCOMPARE(made.error().message, std::string("not this one"));
        QVERIFY(watch.runs().empty());
    }

    void aCancelledJobStopsBetweenTwo()
    {
        std::stop_source stop;
        const auto last = [&](const GraphPtr& g) { return stop.request_stop(), g; };
        const std::array passes {Pass("last", last), renaming("never", "a.two")};
        const PassWatch watch;
        const auto made = runPasses(kGraph, passes, JobContext(stop.get_token()));
        QVERIFY(!made);
        QCOMPARE(made.error().code, ErrorCode::Cancelled);
        QCOMPARE(watch.runs().size(), std::size_t(1));
        QCOMPARE(watch.runs()[0].name, std::string("last"));
    }

    void aWatchSeesEachRun()
    {
        const auto slow = [](const GraphPtr& g) { return QTest::qSleep(20), g; };
        const std::array passes {adding("more"), Pass("slow", slow, kLeavable)};
        PassWatch watch;
        QVERIFY(runPasses(kGraph, passes));
        QVERIFY(runPasses(kGraph, {&passes[1], 1}));
        QCOMPARE(watch.runs().size(), std::size_t(3));
        const PassRun& more = watch.runs()[0];
        QCOMPARE(more.name, std::string("more"));
        QCOMPARE(more.nodesBefore, std::size_t(3));
        QCOMPARE(more.nodesAfter, std::size_t(4));
        QVERIFY(more.changed && !more.leftOut && more.isNeeded && more.seconds > 0);
        const PassRun& same = watch.runs()[1];
        QCOMPARE(same.name, std::string("slow"));
        QCOMPARE(same.nodesBefore, std::size_t(4));
        QVERIFY(!same.changed && !same.leftOut && !same.isNeeded);
        QVERIFY(same.seconds >= 0.02 && same.seconds < 10);
        QVERIFY(watch.check());
        QVERIFY(!watch.graph());
    }

    void whatDiedSeesNothing()
    {
        {
            const PassWatch before({"more"});
        }
        const std::array passes {adding("more", kLeavable)};
        QCOMPARE((*runPasses(kGraph, passes))->nodes().size(), std::size_t(4));
    }

    void passesAreLeftOutByName()
    {
        const std::array passes {renaming("one", "a.one"), renaming("two", "a.two", kLeavable)};
        const PassWatch watch({"two"});
        const auto made = runPasses(kGraph, passes);
        QCOMPARE((*made)->tryFind("y")->target, std::string("a.one"));
        QVERIFY(!watch.runs()[0].leftOut && watch.runs()[1].leftOut);
        QVERIFY(watch.runs()[0].changed && !watch.runs()[1].changed);
        QVERIFY(watch.check());
    }

    void aNeededOneCannotBe()
    {
        const std::array passes {renaming("one", "a.one")};
        const PassWatch watch({"one"});
        QCOMPARE((*runPasses(kGraph, passes))->tryFind("y")->target, std::string("a.one"));
        QVERIFY(!watch.runs()[0].leftOut);
        const auto checked = watch.check();
        QVERIFY(!checked);
        QCOMPARE(checked.error().code, ErrorCode::Usage);
        QVERIFY(checked.error().message.find("'one' is needed") != std::string::npos);
    }

    void unknownNamesAreRefused()
    {
        const std::array passes {renaming("one", "a.one"), renaming("two", "a.two")};
        for (const bool after : {false, true}) {
            const PassWatch watch(after ? std::set<std::string> {} : std::set<std::string> {"tow"},
                                  after ? "tow" : "");
            QVERIFY(runPasses(kGraph, passes));
            const auto checked = watch.check();
            QVERIFY(!checked);
            QCOMPARE(checked.error().code, ErrorCode::Usage);
            QVERIFY(checked.error().message.find("'tow'") != std::string::npos);
            QCOMPARE(checked.error().hint, std::string("those that did: one, two"));
        }
    }

    void theGraphAfterOneIsKept()
    {
        const std::array passes {renaming("one", "a.one"), renaming("two", "a.two")};
        const PassWatch watch({}, "one");
        QVERIFY(runPasses(kGraph, passes));
        QVERIFY(watch.check());
        QCOMPARE(watch.graph()->tryFind("y")->target, std::string("a.one"));
        const std::array again {adding("one")};
        QVERIFY(runPasses(kGraph, again)); // the last time that it runs
        QCOMPARE(watch.graph()->nodes().size(), std::size_t(4));
    }
};

QTEST_GUILESS_MAIN(TestPasses)
#include "tst_passes.moc"
