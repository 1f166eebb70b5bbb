// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/real_engine.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QScrollArea>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <set>
#include <utility>

using namespace qs;

namespace {

constexpr int kPatienceMs = 120000;

double threadMs()
{
    timespec now {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

/// Counts what is painted of the properties.
class PaintCount : public QObject
{
public:
    using QObject::QObject;
    int count = 0;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        count += event->type() == QEvent::Paint;
        return QObject::eventFilter(watched, event);
    }
};

template<class Condition>
void waitFor(Condition condition)
{
    QElapsedTimer limit;
    limit.start();
    QTimer tick; // ends a wait in which nothing comes
    tick.start(1000);
    while (!condition() && limit.elapsed() < kPatienceMs)
        QCoreApplication::processEvents(
            QEventLoop::WaitForMoreEvents); // sleeps, as the window does
}

void print(const char* what, std::vector<double> values, double bound)
{
    std::sort(values.begin(), values.end());
    const auto at
        = [&](double share) { return values[std::size_t(share * double(values.size() - 1))]; };
    std::printf("%-34s median %6.1f  p95 %6.1f  most %6.1f ms  %s %g\n", what, at(0.5), at(0.95),
                values.back(), at(0.95) <= bound ? "within" : "ABOVE ", bound);
}

/// The selections that took longest, with what was selected.
void printSlowest(std::vector<std::pair<double, QString>> taken)
{
    std::sort(taken.begin(), taken.end(), std::greater<>());
    taken.resize(std::min<std::size_t>(taken.size(), 5));
    for (const auto& [ms, title] : taken)
        std::printf("    %6.1f ms  %s\n", ms, qPrintable(title));
}

} // namespace

/// bench_selection [MODEL [DATA]]: what a selection costs the window after a comparison, by the
/// processor time of the main thread and by the clock until properties and graph are painted.
int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    applyTheme(app, false);
    test::RealEngine engine;
    MainWindow window(engine);
    window.resize(1600, 1000);
    window.show();
    window.openModel(argc > 1 ? QString::fromLocal8Bit(argv[1])
                              : QStringLiteral("resources/samples/digits.pt2"));
    Workspace& workspace = window.workspace();
    const auto isIdle = [&] {
        return workspace.document().plan() && !workspace.pipeline().isBusy()
            && window.graphPane().isLayoutDone();
    };
    waitFor(isIdle);
    RunSettings settings = workspace.document().settings();
    settings.device = "cpu";
    if (argc > 2)
        settings.calibrationData = argv[2];
    settings.comparisonData.clear();
    workspace.document().setSettings(settings);
    Recipe recipe = workspace.document().recipe();
    recipe.calibration.batches = 1;
    recipe.calibration.batchSize = 2;
    workspace.change(QStringLiteral("few batches"), recipe);
    waitFor(isIdle);
    workspace.pipeline().runUpTo(Stage::Compare);
    waitFor([&] { return isIdle() && workspace.document().comparison(); });
    window.graphPane().expandAll();
    waitFor(isIdle);
    auto* properties = window.findChild<QScrollArea*>(QStringLiteral("propertyScroll"));
    PaintCount painted;
    properties->widget()->installEventFilter(&painted);
    std::vector<double> work, wall, later;
    std::vector<std::pair<double, QString>> named;
    int done = 0;
    std::set<int> seen;
    for (const NodePtr& node : workspace.document().model()->nodes()) {
        // Another member of the same unit leaves the selection unchanged: nothing would be painted.
        const int unit = workspace.foldTree()->unitOf(node->id);
        if (!node->isOperator() || unit < 0 || !seen.insert(unit).second)
            continue;
        QCoreApplication::processEvents();
        const int before = painted.count, drawn = window.graphPane().view().paintCount();
        QElapsedTimer clock;
        clock.start();
        const double cpu = threadMs();
        workspace.selectNode(node->id);
        window.graphPane().revealSelection();
        waitFor([&] {
            return painted.count > before && window.graphPane().view().paintCount() > drawn;
        });
        const double toPixel = double(clock.nsecsElapsed()) / 1e6;
        const double spent = threadMs() - cpu;
        // What is worked out on other threads arrives afterwards.
        const double rest = threadMs();
        QEventLoop quiet; // waits, where processEvents would spin
        QTimer::singleShot(60, &quiet, &QEventLoop::quit);
        quiet.exec();
        if (++done <= 5) // fonts and glyphs are made once
            continue;
        wall.push_back(toPixel);
        work.push_back(spent);
        named.emplace_back(spent, workspace.facts().title(node->id));
        later.push_back(threadMs() - rest);
        if (done == 125)
            break;
    }
    std::printf("%zu nodes, %d selections\n", workspace.document().model()->nodes().size(), done);
    if (work.empty())
        return 1;
    print("main thread to the pixel", work, 16);
    printSlowest(std::move(named));
    print("clock to the pixel", wall, 50);
    print("main thread in the 60 ms after", later, 16);
    return 0;
}
