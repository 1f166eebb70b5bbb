// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/result_strip.h"

#include "engine/base/text.h"
#include "engine/plan/summaries/coverage.h"
#include "ui/panels/cards/cause_cell.h"
#include "ui/panels/cards/worst_row.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/trained_ranges.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFileInfo>
#include <QLabel>

namespace qs {

namespace {

/// Returns "+1.2 dB" or "-0.3 dB".
QString gained(double db)
{
    const QString text = QString::number(std::abs(db), 'f', 1);
    const bool falls = db < 0 && text != QLatin1String("0.0");
    return QStringLiteral("%1%2 dB").arg(falls ? QStringLiteral("-") : QStringLiteral("+"), text);
}

QString share(double part)
{
    return QStringLiteral("%1 %").arg(part * 100, 0, 'f', 1);
}

const QString kTo = QStringLiteral(" ► ");

QString changeText(const ResultFigures& now, const ResultFigures& before)
{
    QStringList parts;
    if (now.outputDb() && before.outputDb())
        parts << gained(*now.outputDb() - *before.outputDb());
    if (const int ops = now.quantizedOps.value_or(0) - before.quantizedOps.value_or(0))
        parts << QObject::tr("%1%2 %3 int8")
                     .arg(ops > 0 ? QStringLiteral("+") : QString())
                     .arg(ops)
                     .arg(std::abs(ops) == 1 ? QObject::tr("operator") : QObject::tr("operators"));
    return parts.join(QStringLiteral(", "));
}

} // namespace

ResultStrip::ResultStrip(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_row(makeHBox(this, {14, 4, 14, 4}, px(18)))
    , m_stale(new QLabel(this))
    , m_against(new QLabel(tr("against the original model"), this))
{
    setNames(*this, "resultStrip", tr("Result"));
    setAttribute(Qt::WA_StyledBackground);
    m_row->setSizeConstraint(QLayout::SetNoConstraint); // cells without room are hidden
    m_stale->setObjectName(QStringLiteral("resultStale"));
    m_stale->setFont(uiFont(11.5, 600));
    m_row->addWidget(m_stale);
    m_against->setObjectName(QStringLiteral("resultAgainst"));
    m_against->setFont(uiFont(11.5, 600));
    m_against->setToolTip(tr("The errors include those of the edits"));
    m_row->addWidget(m_against);
    m_preview = addCell(tr("Now"), "resultPreview", {});
    m_output = addCell(tr("Output"), "resultOutput",
                       tr("Signal to quantization noise of the worst output: the int8 model, and "
                          "the reference form that it is made from"));
    m_cause = new CauseCell(workspace, this);
    m_row->addWidget(m_cause);
    connect(m_cause, &CauseCell::revealWanted, this, &ResultStrip::revealWanted);
    m_data = addCell(tr("Compared on"), "resultData", {});
    m_metric = addCell(tr("Your metric"), "resultMetric",
                       tr("What your command prints for the outputs: float model, int8 model"));
    m_top1 = addCell(
        tr("Top-1"), "resultTop1",
        tr("Share of samples whose highest output is their label: float model, int8 model"));
    m_agreement = addCell(tr("Agreement"), "resultAgreement",
                          tr("Share of samples whose highest output is the same in the float and "
                             "the int8 model; needs no labels"));
    m_size = addCell(
        tr("Weights"), "resultSize",
        tr("Parameters and buffers: float model, int8 model with its scales and zero points"));
    m_coverage = addCell(tr("Int8"), "resultCoverage", {});
    m_trained = addCell(tr("Trained ranges"), "resultTrained",
                        tr("Ranges from training in the file: how many of them these decisions "
                           "use. The other values are calibrated; Findings lists unused ranges"));
    m_worst = new WorstRow(workspace, this);
    m_row->addWidget(m_worst);
    connect(m_worst, &WorstRow::revealWanted, this, &ResultStrip::revealWanted);
    m_change = addCell(tr("Since last"), "resultChange",
                       tr("Output and operators in int8 against the comparison before"));
    m_row->addStretch(1);
    const auto later = coalesced(this, [this] { show(); });
    connect(&workspace.document(), &Document::resultsChanged, this, [this, later] {
        take();
        later();
    });
    connect(&workspace.document(), &Document::modelChanged, this, [this, later] {
        m_history = {};
        later();
    });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.live(), &LivePreview::followingChanged, this, later);
    connect(&workspace.live(), &LivePreview::beforeChanged, this, later);
    connect(&workspace.causes(), &CauseFinder::changed, this, later);
    take();
    show();
}

ResultStrip::Cell ResultStrip::addCell(const QString& caption, const char* name, const QString& tip)
{
    Cell cell {new QWidget(this), nullptr};
    auto* row = makeHBox(cell.box, {}, 6);
    auto* word = makeMutedLabel(caption, 11.5, cell.box);
    cell.value = new QLabel(cell.box);
    cell.value->setObjectName(QString::fromLatin1(name));
    cell.value->setFont(uiFont(12, 600));
    addItems(*row, {word, cell.value});
    cell.box->setToolTip(tip);
    m_row->addWidget(cell.box);
    return cell;
}

void ResultStrip::setHistory(const History& history)
{
    if (history.comparison != m_workspace.document().comparison())
        return;
    m_history = history;
    show();
}

/// Takes the document's comparison; the shown one becomes the previous one.
void ResultStrip::take()
{
    const auto& document = m_workspace.document();
    const ComparisonPtr comparison = document.comparison();
    if (comparison == m_history.comparison)
        return;
    m_history.comparison = comparison;
    if (!comparison || !document.plan()) {
        m_history.now.reset();
        return;
    }
    const DecisionKeys& keys = document.keys();
    const Key data
        = KeyBuilder("compared").add(keys.comparisonData).add(keys.cut).add(keys.against).key();
    m_history.before = data == m_history.data ? m_history.now : std::nullopt;
    m_history.data = data;
    m_history.now = resultFigures(*comparison, *document.plan(), {});
    m_history.now->data = document.comparedOn();
    count();
}

void ResultStrip::count()
{
    const auto& document = m_workspace.document();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, QStringLiteral("resultSize"),
        [model = document.model(), plan = document.plan(),
         comparison = m_history.comparison](JobContext&) {
            return std::pair(
                comparison,
                resultFigures(*comparison, *plan, moduleStatistics(*model, plan.get())));
        },
        this,
        [this](const std::pair<ComparisonPtr, ResultFigures>& counted) {
            if (counted.first != m_history.comparison)
                return;
            const std::string data = m_history.now->data;
            m_history.now = counted.second;
            m_history.now->data = data;
            show();
        });
}

/// Marks figures that do not belong to the current decisions, with their origin.
void ResultStrip::showMark()
{
    const Theme& t = theme();
    const ShownRunPtr& run = m_workspace.shownRun();
    const bool stale = !run && (m_history.now || m_workspace.facts().preview())
        && (!m_history.now || m_workspace.document().isStale(Stage::Compare));
    m_stale->setVisible(stale || run);
    m_stale->setText(
        run ? tr("%1 · not the current decisions").arg(run->title())
            : m_workspace.live().isFollowing() ? tr("⟳ comparing all data")
            : m_history.now
            ? tr("⚠ %1: compare again").arg(m_workspace.document().staleReason(Stage::Compare))
            : tr("⚠ graph edited: compare again"));
    const ComparisonPtr& shown = m_workspace.facts().comparison();
    m_against->setVisible(shown && shown->againstOriginal);
    m_stale->setToolTip(run ? tr("B shows the next run, Shift+B the current result again")
                            : QString());
    m_stale->setStyleSheet(inkStyle(run ? t.accent : t.warning));
    const QColor fill = run ? t.accentSoft : stale ? t.warningFill : t.panel;
    setStyleSheet(QStringLiteral("QWidget#resultStrip { background: %1; border-bottom: 1px solid "
                                 "%2; }")
                      .arg(fill.name(), (run ? t.accent : t.border).name()));
}

void ResultStrip::show()
{
    const ShownRunPtr& run = m_workspace.shownRun();
    const PreviewPtr& preview = m_workspace.facts().preview();
    m_cause->refresh();
    const bool any = run || m_history.now || preview || !m_cause->words().isEmpty();
    setVisible(any);
    if (!any)
        return;
    m_figures = run ? run->record->headline : m_history.now ? *m_history.now : ResultFigures();
    const ResultFigures* now = &m_figures;
    showMark();
    showPreview();
    if (!run && !m_history.now) { // an edited graph that was not compared yet
        for (const Cell* cell : {&m_output, &m_data, &m_metric, &m_top1, &m_agreement, &m_size,
                                 &m_coverage, &m_trained, &m_change})
            cell->value->setText({});
        m_worst->refresh(false);
        fit();
        return;
    }
    QString output = now->outputDb() ? shownSqnr(*now->outputDb()) : QString();
    if (now->loweredDb() && now->referenceDb())
        output += tr(" (reference %1)").arg(shownSqnr(*now->referenceDb(), ""));
    m_output.value->setText(output);
    m_metric.value->setText(metricCellText());
    m_top1.value->setText(now->floatTop1 && now->int8Top1
                              ? share(*now->floatTop1) + kTo + share(*now->int8Top1)
                              : QString());
    m_agreement.value->setText(now->agreement ? share(now->agreement->top1) : QString());
    m_size.value->setText(
        now->floatBytes && now->int8Bytes && *now->floatBytes > 0
            ? QStringLiteral("%1 (%2 %)")
                  .arg(toQString(bytesText(double(*now->floatBytes))) + kTo
                       + toQString(bytesText(double(*now->int8Bytes))))
                  .arg(std::lround(100.0 * double(*now->int8Bytes) / double(*now->floatBytes)))
            : QString());
    const int quantized = now->quantizedOps.value_or(0), eligible = now->eligibleOps.value_or(0);
    m_coverage.value->setText(eligible > 0 ? toQString(coverageShortText(quantized, eligible))
                                           : QString());
    m_coverage.box->setToolTip(
        toQString(coverageText(quantized, eligible, now->totalOps.value_or(0)))
        + tr(". Eligible are operators that a pattern of the backend matches"));
    m_trained.value->setText(run ? QString() : trainedRangesText(m_workspace.document()));
    showData();
    m_change.value->setText(m_history.before && !run ? changeText(*now, *m_history.before)
                                                     : QString());
    m_worst->refresh(true);
    fit();
}

QString ResultStrip::metricCellText() const
{
    const ShownRunPtr& run = m_workspace.shownRun();
    const Document& document = m_workspace.document();
    const DecisionKeys* compared = document.keysOf(Stage::Compare);
    const auto evaluation = run ? run->record->headline.evaluation
        : compared              ? document.evaluationOf(*compared)
                                : std::nullopt;
    return evaluation ? metricText(evaluation->floating) + kTo + metricText(evaluation->int8)
                      : QString();
}

/// Shows the data of the figures and their number of samples.
void ResultStrip::showData()
{
    const QString data = toQString(m_figures.data);
    const QString samples = toQString(counted(m_figures.samples, "sample"));
    const QString name = data == QLatin1String("sample") ? tr("the model's example inputs")
                                                         : QFileInfo(data).fileName();
    m_data.value->setText(data.isEmpty() ? QString() : tr("%1, %2").arg(name, samples));
    m_data.box->setToolTip(data.isEmpty() ? QString() : tr("%1 of %2").arg(samples, data));
}

void ResultStrip::showPreview()
{
    const PreviewPtr& preview = m_workspace.facts().preview();
    const auto db = preview ? preview->outputDb() : std::nullopt;
    QString text;
    if (preview) {
        const auto gain = m_workspace.live().gain();
        text = db ? shownSqnr(*db) : tr("no signal");
        if (!preview->estimated.empty())
            text.prepend(QStringLiteral("≈ "));
        text += QStringLiteral(" (%1%2)").arg(gain ? gained(*gain) + QStringLiteral(", ")
                                                   : QString(),
                                              toQString(counted(preview->samples, "sample")));
    }
    m_preview.value->setText(text);
    QString tip = tr("A preview: a few samples through the reference form with the current "
                     "decisions, and the change against the compared decisions");
    if (preview && !preview->estimated.empty()) {
        QStringList names;
        for (const std::string& name : preview->estimated)
            names << toQString(name);
        tip += tr(". Estimated: these samples alone gave the ranges of %1, which no observer has "
                  "seen")
                   .arg(names.join(QStringLiteral(", ")));
    }
    m_preview.box->setToolTip(tip);
}

void ResultStrip::fit()
{
    int room = width() - 2 * 14;
    if (!m_stale->isHidden())
        room -= m_stale->sizeHint().width() + m_row->spacing();
    if (!m_against->isHidden())
        room -= m_against->sizeHint().width() + m_row->spacing();
    QStringList hidden;
    const auto place = [&](QWidget* box, const QString& text) {
        const int wanted = box->sizeHint().width() + m_row->spacing();
        const bool any = !text.isEmpty();
        box->setVisible(any && wanted <= room);
        if (any && wanted <= room)
            room -= wanted;
        else if (any)
            hidden << text;
    };
    const auto words = [](const Cell& cell) {
        const QString value = cell.value->text();
        return value.isEmpty() ? QString()
                               : cell.box->findChild<QLabel*>()->text() + QLatin1Char(' ') + value;
    };
    place(m_preview.box, words(m_preview));
    place(m_output.box, words(m_output));
    place(m_metric.box, words(m_metric));
    place(m_cause, m_cause->words());
    place(m_data.box, words(m_data));
    place(m_worst, m_worst->words());
    std::vector<const Cell*> rest {&m_change, &m_coverage, &m_trained, &m_top1, &m_size};
    // With accuracy known, the models' agreement is the least important cell; else it replaces it.
    rest.insert(m_figures.floatTop1 ? rest.end() : rest.begin() + 2, &m_agreement);
    for (const Cell* cell : rest)
        place(cell->box, words(*cell));
    setToolTip(hidden.join(QLatin1Char('\n')));
}

QSize ResultStrip::minimumSizeHint() const
{
    return {px(160), sizeHint().height()};
}

void ResultStrip::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (!isHidden())
        fit();
}

} // namespace qs
