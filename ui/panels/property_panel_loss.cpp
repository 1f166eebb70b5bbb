// SPDX-License-Identifier: GPL-3.0-or-later
// PropertyPanel: the card with the selection's loss.
#include "engine/base/decibels.h"
#include "engine/convert/quantize_weights.h"
#include "engine/convert/ranges/value_noise.h"
#include "ui/graph/style/colour_by.h"
#include "ui/panels/property_panel.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/session/worst_nodes.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <cmath>

namespace qs {

void PropertyPanel::showLoss()
{
    const Card::Filling filling(*m_loss);
    const auto& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    if (!facts.hasErrors()) {
        m_loss->addText(
            tr("Not measured yet. Compare runs the float and the int8 model side by side."), true);
        return;
    }
    if (selection.isEmpty() || (selection.isModule() && selection.modulePath().isEmpty())) {
        showOutputs();
        return;
    }
    static constexpr ErrorTerm kShownTerms[]
        = {ErrorTerm::Isolated, ErrorTerm::Inherited, ErrorTerm::Cumulative, ErrorTerm::BornHere};
    // All terms share one length scale; the colours are the graph's.
    auto [best, worst] = facts.sqnrRange(ErrorTerm::BornHere);
    for (const ErrorTerm term : kShownTerms) {
        const auto range = facts.sqnrRange(term);
        best = std::max(best, range.first);
        worst = std::min(worst, range.second);
    }
    bool any = false;
    for (const ErrorTerm term : kShownTerms) {
        const auto sqnr = facts.worstSqnr(selection.nodes(), term);
        if (!sqnr)
            continue;
        any = true;
        const double length = std::clamp((best - *sqnr) / (best - worst), 0.0, 1.0);
        const auto [good, bad] = facts.sqnrRange(term);
        m_loss->addBar(errorTermText(term), 0.12 + 0.88 * length,
                       cividis((good - *sqnr) / (good - bad)), lossText(*sqnr, term),
                       facts.errorsStale(term));
    }
    if (!any) {
        m_loss->addText(tr("No float value to compare with here."), true);
        return;
    }
    // A float node loses nothing; its readers quantize the value.
    const bool loses
        = facts.worstSqnr(selection.nodes(), ErrorTerm::Isolated).value_or(kExactDb) < kExactDb;
    const auto addNoise = [&](ObserverId observer, const QString& where) {
        const auto* stats = facts.stats(observer);
        const auto* params = facts.qparams(observer);
        if (!loses || !stats || !params || facts.shownRun())
            return;
        if (const auto noise = valueNoise(stats->fine, *params, storageRange(params->dtype));
            noise && noise->total() > 0)
            m_loss->addText(where
                            + tr("%1 % clipping · %2 % rounding (estimated)")
                                  .arg(std::lround(100 * noise->clipping / noise->total()))
                                  .arg(std::lround(100 * noise->rounding / noise->total())));
    };
    addNoise(facts.outputObserver(selection.current()), {});
    for (const auto& [value, observer] : facts.ownInputs(selection.current()))
        addNoise(observer, tr("at its input %1: ").arg(facts.title(value.node)));
    noteSamples();
    noteOrigin();
}

/// Returns the errors of the selection if they belong to one unit, else null.
const NodeError* PropertyPanel::onlyError() const
{
    const NodeError* only = nullptr;
    for (const NodeId node : m_workspace.selection().nodes()) {
        const NodeError* error = m_workspace.facts().error(node);
        if (error && only && error->node != only->node)
            return nullptr;
        only = error ? error : only;
    }
    return only;
}

/// Returns "34.5 dB"; for one unit whose term was measured on a part of the samples "34.5 dB
/// ±0.06".
QString PropertyPanel::lossText(double sqnr, ErrorTerm term) const
{
    const NodeError* error = onlyError();
    return shownSqnr(sqnr)
        + (error && error->term(term) ? toQString(standardErrorText(*error->term(term)))
                                      : QString());
}

/// Adds the number of samples on which the unit's local terms were measured, if not on all.
void PropertyPanel::noteSamples()
{
    const auto& facts = m_workspace.facts();
    const NodeError* error = onlyError();
    if (error && error->bornHere && error->bornHere->samples && facts.comparison())
        m_loss->addText(tr("All but cumulative: measured on %1 of %2 samples, ± standard error.")
                            .arg(*error->bornHere->samples)
                            .arg(facts.comparison()->samples),
                        true);
}

/// Adds notes if the errors belong to a stored run, a preview or older decisions, or are measured
/// against the original model.
void PropertyPanel::noteOrigin()
{
    const auto& facts = m_workspace.facts();
    if (const auto& comparison = facts.comparison(); comparison && comparison->againstOriginal)
        m_loss->addText(tr("Against the original model: edits and quantization together."), true);
    const bool isOld = facts.errorsStale();
    const QString reason = m_workspace.document().staleReason(Stage::Compare);
    if (const ShownRunPtr& run = facts.shownRun())
        m_loss->addText(tr("%1: not of the current decisions.").arg(run->title()), true);
    else if (facts.preview())
        m_loss->addText(
            tr("Cumulative: %1 with the current decisions%2.")
                .arg(previewText(*facts.preview()),
                     isOld ? tr("; the rest is out of date, %1").arg(reason) : QString()),
            true);
    else if (isOld)
        m_loss->addText(tr("Out of date, %1: compare again.").arg(reason), true);
}

void PropertyPanel::showOutputs()
{
    const auto& facts = m_workspace.facts();
    const auto& comparison = facts.comparison();
    const auto [best, worst] = facts.sqnrRange(ErrorTerm::Cumulative);
    const auto show = [&, best = best, worst = worst](const QString& name,
                                                      const std::optional<ErrorMetrics>& metrics) {
        if (!metrics || !metrics->sqnrDb)
            return;
        const double badness = (best - *metrics->sqnrDb) / (best - worst);
        m_loss->addBar(name, 0.12 + 0.88 * std::clamp(badness, 0.0, 1.0), cividis(badness),
                       shownSqnr(*metrics->sqnrDb), facts.errorsStale(ErrorTerm::Cumulative));
    };
    const auto& outputs = facts.preview() ? facts.preview()->outputs : comparison->outputs;
    for (const auto& output : outputs) {
        m_loss->addWide(QString::fromStdString(output.name));
        show(tr("reference"), output.cumulative);
        show(tr("lowered"), output.lowered);
    }
    if (comparison && !facts.preview())
        for (const std::string& line : comparison->unpaired)
            m_loss->addText(toQString(line), true);
    m_loss->addText(tr("SQNR of the model's outputs against float, all errors together."), true);
    noteOrigin();
}

} // namespace qs
