// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/cure_page.h"

#include "engine/base/text.h"
#include "engine/result/part_text.h"
#include "ui/cure/cause_list.h"
#include "ui/cure/cure_list.h"
#include "ui/cure/front_plot.h"
#include "ui/cure/no_causes.h"
#include "ui/cure/proposed_cures.h"
#include "ui/cure/share_bar.h"
#include "ui/cure/shown_causes.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/layout_barrier.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedWidget>

#include <cmath>

namespace qs {

namespace {

/// A kind of goal, with its field.
struct GoalField
{
    const char* name;
    double usual, least, most, step;
    const char* suffix;
    int decimals;
    TuneGoal::Kind kind;
};
struct GoalTable
{
    Q_DECLARE_TR_FUNCTIONS(GoalTable)

public:
    static constexpr GoalField kRows[]
        = {{QT_TR_NOOP("SQNR"), 20, -40, 120, 1, QT_TR_NOOP(" dB"), 1, TuneGoal::Kind::Sqnr},
           {QT_TR_NOOP("cosine"), 0.98, 0, 0.9999, 0.001, "", 4, TuneGoal::Kind::Cosine},
           {QT_TR_NOOP("top-1 drop"), 0.5, 0, 100, 0.1, QT_TR_NOOP(" points"), 2,
            TuneGoal::Kind::Top1Drop},
           {QT_TR_NOOP("your metric"), 0.9, -1e9, 1e9, 0.01, "", 4, TuneGoal::Kind::Metric}};
};
constexpr const auto& kGoals = GoalTable::kRows;
constexpr std::size_t kMostLeft = 3; ///< places that a missed goal names

} // namespace

CurePage::CurePage(Workspace& workspace, QWidget* parent)
    : QScrollArea(parent)
    , m_workspace(workspace)
    , m_causes(new ShownCauses(workspace, this))
{
    setObjectName(QStringLiteral("curePage"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    auto* page = new QWidget(this);
    page->setObjectName(QStringLiteral("cureContents"));
    fillPanel(*page);
    // The order of construction is the tab order.
    auto* controls = new QWidget(page);
    buildGoal(*controls);
    buildSearch(*controls);
    m_note = new ElidedLabel(QString(), uiFont(11), page);
    m_note->setObjectName(QStringLiteral("cureNote"));
    auto* result = makeHBox(nullptr, {}, px(6));
    addItems(*result, {{m_note, 1}, m_take});
    auto* halves = makeSplitter("cureHalves", Qt::Horizontal, page);
    m_stack = new QStackedWidget(halves);
    // A height that depends on the width would make the scroll area scroll sideways too.
    m_empty = new NoCauses(QStringLiteral("cure"), m_stack);
    m_stack->addWidget(new LayoutBarrier(m_empty, m_stack));
    connect(m_empty, &NoCauses::calibrateWanted, this, &CurePage::calibrateWanted);
    connect(m_empty, &NoCauses::findWanted, this, &CurePage::findWanted);
    m_stack->addWidget(buildCauses(m_stack));
    m_front = new FrontPlot(workspace, halves);
    halves->addWidget(m_stack);
    halves->addWidget(m_front);
    halves->setStretchFactor(0, 5);
    halves->setStretchFactor(1, 2);
    halves->setSizes({px(640), px(300)});
    addItems(*makeVBox(page, {12, 6, 12, 6}, 4), {controls, result, {halves, 1}});
    setWidget(page);

    const CureSearch& search = workspace.cureSearch();
    const auto later = coalesced(this, [this] { refreshSearch(); });
    connect(&search, &CureSearch::changed, this, later);
    connect(&workspace.document(), &Document::planChanged, this, later);
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::settingsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, [this, later] {
        m_tookOver = 0;
        later();
    });
    connect(&search, &CureSearch::tookOver, this, [this, later](int changes) {
        m_tookOver = changes;
        later();
    });
    connect(&workspace.metric(), &MetricRunner::changed, this, later);
    connect(m_causes, &ShownCauses::changed, this, &CurePage::refreshCauses);
    connect(m_causes, &ShownCauses::revealWanted, this, &CurePage::revealWanted);
    refreshCauses();
    refreshSearch();
}

void CurePage::buildGoal(QWidget& row)
{
    m_goalKind = new QComboBox(&row);
    setNames(*m_goalKind, "cureGoalKind", tr("Goal of the search"),
             tr("The search ends when the guard, a quarter of the samples, reaches this"));
    for (const GoalField& goal : kGoals)
        m_goalKind->addItem(GoalTable::tr(goal.name));
    m_goal = new QDoubleSpinBox(&row);
    setNames(*m_goal, "cureGoal", tr("Goal at the worst output"),
             tr("The worst output's SQNR or cosine to reach, the most that top-1 may fall, or the "
                "least value of your metric"));
    m_goal->setKeyboardTracking(false);
    m_keepInt8 = new QSpinBox(&row);
    setNames(*m_keepInt8, "cureKeepInt8", tr("Least share of int8 multiplications"),
             tr("At least this share of the multiplications stays in int8"));
    m_keepInt8->setRange(0, 100);
    m_keepInt8->setPrefix(tr("int8 ≥ "));
    m_keepInt8->setSuffix(tr(" %"));
    m_minutes = new QSpinBox(&row);
    setNames(*m_minutes, "cureMinutes", tr("Time limit in minutes"),
             tr("The search then ends with the best so far"));
    m_minutes->setRange(0, 10000);
    m_minutes->setSpecialValueText(tr("no limit"));
    m_minutes->setSuffix(tr(" min"));
    m_trains = new QCheckBox(tr("train"), &row);
    setNames(*m_trains, "cureTrains", tr("May train"),
             tr("If the cures miss the goal, train the weights at the end; it takes minutes"));
    const CureChoices choices = m_workspace.cureSearch().choices();
    m_goalKind->setCurrentIndex(int(choices.goal.kind));
    setGoalKind(m_goalKind->currentIndex());
    m_goal->setValue(choices.goal.value);
    m_keepInt8->setValue(int(std::lround(100 * choices.keepInt8)));
    m_minutes->setValue(int(choices.seconds.value_or(0) / 60));
    m_trains->setChecked(choices.trains);
    connect(m_goalKind, &QComboBox::currentIndexChanged, this, [this](int kind) {
        setGoalKind(kind);
        takeFields();
    });
    connect(m_goal, &QDoubleSpinBox::valueChanged, this, &CurePage::takeFields);
    for (QSpinBox* box : {m_keepInt8, m_minutes})
        connect(box, &QSpinBox::valueChanged, this, &CurePage::takeFields);
    connect(m_trains, &QCheckBox::toggled, this, &CurePage::takeFields);
}

void CurePage::setGoalKind(int kind)
{
    const QSignalBlocker quiet(m_goal);
    const GoalField& field = kGoals[kind];
    m_goal->setDecimals(field.decimals);
    m_goal->setSingleStep(field.step);
    m_goal->setRange(field.least, field.most);
    m_goal->setSuffix(*field.suffix ? GoalTable::tr(field.suffix) : QString());
    m_goal->setValue(field.usual);
}

void CurePage::takeFields()
{
    CureChoices choices;
    choices.goal = {kGoals[m_goalKind->currentIndex()].kind, m_goal->value()};
    choices.trains = m_trains->isChecked();
    choices.keepInt8 = m_keepInt8->value() / 100.0;
    if (m_minutes->value() > 0)
        choices.seconds = 60.0 * m_minutes->value();
    m_workspace.cureSearch().setChoices(choices);
    refreshSearch();
}

void CurePage::buildSearch(QWidget& row)
{
    CureSearch& search = m_workspace.cureSearch();
    m_run = makeButton("cureRun", tr("Run"), tr("Search cures that reach the goal"), &row);
    m_pause = makeButton("curePause", tr("Pause"),
                         tr("Stop for now and keep the trials; Resume continues"), &row);
    m_stop = makeButton("cureStop", tr("Stop"), tr("End the search and keep the best"), &row);
    m_take = makeButton("cureTake", QString(),
                        tr("Make the best recipe so far yours: one step of the history"),
                        row.parentWidget());
    m_take->setFont(uiFont(11));
    setPrimary(*m_take, true);
    QSizePolicy policy = m_take->sizePolicy();
    policy.setRetainSizeWhenHidden(true); // nothing moves when the first trial arrives
    m_take->setSizePolicy(policy);
    connect(m_run, &QPushButton::clicked, this, [&search] {
        if (search.phase() == CureSearch::Phase::Paused)
            search.resume();
        else
            search.start();
    });
    connect(m_pause, &QPushButton::clicked, &search, &CureSearch::pause);
    connect(m_stop, &QPushButton::clicked, &search, &CureSearch::stop);
    connect(m_take, &QPushButton::clicked, &search,
            [&search] { search.take(search.state().best); });
    auto* box = makeHBox(&row, {}, px(6));
    addItems(*box,
             {makeMutedLabel(tr("Goal"), 11, &row), m_goalKind, m_goal, m_keepInt8, m_minutes,
              m_trains, m_run, m_pause, m_stop});
    box->addStretch(1);
    for (QWidget* part : row.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
        part->setFont(uiFont(11));
}

QWidget* CurePage::buildCauses(QWidget* parent)
{
    auto* causes = new QWidget(parent);
    m_bar = new ShareBar(*m_causes, causes);
    m_again = makeButton("cureAgain", tr("Find again"), {}, causes);
    m_again->setFont(uiFont(11));
    connect(m_again, &QPushButton::clicked, this, &CurePage::findWanted);
    auto* lists = makeSplitter("cureLists", Qt::Horizontal, causes);
    auto* cures = new ProposedCures(m_workspace, *m_causes, this);
    for (QWidget* list : {static_cast<QWidget*>(new CauseList(*m_causes, lists)),
                          static_cast<QWidget*>(new CureList(*cures, lists))}) {
        auto* padded = new QWidget(lists);
        addItems(*makeHBox(padded, {px(3), 0, px(3), 0}), {{list, 1}});
        lists->addWidget(padded);
    }
    lists->setStretchFactor(0, 2);
    lists->setStretchFactor(1, 3);
    lists->setSizes({px(220), px(340)});
    auto* top = makeHBox(nullptr, {}, px(6));
    addItems(*top, {{m_bar, 1}, m_again});
    addItems(*makeVBox(causes, {}, 4), {top, {lists, 1}});
    return causes;
}

void CurePage::refreshCauses()
{
    using State = ShownCauses::State;
    const State state = m_causes->state();
    m_stack->setCurrentIndex(state == State::Found ? 1 : 0);
    m_empty->tell(m_causes->stateText(),
                  state == State::Uncalibrated      ? NoCauses::Missing::Calibration
                      : state == State::NotSearched ? NoCauses::Missing::Search
                                                    : NoCauses::Missing::Nothing);
    const QString old = m_causes->staleReason();
    m_again->setVisible(!old.isEmpty());
    m_again->setToolTip(tr("Out of date, %1: find causes again").arg(old));
}

void CurePage::refreshSearch()
{
    const CureSearch& search = m_workspace.cureSearch();
    const bool isRunning = search.isRunning(),
               isPaused = search.phase() == CureSearch::Phase::Paused;
    QWidget* focused = focusWidget();
    const bool hadFocus = focused == m_run || focused == m_pause || focused == m_stop;
    m_run->setText(isPaused ? tr("Resume") : tr("Run"));
    setPrimary(*m_run, search.phase() == CureSearch::Phase::Idle);
    m_run->setEnabled(isPaused || search.canStart());
    m_run->setVisible(!isRunning);
    m_pause->setVisible(isRunning);
    m_stop->setVisible(isRunning || isPaused);
    for (QWidget* field : {static_cast<QWidget*>(m_goalKind), static_cast<QWidget*>(m_goal),
                           static_cast<QWidget*>(m_keepInt8), static_cast<QWidget*>(m_minutes),
                           static_cast<QWidget*>(m_trains)})
        field->setEnabled(!isRunning && !isPaused);
    QWidget* main = isRunning ? m_pause : m_run;
    setFocusProxy(main);
    if (hadFocus && !focused->isVisibleTo(this))
        main->setFocus();
    refreshTake();
    bool isWarning = false;
    const QString note = noteText(isWarning);
    m_note->setColor(isWarning ? theme().warning : theme().muted);
    m_note->setText(note);
}

void CurePage::refreshTake()
{
    const CureSearch& search = m_workspace.cureSearch();
    const Trial* best = search.best();
    const bool isCured = best && (!best->cures.empty() || best->floatNeedless);
    m_take->setVisible(isCured);
    if (!isCured)
        return;
    const bool isTaken = search.taken() == search.state().best;
    const QString figure = trialFigure(*best, search.request().goal);
    m_take->setText(isTaken ? tr("%1 taken").arg(figure) : tr("Take %1").arg(figure));
    m_take->setEnabled(!isTaken);
}

QString CurePage::noteText(bool& isWarning) const
{
    const CureSearch& search = m_workspace.cureSearch();
    const auto decisions
        = [](int count) { return toQString(counted(std::int64_t(count), "decision")); };
    isWarning = true;
    if (!search.problem().isEmpty())
        return search.problem();
    if (m_tookOver > 0)
        return tr("Taken without your %1 since the search began; undo brings them back")
            .arg(decisions(m_tookOver));
    if (const int changes = search.changesSince(); changes > 0 && search.isRunning())
        return tr("%1 · you have changed %2 since").arg(runningText(), decisions(changes));
    else if (changes > 0)
        return tr("You have changed %1 since; the trials do not contain them")
            .arg(decisions(changes));
    isWarning = false;
    switch (search.phase()) {
    case CureSearch::Phase::Paused:
        return tr("Paused after %1; Resume continues")
            .arg(toQString(counted(std::int64_t(search.state().trials.size()), "trial")));
    case CureSearch::Phase::Ended:
        return endText();
    case CureSearch::Phase::Running:
        return runningText();
    case CureSearch::Phase::Idle:
        break;
    }
    if (search.choices().goal.kind == TuneGoal::Kind::Metric
        && m_workspace.metric().command().isEmpty())
        return tr("Set your metric first: Run > Your metric, Ctrl+Shift+J");
    return tr("Run searches cures that reach the goal");
}

QString CurePage::runningText() const
{
    const CureSearch& search = m_workspace.cureSearch();
    QStringList parts {search.progressText()};
    if (const Trial* best = search.best())
        parts << tr("best %1 at %2 int8")
                     .arg(trialFigure(*best, search.request().goal),
                          toQString(partText(best->int8Macs)));
    return parts.join(QStringLiteral(" · "));
}

/// What the search reached, why it ended, and what stands between it and the goal.
QString CurePage::endText() const
{
    const CureSearch& search = m_workspace.cureSearch();
    const TuneState& state = search.state();
    const Trial* best = search.best();
    if (!best)
        return tr("Stopped before the first trial");
    const QString figure = trialFigure(*best, search.request().goal);
    const QString reason = state.stopped.empty() ? tr("stopped") : toQString(state.stopped);
    QStringList parts;
    if (state.isReached())
        parts << tr("Goal reached: %1, %2 int8").arg(figure, toQString(partText(best->int8Macs)));
    else
        parts << tr("Best %1 of %2: %3").arg(figure, goalWords(search.request().goal), reason);
    if (state.neededInt8.value_or(0) > 0)
        parts << tr("needs %1 int8").arg(toQString(partText(*state.neededInt8)));
    for (std::size_t i = 0; i < std::min(kMostLeft, state.remaining.size()); ++i)
        parts << tr("%1 of the rest: %2, %3")
                     .arg(toQString(partText(state.remaining[i].share)),
                          toQString(state.remaining[i].node), causeShort(state.remaining[i].cause));
    for (const std::string& line : state.notes)
        parts << toQString(line);
    return parts.join(QStringLiteral("; "));
}

} // namespace qs
