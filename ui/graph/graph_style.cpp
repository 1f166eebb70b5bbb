// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_style.h"

#include "ui/session/text.h"
#include "ui/shell/theme.h"

#include <cmath>
#include <map>

namespace qs {

namespace {

QColor opColor(const std::string& op)
{
    static const std::map<std::string, QRgb> known = {
        {"conv1d", 0xff3b7dd8},
        {"conv2d", 0xff3b7dd8},
        {"conv3d", 0xff3b7dd8},
        {"convolution", 0xff3b7dd8},
        {"linear", 0xff4a9c8c},
        {"addmm", 0xff4a9c8c},
        {"matmul", 0xff4a9c8c},
        {"batch_norm", 0xff8e7cc3},
        {"layer_norm", 0xff8e7cc3},
        {"relu", 0xffc0504d},
        {"hardtanh", 0xffc0504d},
        {"gelu", 0xffc0504d},
        {"add", 0xffd98324},
        {"mul", 0xffd98324},
        {"cat", 0xffd98324},
        {"max_pool2d", 0xff5f9e5f},
        {"adaptive_avg_pool2d", 0xff5f9e5f},
        {"avg_pool2d", 0xff5f9e5f},
    };
    const auto it = known.find(op);
    return it == known.end() ? wordColor(QString::fromStdString(op)) : QColor(it->second);
}

QString quantText(const Facts& facts, NodeId leader)
{
    const auto observer = facts.outputObserver(leader);
    const auto* planned = facts.observer(observer);
    if (!planned)
        return {};
    QString text = toQString(dtypeName(planned->spec.dtype));
    const auto range = quantRange(planned->spec);
    if (planned->spec.quantMin)
        text += QStringLiteral(" %1…%2").arg(range.min).arg(range.max);
    const auto* params = facts.qparams(observer);
    if (params && !params->scale.empty()) {
        text += QStringLiteral(" s=%1").arg(scaleText(double(params->scale.front())));
        if (!params->zeroPoint.empty() && params->zeroPoint.front() != 0)
            text += QStringLiteral(" z=%1").arg(params->zeroPoint.front());
    }
    return text;
}

bool isFloat(Verdict verdict)
{
    return verdict == Verdict::FloatByRule || verdict == Verdict::FloatByBackend
        || verdict == Verdict::FloatByConstraint || verdict == Verdict::FloatByKernelCheck;
}

QString unitDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry, NodeId leader)
{
    const auto* decided = facts.plan(leader);
    const Node* node = graph.tryGet(entry.members.front());
    if (entry.kind == FoldEntry::Kind::Output)
        return QStringLiteral("%1 value%2")
            .arg(node->args.size())
            .arg(node->args.size() == 1 ? "" : "s");
    const QString quantized = quantText(facts, leader);
    // The value of a float operator may be observed for its readers; the verdict says more.
    if (!quantized.isEmpty() && !(decided && isFloat(decided->verdict)))
        return quantized;
    if (entry.kind == FoldEntry::Kind::Input)
        return node->outputs.empty() ? QStringLiteral("input")
                                     : QString::fromStdString(node->outputs[0].type.text());
    if (decided) {
        switch (decided->verdict) {
        case Verdict::FloatByRule:
            return QStringLiteral("float (by rule)");
        case Verdict::FloatByBackend:
            return QStringLiteral("float (by backend)");
        case Verdict::FloatByConstraint:
            return QStringLiteral("float (by constraint)");
        case Verdict::FloatByKernelCheck:
            return QStringLiteral("float (kernel check)");
        case Verdict::Opaque:
            return QStringLiteral("opaque");
        case Verdict::ShapeOnly:
            return QStringLiteral("shape only");
        case Verdict::Shared:
            return QStringLiteral("shared with input");
        default:
            break;
        }
    }
    return node ? QString::fromStdString(shortOpName(node->target)) : QString();
}

/// " · 2 bodies": there is something to look into.
QString bodiesDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry)
{
    std::size_t bodies = 0;
    for (const NodeId id : entry.members) {
        const NodePtr owner = facts.bodyOwner(id);
        bodies += owner ? owner->subgraphs.size() : graph.get(id).subgraphs.size();
    }
    return bodies == 0 ? QString()
        : bodies == 1  ? QStringLiteral(" · look inside")
                       : QStringLiteral(" · %1 bodies").arg(bodies);
}

QString moduleDetail(const FoldTree& tree, const FoldEntry& entry)
{
    int blocks = 0;
    for (int child : entry.children)
        blocks += tree.entry(child).isModule();
    if (!entry.wrap.empty())
        return QStringLiteral("one node · %1 ops inside").arg(entry.units);
    QString text = QStringLiteral("%1 ops").arg(entry.units);
    if (blocks > 0)
        text += QStringLiteral(", %1 block%2").arg(blocks).arg(blocks == 1 ? "" : "s");
    return text;
}

QColor barColor(const Facts& facts, const Graph& graph, const FoldEntry& entry,
                std::span<const NodeId> nodes, ColourBy by)
{
    switch (by) {
    case ColourBy::Op:
        if (entry.isModule())
            return wordColor(QString::fromStdString(entry.className));
        if (const Node* node = graph.tryGet(facts.leader(entry.members));
            node && (node->kind == NodeKind::Op || node->kind == NodeKind::ModuleCall))
            return opColor(shortOpName(node->target));
        return verdictColor(Verdict::NotApplicable);
    case ColourBy::QConfig:
        return wordColor(facts.qconfigText(nodes));
    default:
        return verdictColor(facts.verdict(nodes));
    }
}

/// One word on what was decided, there before anything is measured.
QString verdictBadge(const Facts& facts, NodeId leader, Verdict verdict)
{
    if (isFloat(verdict))
        return QStringLiteral("float");
    if (verdict == Verdict::Opaque)
        return QStringLiteral("opaque");
    if (verdict != Verdict::Quantized && verdict != Verdict::Shared)
        return {};
    const auto* planned = facts.observer(facts.outputObserver(leader));
    const auto* decided = facts.plan(leader);
    const DType dtype = planned       ? planned->spec.dtype
        : decided && decided->qconfig ? decided->qconfig->activation.dtype
                                      : DType::Unknown;
    if (dtype == DType::Float16)
        return QStringLiteral("fp16");
    return decided && decided->qconfig && decided->qconfig->activation.isDynamic
        ? QStringLiteral("dyn")
        : QStringLiteral("int8");
}

void addLegend(GraphStyle& style, const QColor& color, const QString& text)
{
    for (const auto& entry : style.legend)
        if (entry.text == text)
            return;
    if (!text.isEmpty() && style.legend.size() < 8)
        style.legend.push_back({color, text});
}

} // namespace

bool isErrorColour(ColourBy by)
{
    return by >= ColourBy::BornHere;
}

ErrorTerm errorTermOf(ColourBy by)
{
    switch (by) {
    case ColourBy::Cumulative:
        return ErrorTerm::Cumulative;
    case ColourBy::Isolated:
        return ErrorTerm::Isolated;
    default:
        return ErrorTerm::BornHere;
    }
}

QString colourByText(ColourBy by)
{
    static const char* const texts[] = {"operator",        "verdict",          "qconfig",
                                        "born-here error", "cumulative error", "isolated error"};
    return QString::fromLatin1(texts[int(by)]);
}

QString shapeText(const ValueType& type)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return type.kind == ValueKind::Tensor ? QString() : QString::fromStdString(type.text());
    QStringList sizes;
    for (const auto& dim : type.shape)
        sizes << QString::fromStdString(dim.text());
    return sizes.isEmpty() ? QStringLiteral("scalar") : sizes.join(QStringLiteral("×"));
}

QString scaleText(double scale)
{
    QString text = std::abs(scale) >= 1e-4 && std::abs(scale) < 1000
        ? QString::number(scale, 'g', 3)
        : QString::number(scale, 'e', 2);
    if (text.startsWith(QLatin1String("0.")))
        text.remove(0, 1);
    return text;
}

GraphStyle styleGraph(const GraphDrawing& drawing, const Facts& facts, ColourBy by)
{
    GraphStyle style;
    const auto& tree = *drawing.tree;
    const Graph& graph = *drawing.graph;
    const ErrorTerm term = errorTermOf(by);
    style.scale = isErrorColour(by) && facts.hasErrors();
    std::tie(style.best, style.worst) = facts.sqnrRange(term);
    for (const auto& drawn : drawing.nodes) {
        const auto& entry = tree.entry(drawn.entry);
        const auto nodes = tree.nodesOf(drawn.entry);
        const NodeId leader = facts.leader(nodes);
        NodeStyle look;
        look.folded = entry.isModule();
        look.title = QString::fromStdString(entry.label);
        if (look.folded) {
            if (!entry.className.empty())
                look.title += QStringLiteral("  ") + QString::fromStdString(entry.className);
            look.detail = moduleDetail(tree, entry);
        } else {
            look.detail
                = unitDetail(facts, graph, entry, leader) + bodiesDetail(facts, graph, entry);
        }
        look.bar = barColor(facts, graph, entry, nodes, by);
        if (const auto sqnr = facts.worstSqnr(nodes, term)) {
            look.badge
                = *sqnr > kExactDb ? QStringLiteral("exact") : QString::number(std::lround(*sqnr));
            look.badgeFill = cividis((style.best - *sqnr) / (style.best - style.worst));
            look.faded = facts.errorsStale();
            look.isMeasured = true;
        } else if (!look.folded) {
            const Verdict verdict = facts.verdict(nodes);
            look.badge = verdictBadge(facts, leader, verdict);
            if (isFloat(verdict))
                look.badgeFill = verdictColor(verdict);
        }
        if (by == ColourBy::Op && !look.folded && entry.kind == FoldEntry::Kind::Unit)
            addLegend(style, look.bar,
                      QString::fromStdString(shortOpName(graph.get(leader).target)));
        else if (by == ColourBy::QConfig)
            addLegend(style, look.bar, facts.qconfigText(nodes));
        else if (by == ColourBy::Verdict && facts.hasPlan()
                 && facts.verdict(nodes) != Verdict::NotApplicable)
            addLegend(style, look.bar, verdictText(facts.verdict(nodes)));
        style.nodes.push_back(std::move(look));
    }
    for (const auto& box : drawing.boxes) {
        const auto& entry = tree.entry(box.entry);
        style.frameTitles.push_back(QString::fromStdString(entry.path + "  " + entry.className));
    }
    return style;
}

} // namespace qs
