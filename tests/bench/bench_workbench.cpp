// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/repeated_modules.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "tests/support/decoder_graph.h"
#include "tests/support/fake_engine.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/search/finder.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <malloc.h>

using namespace qs;

namespace {

/// Opens what it was given and plans as the program does.
class BenchEngine : public FakeEngine
{
public:
    Result<PlanPtr> plan(const GraphPtr& graph, const Recipe& recipe,
                         const JobContext& job) override
    {
        QS_TRY(const Backend backend, findBackend(recipe.target()));
        QS_TRY(Plan made, makePlan(*graph, recipe, backend, job));
        return std::make_shared<const Plan>(std::move(made));
    }
};

double threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

double heapBytes()
{
    const auto info = mallinfo2();
    return double(info.uordblks) + double(info.hblkhd);
}

/// Watches how long the event loop is away: the longest stretch between two ticks, by the clock and
/// by the processor time of the thread (a busy machine stretches the first).
class LoopWatch
{
public:
    LoopWatch()
    {
        QObject::connect(&m_timer, &QTimer::timeout, [this] {
            m_wall = std::max(m_wall, double(m_clock.nsecsElapsed()) / 1e6);
            m_cpu = std::max(m_cpu, threadMs() - m_cpuAt);
            m_clock.restart();
            m_cpuAt = threadMs();
        });
        m_timer.setTimerType(Qt::PreciseTimer);
        m_clock.start();
        m_cpuAt = threadMs();
        m_timer.start(1);
    }
    double wallMs() const { return m_wall; }
    double cpuMs() const { return m_cpu; }

private:
    QTimer m_timer;
    QElapsedTimer m_clock;
    double m_cpuAt = 0, m_wall = 0, m_cpu = 0;
};

class Bench
{
public:
    explicit Bench(GraphPtr model)
        : m_model(std::move(model))
    {
        m_engine.model = m_model;
    }

    void run()
    {
        std::printf("%zu nodes\n", m_model->nodes().size());
        repeats();
        open();
        frames("pan and zoom, folded", 16);
        folding();
        search();
        expandAll();
        frames("pan and zoom, all open", 33);
    }

private:
    /// By the clock and, of this thread, by the processor, in ms.
    struct Spent
    {
        double clock = 0, processor = 0;

        void takeLonger(const Spent& other)
        {
            clock = std::max(clock, other.clock);
            processor = std::max(processor, other.processor);
        }
    };

    /// Neighbours stretch the clock: the bound is of either.
    static void line(const char* what, const Spent& spent, double bound)
    {
        line(what, spent.clock, "ms", bound);
        line("    in processor time", spent.processor, "ms", bound);
    }

    static void line(const char* what, double value, const char* unit, double bound)
    {
        std::printf("%-44s %9.1f %-6s %s %g\n", what, value, unit,
                    value <= bound ? "within" : "ABOVE ", bound);
    }

    template<class Condition>
    void waitFor(Condition condition)
    {
        QElapsedTimer limit;
        limit.start();
        while (!condition()) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            if (limit.elapsed() > 120000) {
                std::fprintf(stderr, "bench_workbench: nothing happened for two minutes\n");
                std::exit(1);
            }
        }
    }

    GraphPane& pane() { return m_window->graphPane(); }
    GraphView& view() { return pane().view(); }

    /// Runs what asks for a new drawing and waits until it is on the screen.
    template<class Action>
    Spent untilPainted(Action action)
    {
        QElapsedTimer clock;
        clock.start();
        const double before = threadMs();
        action();
        waitFor([&] { return opened(m_engine.model); });
        const int painted = view().paintCount();
        view().viewport()->update();
        waitFor([&] { return view().paintCount() > painted; });
        return {double(clock.nsecsElapsed()) / 1e6, threadMs() - before};
    }

    bool opened(const GraphPtr& model)
    {
        auto& workspace = m_window->workspace();
        return workspace.document().model() == model && pane().isLayoutDone();
    }

    void repeats()
    {
        QElapsedTimer clock;
        clock.start();
        const auto found = RepeatedModules::find(*m_model);
        line("repeated blocks found in", double(clock.nsecsElapsed()) / 1e6, "ms", 1000);
        for (const auto& group : found->groups())
            if (m_model->modules().tryGet(group.front())->children.size() > 1)
                std::printf("    %zu x %s\n", group.size(), group.front().c_str());
    }

    void open()
    {
        const double before = heapBytes();
        {
            const auto plan = m_engine.plan(m_model, defaultRecipe(), {});
            m_planBytes = heapBytes() - before;
        }
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1600, 1000);
        m_window->show();
        // Another model first: fonts, glyphs and panels are made once and are not what a node
        // costs.
        m_engine.model = fakeModel();
        m_window->openModel(QStringLiteral("small.pt2"));
        waitFor([&] {
            return m_window->workspace().document().plan() && pane().isLayoutDone()
                && !m_window->workspace().pipeline().isBusy();
        });
        pane().expandAll();
        waitFor([&] { return pane().isLayoutDone(); });
        QCoreApplication::processEvents();
        m_engine.model = m_model;
        m_heapBefore = heapBytes();
        LoopWatch watch;
        const Spent first = untilPainted([&] { m_window->openModel(QStringLiteral("model.pt2")); });
        line("open to first painted frame", first, 1000);
        QElapsedTimer clock;
        clock.start();
        waitFor([&] {
            return m_window->workspace().document().plan() && pane().isLayoutDone()
                && !m_window->workspace().pipeline().isBusy();
        });
        std::printf("%-44s %9.1f ms (%zu drawn)\n", "and planned after",
                    double(clock.nsecsElapsed()) / 1e6,
                    view().graphScene().drawing()->nodes.size());
        std::printf("%-44s %9.1f ms (%.1f of processor time)\n",
                    "longest stop of the window meanwhile", watch.wallMs(), watch.cpuMs());
    }

    void frames(const char* what, double bound)
    {
        std::vector<double> times, work;
        const auto frame = [&](auto change) {
            QElapsedTimer clock;
            clock.start();
            const double cpu = threadMs();
            const int painted = view().paintCount();
            change();
            view().viewport()->update();
            waitFor([&] { return view().paintCount() > painted; });
            times.push_back(double(clock.nsecsElapsed()) / 1e6);
            work.push_back(threadMs() - cpu);
        };
        for (const double zoom : {1.0, 0.5, 0.3, 0.1, 0.04}) {
            view().setZoom(zoom);
            view().centerOn(view().graphScene().drawing()->bounds.center());
            QCoreApplication::processEvents();
            for (int i = 0; i < 40; ++i)
                frame([&] {
                    view().centerOn(view().mapToScene(view().viewport()->rect().center())
                                    + QPointF(3, 47) / zoom);
                });
        }
        pane().fit();
        QCoreApplication::processEvents();
        for (int i = 0; i < 60; ++i)
            frame([&] { view().zoomBy(1.1); });
        for (int i = 0; i < 60; ++i)
            frame([&] { view().zoomBy(1 / 1.1); });
        std::sort(times.begin(), times.end());
        std::printf("%-44s %9.1f ms median of %zu\n", what, times[times.size() / 2], times.size());
        line("    p99", times[times.size() * 99 / 100], "ms", bound);
        std::sort(work.begin(), work.end());
        std::printf("%-44s %9.1f ms, longest %.1f ms\n", "    p99 of processor time",
                    work[work.size() * 99 / 100], work.back());
    }

    void folding()
    {
        const auto grouped = view().graphScene().drawing()->tree; // boxes of repeats are its own
        const FoldTree& tree = *grouped;
        std::vector<int> drawn;
        for (const auto& node : view().graphScene().drawing()->nodes)
            if (tree.entry(node.entry).isModule())
                drawn.push_back(node.entry);
        Spent expand, fold;
        for (int i = 0; i < 7 && !drawn.empty(); ++i) {
            const int entry = drawn[drawn.size() * std::size_t(i) / 7];
            expand.takeLonger(untilPainted([&] { Q_EMIT view().foldToggled(entry, false); }));
            int inner = -1;
            for (int child : tree.entry(entry).children)
                if (tree.entry(child).isModule())
                    inner = child;
            if (inner >= 0) {
                expand.takeLonger(untilPainted([&] { Q_EMIT view().foldToggled(inner, false); }));
                fold.takeLonger(untilPainted([&] { Q_EMIT view().foldToggled(inner, false); }));
            }
            fold.takeLonger(untilPainted([&] { Q_EMIT view().foldToggled(entry, false); }));
        }
        if (drawn.empty())
            return;
        line("expand one module, longest of several", expand, 100);
        line("fold one module, longest of several", fold, 100);
    }

    void search()
    {
        Finder finder(m_window->workspace());
        finder.setExpression(QStringLiteral("x")); // makes the index, as the first key does
        Spent longest;
        for (const char* query : {"p", "proj", "layers.7", "op:linear", "op:mul module:model"}) {
            QElapsedTimer clock;
            clock.start();
            const double before = threadMs();
            finder.setExpression(QString::fromLatin1(query));
            longest.takeLonger({double(clock.nsecsElapsed()) / 1e6, threadMs() - before});
        }
        line("search as you type, longest of several", longest, 30);
    }

    void expandAll()
    {
        const double folded = heapBytes() - m_heapBefore - m_planBytes;
        LoopWatch watch;
        double coarse = -1;
        QElapsedTimer clock;
        clock.start();
        const auto noticed = QObject::connect(&pane(), &GraphPane::coarseShown, [&] {
            if (coarse < 0)
                coarse = double(clock.nsecsElapsed()) / 1e6;
        });
        const Spent all = untilPainted([&] { pane().expandAll(); });
        QObject::disconnect(noticed);
        line("expand everything, a coarse picture after", coarse < 0 ? all.clock : coarse, "ms",
             1000);
        line("expand everything, done after", all, 10000);
        line("longest stop of the window meanwhile", watch.wallMs(), "ms", 50);
        std::printf("%-44s %9.1f ms\n", "    in processor time", watch.cpuMs());
        const auto& drawing = *view().graphScene().drawing();
        std::printf("    %zu nodes, %zu edges, %zu references, %zu frames drawn\n",
                    drawing.nodes.size(), drawing.edges.size(), drawing.references.size(),
                    drawing.boxes.size());
        // A coarse layout that came too late is still letting go of its drawing.
        QElapsedTimer settling;
        settling.start();
        while (settling.elapsed() < 300)
            QCoreApplication::processEvents();
        const double bytes = heapBytes() - m_heapBefore - m_planBytes;
        std::printf("%-44s %9.1f B/node\n", "memory before, folded",
                    folded / double(m_model->nodes().size()));
        line("memory of the view, all open", bytes / double(m_model->nodes().size()), "B/node",
             1024);
        // A second request makes the first one stale: it must stop at once.
        pane().foldAll();
        waitFor([&] { return pane().isLayoutDone(); });
        pane().expandAll();
        QCoreApplication::processEvents();
        const Spent back = untilPainted([&] { pane().foldAll(); });
        std::printf("%-44s %9.1f ms\n", "folded again while expanding, after", back.clock);
        untilPainted([&] { pane().expandAll(); });
    }

    GraphPtr m_model;
    BenchEngine m_engine;
    std::unique_ptr<MainWindow> m_window;
    double m_planBytes = 0, m_heapBefore = 0;
};

} // namespace

/// bench_workbench [LAYERS | MODEL]: what the graph's view costs, on a generated decoder or a file.
int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    applyTheme(app, false);
    GraphPtr model;
    const QString wanted = QString::fromLocal8Bit(argc > 1 ? argv[1] : "820");
    if (const int layers = wanted.toInt(); layers > 0) {
        model = decoderGraph(layers);
    } else {
        auto opened = importModel(wanted.toStdString());
        if (!opened) {
            std::fprintf(stderr, "%s\n", opened.error().line().c_str());
            return 1;
        }
        model = std::move(*opened);
    }
    Bench(std::move(model)).run();
    return 0;
}
