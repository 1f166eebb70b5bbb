// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/node_words.h"

#include "engine/base/text.h"
#include "engine/graph/text/graph_printer.h"
#include "ui/session/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

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

QString verdictDetail(Verdict verdict)
{
    switch (verdict) {
    case Verdict::FloatByRule:
        return QObject::tr("float (by rule)");
    case Verdict::FloatByBackend:
        return QObject::tr("float (by backend)");
    case Verdict::FloatByConstraint:
        return QObject::tr("float (by constraint)");
    case Verdict::FloatByKernelCheck:
        return QObject::tr("float (kernel check)");
    case Verdict::Opaque:
        return QObject::tr("opaque");
    case Verdict::ShapeOnly:
        return QObject::tr("shape only");
    case Verdict::Shared:
        return QObject::tr("shared with input");
    default:
        return {};
    }
}

/// Formats a literal briefly; the property panel shows numbers in full.
QString literalText(const Graph& graph, const Argument& argument)
{
    if (const auto* number = argument.asDouble())
        return QString::number(*number, 'g', 4);
    return toQString(printArgument(graph, argument));
}

} // namespace

bool isFloat(Verdict verdict)
{
    return verdict == Verdict::FloatByRule || verdict == Verdict::FloatByBackend
        || verdict == Verdict::FloatByConstraint || verdict == Verdict::FloatByKernelCheck;
}

namespace {

QString plainDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry, NodeId leader)
{
    const Node& node = graph.get(entry.members.front());
    if (entry.kind == FoldEntry::Kind::Output)
        return toQString(counted(node.args.size(), "value"));
    if (&graph == facts.model()) {
        const auto* decided = facts.plan(leader);
        QString quantized = quantText(facts, leader);
        // The result of a float operator may be observed for its readers; show the verdict instead.
        if (!quantized.isEmpty() && !(decided && isFloat(decided->verdict)))
            return quantized;
        if (QString text = decided ? verdictDetail(decided->verdict) : QString(); !text.isEmpty())
            return text;
    } else if (entry.kind == FoldEntry::Kind::Unit) {
        return QString::fromStdString(node.target);
    }
    if (entry.kind == FoldEntry::Kind::Input)
        return node.outputs.empty() ? QObject::tr("input")
                                    : QString::fromStdString(node.outputs[0].type.text());
    return QString::fromStdString(shortOpName(node.target));
}

} // namespace

QString unitDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry, NodeId leader)
{
    QString plain = plainDetail(facts, graph, entry, leader);
    const bool isModel = &graph == facts.model();
    if (isModel && facts.isOverridden(entry.members))
        plain.prepend(QStringLiteral("✎ "));
    const bool edited = isModel
        && std::any_of(entry.members.begin(), entry.members.end(),
                       [&](NodeId id) { return facts.isEdited(id); });
    return edited ? QObject::tr("edited · %1").arg(plain) : plain;
}

QString insideText(const Facts& facts, const Graph& graph, const FoldTree& tree,
                   const FoldEntry& entry)
{
    QStringList tensors, literals;
    for (const NodeId id : entry.members) {
        // In a fusion, parameters of all members but the first are shown with the module's name.
        const std::string module = lastPart(graph.get(id).scope.path);
        const bool named = id != entry.members.front() && !module.empty();
        for (const auto& arg : graph.get(id).args) {
            bool literal = !arg.value.isNone();
            forEachRef(arg.value, [&](ValueRef ref) {
                literal = false;
                if (tree.unitOf(ref.node) >= 0)
                    return;
                const QString number = facts.scalarText(ref.node);
                tensors << QStringLiteral("%1 %2").arg(
                    toQString(named ? module + "." + arg.name : arg.name),
                    number.isEmpty() ? shapeText(graph.value(ref).type) : number);
            });
            if (literal)
                literals << QStringLiteral("%1 %2").arg(toQString(arg.name),
                                                        literalText(graph, arg.value));
        }
    }
    if (!tensors.isEmpty())
        return tensors.join(QStringLiteral(", "));
    return entry.members.size() == 1 ? literals.join(QStringLiteral(", ")) : QString();
}

QString bodiesDetail(const Facts& facts, const Graph& graph, const FoldEntry& entry)
{
    std::size_t bodies = 0;
    for (const NodeId id : entry.members) {
        const NodePtr owner = facts.bodyOwner(id);
        bodies += owner ? owner->subgraphs.size() : graph.get(id).subgraphs.size();
    }
    return bodies == 0 ? QString()
        : bodies == 1  ? QObject::tr(" · look inside")
                       : QObject::tr(" · %1 bodies").arg(bodies);
}

QString nodeCount(const FoldEntry& entry)
{
    return toQString(counted(entry.units, "node"));
}

QString moduleDetail(const FoldTree& tree, const FoldEntry& entry)
{
    int blocks = 0;
    for (int child : entry.children)
        blocks += tree.entry(child).isModule();
    if (!entry.wrap.empty())
        return QObject::tr("one node · %1 inside").arg(entry.units);
    QString text = nodeCount(entry);
    if (entry.repeats > 0)
        return QObject::tr("%1 each").arg(toQString(counted(entry.units / entry.repeats, "node")));
    if (blocks > 0)
        text += toQString(", " + counted(blocks, "block"));
    return text;
}

QString verdictBadge(const Facts& facts, NodeId leader, Verdict verdict)
{
    if (isFloat(verdict))
        return QStringLiteral("float");
    if (verdict == Verdict::Opaque)
        return QObject::tr("opaque");
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

QString shapeText(const ValueType& type)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return type.kind == ValueKind::Tensor ? QString() : QString::fromStdString(type.text());
    QStringList sizes;
    for (const auto& dim : type.shape)
        sizes << QString::fromStdString(dim.text());
    return sizes.isEmpty() ? QObject::tr("scalar") : sizes.join(QStringLiteral("×"));
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

} // namespace qs
