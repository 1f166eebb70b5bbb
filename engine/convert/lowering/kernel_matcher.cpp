// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/kernel_matcher.h"

#include "engine/convert/lowering/lowering_ops.h"
#include "engine/graph/match/pattern_match.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/plan/names/op_vocabulary.h"
#include "engine/prepare/weighted_op.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

std::size_t readerCount(const GraphEdit& edit, NodeId id)
{
    std::unordered_set<NodeId> readers;
    for (const Use& use : edit.users({id, 0}))
        readers.insert(use.node);
    return readers.size();
}

bool isReadAlone(std::size_t readers, std::string& why)
{
    if (readers != 1)
        why = "its float result is read elsewhere as well";
    return readers == 1;
}

/// Matches operators by kind; the next operator of a chain may produce any of the arguments.
class KindView final : public PatternView
{
public:
    explicit KindView(const GraphEdit& edit)
        : m_edit(edit)
    {
    }
    const Node* tryGet(NodeId id) const override { return m_edit.tryGet(id); }
    bool fits(const Node& node, const GraphPattern& pattern) const override
    {
        return operatorKind(m_edit, node) == pattern.targets.front();
    }
    std::vector<Inflow> inputs(const Node& node, const GraphPattern& pattern) const override
    {
        for (const Inflow& input : PatternView::inputs(node, pattern))
            if (fits(m_edit.get(input.second.node), pattern.inputs.front()))
                return {input};
        return {};
    }
    std::size_t readers(NodeId id) const override { return readerCount(m_edit, id); }

private:
    const GraphEdit& m_edit;
};

class KernelMatcher
{
public:
    KernelMatcher(const GraphEdit& edit, const LoweringOptions& options,
                  const QuantizedValues& values)
        : m_edit(edit)
        , m_options(options)
        , m_values(values)
    {
    }

    std::optional<KernelMatch> tryMatch(NodeId quantize, const KernelRow& row,
                                        std::string& why) const
    {
        KernelMatch match;
        if (row.mode != KernelMode::Static)
            return std::nullopt;
        match.row = row;
        match.quantize = quantize;
        const NodeId last = argumentRef(m_edit.get(quantize), "self").node;
        match.chain = kernelChain(m_edit, row, last, why);
        if (match.chain.empty() || !isReadAlone(readerCount(m_edit, last), why)
            || !mayLower(match, why) || !collectInputs(match, why) || !paramsFit(match, why))
            return std::nullopt;
        const auto member = m_options.lastMember.find(last);
        match.origin = member == m_options.lastMember.end() ? last : member->second;
        return match;
    }

private:
    /// False if a rule keeps an operator of the chain float, unless it only moves values. As in
    /// torch.ao, an operator that only the backend refused may be lowered if it is between
    /// dequantize and quantize.
    bool mayLower(const KernelMatch& match, std::string& why) const
    {
        for (NodeId id : match.chain) {
            const std::string kind = operatorKind(m_edit, m_edit.get(id));
            const bool moves = movesValues(kind) || kind == "dropout";
            if (!moves && m_options.keptFloat.contains(id)) {
                why = "a rule of the recipe keeps it float";
                return false;
            }
            if (match.row.modulesAlone && !m_options.quantized.contains(id)
                && !opNameOf(m_edit.get(id)).isModule()) {
                why = "the backend has no pattern for the function, only for the module";
                return false;
            }
        }
        return true;
    }

    /// Collects the chain's inputs: quantized activations go to the match. False for a float tensor
    /// that is not a parameter of the operator.
    bool collectInputs(KernelMatch& match, std::string& why) const
    {
        bool ok = true;
        for (NodeId id : match.chain) {
            const Node& node = m_edit.get(id);
            const auto op = weightedOp(node);
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    ok = ok && collectInput(node, op, argument.name, ref, match);
                });
        }
        if (!ok || match.quantized.empty())
            why = "an input is not dequantized";
        return ok && !match.quantized.empty();
    }

    bool collectInput(const Node& node, const std::optional<WeightedOp>& op,
                      const std::string& name, ValueRef ref, KernelMatch& match) const
    {
        const Node& producer = m_edit.get(ref.node);
        const bool inChain
            = std::find(match.chain.begin(), match.chain.end(), ref.node) != match.chain.end();
        if (inChain || producer.outputs.at(ref.index).type.kind != ValueKind::Tensor)
            return true;
        if (op && (name == op->weight || name == op->bias))
            return true;
        if (const OperatorFactsPtr facts = packOperator(node.target); facts
            && std::find(facts->carried.begin(), facts->carried.end(), name)
                != facts->carried.end())
            return true;
        const ValueRef before
            = producer.isOp(kDequantizeTensor) ? argumentRef(producer, "self") : ValueRef {};
        if (before && m_values.quantizeOf.contains(before)) {
            match.dequantized.push_back(ref);
            match.quantized.push_back(before);
            return true;
        }
        static constexpr std::array<std::string_view, 4> kParameters {
            "weight", "bias", "running_mean", "running_var"};
        const bool stored = producer.isStored();
        return stored && !op && node.args.at(0).name != name
            && std::find(kParameters.begin(), kParameters.end(), name) != kParameters.end();
    }

    /// Whether the row's kernel supports the parameters of inputs and result.
    bool paramsFit(KernelMatch& match, std::string& why) const
    {
        const auto out = paramsOf(m_edit.get(match.quantize));
        if (!out)
            return false;
        match.scale = out->scale;
        match.zeroPoint = out->zeroPoint;
        for (ValueRef input : match.quantized) {
            const auto in = m_values.paramsOfValue(m_edit, input);
            if (!in || in->dtype != out->dtype) {
                why = "input and output have different integer types";
                return false;
            }
            if (match.row.output != KernelOutput::AsInput
                && (match.row.output != KernelOutput::AsFirst || input != match.quantized.front()))
                continue;
            if (match.quantized.size() > 1 && m_values.ownParams.contains(input)) {
                why = "the operator keeps its first input's parameters, but the kernel before "
                      "another input chooses its own";
                return false;
            }
            if (*in == *out)
                continue;
            const bool strays = !isPlanned(match) || m_values.stray.contains(input);
            if (match.quantized.size() > 1 || (strays && !resamples(match))) {
                why = "the operator keeps its input's parameters, but its output has others";
                return false;
            }
            // As in torch.ao, readers get the input's parameters: finer or coarser, but values are
            // not rounded twice.
            match.scale = in->scale;
            match.zeroPoint = in->zeroPoint;
            match.strays = strays;
        }
        return match.row.output != KernelOutput::Fixed || fixedFits(match, *out, why);
    }

    bool isPlanned(const KernelMatch& match) const
    {
        return std::any_of(match.chain.begin(), match.chain.end(),
                           [&](NodeId id) { return m_options.quantized.contains(id); });
    }

    /// Whether the operator is pooling or interpolation.
    bool resamples(const KernelMatch& match) const
    {
        const std::string kind = operatorKind(m_edit, m_edit.get(match.chain.front()));
        return match.chain.size() == 1
            && (kind.find("_pool") != std::string::npos || kind.starts_with("upsample_"));
    }

    /// A fixed-output kernel may replace a quantize node with other parameters only if a consumer,
    /// not the plan for this operator, requested it (as in torch.ao).
    bool fixedFits(KernelMatch& match, const QuantizeParams& wanted, std::string& why) const
    {
        constexpr std::int64_t kSignedShift = 128; // offset of the same grid in signed integers
        match.scale = match.row.fixedScale;
        match.zeroPoint
            = match.row.fixedZeroPoint - (wanted.dtype == DType::QInt8 ? kSignedShift : 0);
        if (wanted.scale == match.scale && wanted.zeroPoint == match.zeroPoint)
            return true;
        if (isPlanned(match) || (wanted.dtype != DType::QUInt8 && wanted.dtype != DType::QInt8)) {
            why = "the kernel's output parameters are fixed, and others are required";
            return false;
        }
        return true;
    }

    const GraphEdit& m_edit;
    const LoweringOptions& m_options;
    const QuantizedValues& m_values;
};

} // namespace

std::vector<NodeId> kernelChain(const GraphEdit& edit, const KernelRow& row, NodeId last,
                                std::string& why)
{
    const auto found = matchPattern(KindView(edit), chainPattern(row.pattern), last);
    if (!found || (found->crowded && !isReadAlone(found->readers, why)))
        return {};
    return found->nodes;
}

std::optional<QuantizeParams> paramsOf(const Node& quantize)
{
    const Argument* scale = quantize.tryArg("scale");
    const Argument* zeroPoint = quantize.tryArg("zero_point");
    const Argument* dtype = quantize.tryArg("dtype");
    if (!scale || !scale->asDouble() || !zeroPoint || !zeroPoint->asInt() || !dtype
        || !dtype->asDType())
        return std::nullopt;
    return QuantizeParams {*scale->asDouble(), *zeroPoint->asInt(), *dtype->asDType()};
}

std::optional<QuantizeParams> QuantizedValues::paramsOfValue(const GraphEdit& edit,
                                                             ValueRef quantized) const
{
    const auto it = quantizeOf.find(quantized);
    if (it == quantizeOf.end())
        return std::nullopt;
    if (const Node* alive = edit.tryGet(it->second))
        return paramsOf(*alive);
    return gone.at(it->second);
}

std::optional<KernelMatch> matchKernel(const GraphEdit& edit, const LoweringOptions& options,
                                       const QuantizedValues& values, NodeId quantize,
                                       const KernelRow& row, std::string& why)
{
    return KernelMatcher(edit, options, values).tryMatch(quantize, row, why);
}

} // namespace qs
