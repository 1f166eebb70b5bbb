// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/graph_style.h"

#include "engine/result/part_text.h"
#include "ui/graph/repeated_blocks.h"
#include "ui/graph/style/operator_colours.h"
#include "ui/session/node_measures.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

void addLegend(GraphStyle& style, const QColor& color, const QString& text)
{
    for (const auto& entry : style.legend)
        if (entry.text == text)
            return;
    if (!text.isEmpty() && style.legend.size() < 8)
        style.legend.push_back({color, text});
}

/// The nodes of a drawn node, in its own graph and in the model.
struct Judged
{
    const FoldEntry& entry;
    std::span<const NodeId> nodes; ///< of the drawn graph
    std::span<const NodeId> origins; ///< of the model
    NodeId leader; ///< among `origins`
};

/// Colours the nodes of one drawing.
class Styler
{
public:
    Styler(const GraphDrawing& drawing, const Facts& facts, ColourBy by)
        : m_drawing(drawing)
        , m_tree(*drawing.tree)
        , m_graph(*drawing.graph)
        , m_facts(facts)
        , m_by(by)
        , m_term(errorTermOf(by))
    {
    }

    GraphStyle run(const std::optional<ScaleRange>& range)
    {
        m_style.by = m_by;
        m_style.nodes.resize(m_drawing.nodes.size());
        for (std::size_t i = 0; i < m_drawing.nodes.size(); ++i) {
            const int entry = m_drawing.nodes[i].entry;
            judge(entry, [&](const Judged& judged) { nodeStyle(judged, m_style.nodes[i]); });
            if (m_tree.entry(entry).repeats > 0)
                styleBlocks(int(i), entry);
        }
        spread(range);
        m_style.words = [&drawing = m_drawing, &facts = m_facts, by = m_by,
                         spreads = std::move(m_spreads)](int index, const NodeStyle& nodeStyle) {
            NodeText out = Styler(drawing, facts, by).text(index, nodeStyle);
            out.detail += spreads.count(index) ? spreads.at(index) : QString();
            return out;
        };
        return std::move(m_style);
    }

private:
    template<class Visit>
    void judge(int index, Visit&& visit)
    {
        const auto& entry = m_tree.entry(index);
        std::span<const NodeId> nodes = entry.members;
        if (entry.isModule()) {
            m_inside = m_tree.nodesOf(index);
            nodes = m_inside;
        }
        std::span<const NodeId> origins = nodes;
        if (&m_graph != m_facts.model()) {
            m_origins.clear();
            for (const NodeId id : nodes)
                if (const NodeId origin = floatNodeOf(m_graph, m_facts.model(), id))
                    m_origins.push_back(origin);
            origins = m_origins;
        }
        visit(Judged {entry, nodes, origins, m_facts.leader(origins)});
    }

    std::optional<double> measure(const Judged& judged) const
    {
        const auto asPower = [](std::optional<double> value, double unit) {
            return value ? std::optional(std::log2(*value / unit)) : std::nullopt;
        };
        switch (m_by) {
        case ColourBy::Memory:
            return asPower(memoryOf(m_graph, m_tree, judged.entry, judged.nodes), 1);
        case ColourBy::Time:
            return asPower(m_facts.seconds(m_graph, judged.nodes), 1e-9);
        case ColourBy::Noise:
            if (const auto noise = m_facts.noise(judged.origins))
                return noise->part;
            return {};
        case ColourBy::Imported:
            return importedNumber(judged);
        default:
            return m_facts.worstSqnr(judged.origins, m_term);
        }
    }

    /// Returns the imported number of a node; of a folded module the largest inside.
    std::optional<double> importedNumber(const Judged& judged) const
    {
        std::optional<double> largest;
        for (const NodeId id : judged.origins)
            if (const auto* found = m_facts.imported(id); found && found->value)
                largest = std::max(largest.value_or(*found->value), *found->value);
        return largest;
    }

    const ImportedValue* imported(const Judged& judged) const
    {
        for (const NodeId id : judged.origins)
            if (const auto* found = m_facts.imported(id))
                return found;
        return nullptr;
    }

    /// Sets the spread of a box: " · 28.1…41.0 dB", from the worst to the best of the blocks' worst
    /// errors.
    void styleBlocks(int index, int box)
    {
        m_style.nodes[std::size_t(index)].repeats = true;
        const auto spread = spreadOf(m_tree, box, [this](int entry) {
            std::optional<double> sqnr;
            judge(entry,
                  [&](const Judged& judged) { sqnr = m_facts.worstSqnr(judged.origins, m_term); });
            return sqnr;
        });
        if (!spread)
            return;
        const auto [worst, best] = *spread;
        const QString from = worst < best ? shownSqnr(worst, "") + QStringLiteral("…") : QString();
        m_spreads[index] = QStringLiteral(" · ") + from + shownSqnr(best);
    }

    void nodeStyle(const Judged& judged, NodeStyle& out)
    {
        out.folded = judged.entry.isModule();
        const QColor bar = barColor(judged);
        out.bar = bar.rgb();
        if (const auto value = measure(judged)) {
            out.measure = float(*value);
            out.faded = m_by == ColourBy::Noise
                ? m_facts.diagnosisStale()
                : isErrorColour(m_by) && m_facts.errorsStale(m_term);
        } else if (!out.folded) {
            const Verdict verdict = m_facts.verdict(judged.origins);
            if (isFloat(verdict))
                out.fill = verdictColor(verdict).rgb();
        }
        if (m_by == ColourBy::Imported)
            styleImported(judged, out);
        else if (m_by < ColourBy::Memory)
            addLegend(m_style, bar, legendText(judged));
    }

    /// Sets the imported colour of the node, else the colour of its text.
    void styleImported(const Judged& judged, NodeStyle& out)
    {
        const auto* found = out.folded ? nullptr : imported(judged);
        out.fill = 0;
        if (!found) {
            out.bar = verdictColor(Verdict::NotApplicable).rgb();
            return;
        }
        const QColor own(toQString(found->colour));
        if (own.isValid())
            out.bar = own.rgb();
        else if (!found->text.empty())
            out.bar = wordColor(toQString(found->text)).rgb();
        if (!found->text.empty())
            addLegend(m_style, QColor(out.bar), toQString(found->text));
    }

    QColor barColor(const Judged& judged) const
    {
        switch (m_by) {
        case ColourBy::Op: {
            if (judged.entry.isModule())
                return wordColor(QString::fromStdString(judged.entry.className));
            const Node& node = m_graph.get(judged.nodes.front());
            return node.isOperator() ? opColor(opName(judged))
                                     : verdictColor(Verdict::NotApplicable);
        }
        case ColourBy::QConfig:
            return wordColor(m_facts.decisionText(judged.origins, false));
        case ColourBy::DType:
            return wordColor(legendText(judged));
        default:
            return verdictColor(m_facts.verdict(judged.origins));
        }
    }

    /// Returns the operator that gives the unit its name.
    std::string opName(const Judged& judged) const
    {
        const bool own = m_graph.tryGet(judged.leader) && &m_graph == m_facts.model();
        return shortOpName(m_graph.get(own ? judged.leader : judged.nodes.front()).target);
    }

    QString legendText(const Judged& judged) const
    {
        switch (m_by) {
        case ColourBy::Op:
            return judged.entry.kind == FoldEntry::Kind::Unit
                ? QString::fromStdString(opName(judged))
                : QString();
        case ColourBy::QConfig:
            return m_facts.decisionText(judged.origins, false);
        case ColourBy::DType: {
            if (judged.nodes.empty() || judged.entry.kind == FoldEntry::Kind::Output)
                return {};
            const DType dtype
                = dtypeOf(m_facts, m_graph, judged.nodes.back(), m_facts.last(judged.leader));
            return dtype == DType::Unknown ? QString() : toQString(dtypeName(dtype));
        }
        default: {
            const Verdict verdict = m_facts.verdict(judged.origins);
            return m_facts.hasPlan() && verdict != Verdict::NotApplicable ? verdictText(verdict)
                                                                          : QString();
        }
        }
    }

    /// Sets the full range of the measures.
    void findRange()
    {
        const auto* data = m_facts.nodeData();
        if (isErrorColour(m_by)) {
            std::tie(m_style.full.best, m_style.full.worst) = m_facts.sqnrRange(m_term);
            m_style.scale = m_facts.hasErrors();
            return;
        }
        bool any = false;
        for (const auto& nodeStyle : m_style.nodes) {
            if (!nodeStyle.isMeasured())
                continue;
            const auto value = double(nodeStyle.measure);
            m_style.full.best = any ? std::min(m_style.full.best, value) : value;
            m_style.full.worst = any ? std::max(m_style.full.worst, value) : value;
            any = true;
        }
        if (m_by == ColourBy::Noise) {
            m_style.full.best = 0;
            m_style.scale = any && m_style.full.worst > 0;
            return;
        }
        if (m_by == ColourBy::Imported && data && data->min < data->max)
            m_style.full = {data->min, data->max};
        m_style.full.worst = std::max(m_style.full.worst, m_style.full.best + 1);
        const bool ranged = m_by == ColourBy::Imported && data && !data->thresholds.empty();
        m_style.scale = any && m_by >= ColourBy::Memory && !ranged;
    }

    /// Colours values by threshold instead of a scale; values above the last threshold get no
    /// colour.
    void paintThresholds(const NodeData& data)
    {
        for (const auto& stop : data.thresholds)
            addLegend(m_style, QColor(toQString(stop.colour)),
                      stop.label.empty() ? QObject::tr("up to %1").arg(stop.at)
                                         : toQString(stop.label));
        for (auto& nodeStyle : m_style.nodes) {
            const auto stop = std::find_if(
                data.thresholds.begin(), data.thresholds.end(),
                [&nodeStyle](const ColourStop& s) { return double(nodeStyle.measure) <= s.at; });
            if (nodeStyle.isMeasured() && stop != data.thresholds.end())
                nodeStyle.bar = QColor(toQString(stop->colour)).rgb();
        }
    }

    void prepareImported()
    {
        const auto* data = m_by == ColourBy::Imported ? m_facts.nodeData() : nullptr;
        if (!data)
            return;
        m_style.title = toQString(data->name);
        for (const auto& stop : data->gradient)
            if (const QColor colour(toQString(stop.colour)); colour.isValid())
                m_style.ramp.emplace_back(stop.at, colour.rgb());
        if (!data->thresholds.empty())
            paintThresholds(*data);
    }

    QString noiseTitle() const
    {
        if (!m_facts.diagnosis())
            return QObject::tr("found by Find causes");
        const QString title = QObject::tr("share of the output's noise");
        return m_facts.diagnosisStale() ? QObject::tr("%1, out of date").arg(title) : title;
    }

    /// Colours the measured nodes after all measures are known.
    void spread(const std::optional<ScaleRange>& range)
    {
        findRange();
        prepareImported();
        if (m_by == ColourBy::Noise)
            m_style.title = noiseTitle();
        else if (!m_style.scale && (isErrorColour(m_by) || m_by == ColourBy::Time))
            m_style.title = QObject::tr("measured by Compare");
        else if (isErrorColour(m_by))
            m_style.title = QObject::tr("SQNR, %1%2")
                                .arg(errorTermText(m_term),
                                     m_term == ErrorTerm::Cumulative && m_facts.preview()
                                         ? QStringLiteral(", ") + previewText(*m_facts.preview())
                                         : QString());
        if (const ShownRunPtr& run = m_facts.shownRun(); run && isErrorColour(m_by))
            m_style.title += QStringLiteral(" · %1").arg(run->title());
        m_style.range = range.value_or(m_style.full);
        for (auto& nodeStyle : m_style.nodes) {
            if (!nodeStyle.isMeasured() || (m_by == ColourBy::Imported && !m_style.scale))
                continue;
            const double badness = m_style.range.badness(double(nodeStyle.measure));
            nodeStyle.fill = rampColour(m_style.ramp, badness).rgb();
            // Dim nodes outside of the part that the user chose.
            nodeStyle.behind = range && m_style.scale && (badness < 0 || badness > 1);
        }
    }

    NodeText text(int index, const NodeStyle& nodeStyle)
    {
        NodeText out;
        const int at = m_drawing.nodes[std::size_t(index)].entry;
        const auto& entry = m_tree.entry(at);
        out.title = QString::fromStdString(entry.isModule() ? entry.label : entry.title);
        if (nodeStyle.isMeasured())
            out.badge = measureText(m_by, double(nodeStyle.measure));
        if (entry.isModule()) {
            // Do not iterate over the nodes inside at each paint: they may be thousands.
            if (!entry.className.empty())
                out.title += QStringLiteral("  ") + QString::fromStdString(entry.className);
            out.detail = moduleDetail(m_tree, entry);
            return out;
        }
        judge(at, [&](const Judged& judged) {
            out.detail = unitDetail(m_facts, m_graph, entry, judged.leader)
                + bodiesDetail(m_facts, m_graph, entry);
            if (entry.kind == FoldEntry::Kind::Unit)
                out.inside = insideText(m_facts, m_graph, m_tree, entry);
            // From the exact value: the style stores it as a float.
            if (const auto noise
                = m_by == ColourBy::Noise ? m_facts.noise(judged.origins) : std::nullopt)
                out.badge = toQString(partText(noise->part));
            if (const auto* found = m_by == ColourBy::Imported ? imported(judged) : nullptr;
                found && !found->text.empty())
                out.badge = toQString(found->text);
            else if (!nodeStyle.isMeasured() && &m_graph == m_facts.model())
                out.badge = verdictBadge(m_facts, judged.leader, m_facts.verdict(judged.origins));
        });
        return out;
    }

    const GraphDrawing& m_drawing;
    const FoldTree& m_tree;
    const Graph& m_graph;
    const Facts& m_facts;
    ColourBy m_by;
    ErrorTerm m_term;
    GraphStyle m_style;
    std::vector<NodeId> m_inside, m_origins;
    std::map<int, QString> m_spreads; ///< of boxes around blocks, by index of a node
};

} // namespace

NodeId floatNodeOf(const Graph& graph, const Graph* model, NodeId id)
{
    if (&graph == model || !model)
        return id;
    const Node* node = graph.tryGet(id);
    if (!node)
        return {};
    if (node->origin)
        return node->origin;
    return model->tryGet(id) ? id : NodeId();
}

GraphStyle styleGraph(const GraphDrawing& drawing, const Facts& facts, ColourBy by,
                      const std::optional<ScaleRange>& range)
{
    return Styler(drawing, facts, by).run(range);
}

} // namespace qs
