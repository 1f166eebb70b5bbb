// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/actions_window.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace qs;
using namespace qs::test;

namespace {

/// What was done last, where a signal handler may read it.
char lastActions[4096];
constexpr unsigned kHangSeconds = 180;

/// Says after which actions of which seed the program ends.
void tellAndEnd(int number)
{
    const char* what = number == SIGALRM ? "\nno action ended for minutes; the last ones:\n"
                                         : "\nthe program crashed; the last actions:\n";
    [[maybe_unused]] auto written = write(STDERR_FILENO, what, std::strlen(what));
    written = write(STDERR_FILENO, lastActions, strnlen(lastActions, sizeof lastActions));
    written = write(STDERR_FILENO, "\n", 1);
    std::signal(number, SIG_DFL);
    if (number == SIGALRM)
        std::abort();
    std::raise(number);
}

} // namespace

/// Every command of the window, by key and by menu, on selections of every kind, in every form,
/// during and after each stage, on the real engine. Whatever is asked is answered or closed.
/// Nothing crashes, nothing hangs, and document, facts and selection stay of one graph.
/// QS_ACTIONS=N makes more, QS_SEED=N others, QS_WALK=MODEL on another model.
class TestActions : public ActionsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QApplication::setQuitOnLastWindowClosed(false);
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QApplication::setAttribute(Qt::AA_DontUseNativeMenuBar);
        // Commands write beside the model.
        for (QString* file : {&m_walked.model, &m_walked.data, &m_walked.otherData}) {
            const QString copy = m_files.filePath(QFileInfo(*file).fileName());
            QFile::copy(*file, copy);
            *file = copy;
        }
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_answers = std::make_unique<Answers>(m_files.path(), m_random);
        startAgain();
    }

    void nothingCrashes()
    {
        const int seed = std::max(1, qEnvironmentVariableIntValue("QS_SEED"));
        const int wanted = std::max(400, qEnvironmentVariableIntValue("QS_ACTIONS"));
        m_random.seed(unsigned(seed));
#ifndef __SANITIZE_ADDRESS__ // which reports first, and then aborts
        for (const int number : {SIGSEGV, SIGFPE, SIGBUS})
            std::signal(number, tellAndEnd);
#endif
        std::signal(SIGABRT, tellAndEnd);
        std::signal(SIGALRM, tellAndEnd);
        std::vector<std::pair<std::size_t, bool>> ways; // each command in both, in any order
        std::set<QString> reached;
        int done = 0;
        for (; done < wanted; ++done) {
            alarm(kHangSeconds);
            if (ways.empty()) {
                for (std::size_t i = 0; i < kActionCount; ++i)
                    ways.insert(ways.end(), {{i, true}, {i, false}});
                std::shuffle(ways.begin(), ways.end(), m_random);
            }
            prepare(seed, done);
            // One in three changes the graph or a decision, whatever has its turn.
            const bool isTurn = dice(3) > 0;
            const auto [index, key] = isTurn ? ways.back() : aChange();
            if (isTurn)
                ways.pop_back();
            QPointer<QAction> action = &actions()[ActionId(index)];
            remember(seed, done, action->objectName() + (key ? " by key" : " by menu"));
            const bool enabled = action->isEnabled();
            key ? byKey(*action) : byMenu(*action);
            goOn(dice(4) == 0 ? 60 : 0);
            if (enabled && action)
                reached.insert(action->objectName());
            QCOMPARE(m_order->disagreement(), QString());
            QCOMPARE(m_order->wrong(), QStringList());
            if (!m_window->isVisible())
                m_window->show(); // after Quit
        }
        settleAll();
        alarm(0);
        std::printf("%d actions, seed %d: %d of %d commands, %d dialogs and menus answered\n", done,
                    seed, int(reached.size()), int(kActionCount), m_answers->count());
        QVERIFY(int(reached.size()) > int(kActionCount) * 4 / 5);
    }

    void cleanupTestCase()
    {
        alarm(60);
        goOn(0);
        m_answers.reset();
        m_order.reset();
        m_window.reset();
        alarm(0);
    }

private:
    QTemporaryDir m_files;
    QStringList m_done;

    std::pair<std::size_t, bool> aChange()
    {
        static constexpr std::array changes {
            ActionId::RemoveNode,  ActionId::RemoveNode,    ActionId::ExtractSelection,
            ActionId::Undo,        ActionId::Redo,          ActionId::MakeOutput,
            ActionId::InsertAfter, ActionId::DuplicateNode, ActionId::Cycle,
            ActionId::KeepFloat,   ActionId::LeafModule,    ActionId::WrapModule};
        return {std::size_t(changes[std::size_t(dice(int(changes.size())))]), dice(2) > 0};
    }

    /// Something else is selected, pointed at or started, or what runs is waited for.
    void prepare(int seed, int number)
    {
        if (number % 50 == 49)
            startAgain();
        if (number % 151 == 150) {
            m_order.reset();
            m_window->changeStyle(
                {dice(2) ? WindowStyle::Colours::Dark : WindowStyle::Colours::Light,
                 dice(2) ? 100 : 125});
            goOn(50);
            m_order = std::make_unique<SessionOrder>(workspace());
        }
        const int kind = dice(10);
        if (kind < 6)
            remember(seed, number, selectSomething());
        else if (kind < 8)
            remember(seed, number, pointSomewhere());
        if (dice(6) == 0)
            remember(seed, number, startSomething());
        if (dice(5) == 0) {
            settleAll();
            remember(seed, number, "wait");
        }
        goOn(0);
    }

    void settleAll()
    {
        QElapsedTimer clock;
        clock.start();
        while ((pipeline().isBusy() || Answers::isOpen()) && clock.elapsed() < 120000)
            goOn(10);
    }

    /// The sample as it came, few batches, nothing decided.
    void startAgain()
    {
        pipeline().cancel();
        settleAll();
        m_order.reset();
        m_window->openModel(m_walked.model);
        settleAll();
        QVERIFY(document().model());
        RunSettings settings = document().settings();
        settings.calibrationData = m_walked.data.toStdString();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        changeRecipe("few batches", [](Recipe& recipe) { recipe.calibration.batches = 2; });
        settleAll();
        m_order = std::make_unique<SessionOrder>(workspace());
        if (dice(2))
            startSomething();
    }

    void remember(int seed, int number, const QString& what)
    {
        m_done << what;
        while (m_done.size() > 24)
            m_done.removeFirst();
        const QByteArray text = QStringLiteral("action %1 of seed %2: %3")
                                    .arg(number + 1)
                                    .arg(seed)
                                    .arg(m_done.join(QStringLiteral(", ")))
                                    .toUtf8();
        qstrncpy(lastActions, text.constData(), sizeof lastActions);
    }
};

int main(int argc, char** argv)
{
    // Commands change the user's settings: other tests, which may run beside this one, keep theirs.
    const QTemporaryDir home;
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
        qputenv(name, home.path().toLocal8Bit());
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestActions test;
    // The offscreen platform warns of every window; failures and crashes are what counts.
    QStringList words = app.arguments();
    if (words.size() == 1)
        words << QStringLiteral("-silent");
    return QTest::qExec(&test, words);
}
#include "tst_ui_actions.moc"
