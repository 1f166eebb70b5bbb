// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/lower.h"

#include "engine/base/memory/free_later.h"
#include "engine/convert/lowering/emit/emit_kernel.h"
#include "engine/convert/lowering/emit/float_kernel.h"
#include "engine/convert/lowering/emit/pointwise_kernel.h"
#include "engine/convert/lowering/kernel_matcher.h"
#include "engine/convert/lowering/lowered_strides.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/convert/lowering/module_draft.h"
#include "engine/convert/lowering/quantized_tensors.h"
#include "engine/convert/quantize_weights.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/readers.h"
#include "engine/prepare/weighted_op.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

constexpr std::size_t kNodesAReport = 1000; ///< nodes

class Lowering
{
public:
    Lowering(const Graph& reference, const LoweringOptions& options)
        : m_edit(reference)
        , m_options(options)
    {
    }

    Result<LoweredGraph> run(const JobContext& job)
    {
        const auto order = m_edit.order();
        for (NodeId id : order) {
            QS_CHECK(job.check());
            if (useQuantizedTensor(m_edit, id))
                m_values.quantizeOf[{id, 0}] = id;
        }
        std::size_t done = 0;
        for (NodeId id : order) {
            QS_CHECK(job.check());
            // Lowering again without some kernels is part of their check and reports no progress.
            if (++done % kNodesAReport == 0 && m_options.refused.empty())
                job.report("convert", "lowering", 0.4 + 0.1 * double(done) / double(order.size()));
            if (!m_edit.contains(id))
                continue;
            if (m_edit.get(id).isOp(kQuantizeTensor))
                lowerAt(id);
            else if (m_options.modules.contains(id))
                lowerModule(id);
            else if (m_options.quantized.contains(id))
                lowerFloatAt(id);
        }
        for (NodeId id : m_edit.order())
            readShapeBeforeDequantize(m_edit, id);
        QS_CHECK(job.check());
        m_edit.eraseDead();
        QS_CHECK(job.check());
        const auto moved = restoreStrides(m_edit);
        for (KernelSite& site : m_out.sites)
            for (auto& [read, reference] : site.inputs)
                if (const auto it = moved.find(read); it != moved.end())
                    read = it->second;
        QS_CHECK(job.check());
        auto graph = std::make_shared<const Graph>(m_edit.build());
        QS_CHECK(job.check());
        QS_CHECK(verifyGraph(*graph, job));
        std::erase_if(m_out.sites,
                      [&](const KernelSite& site) { return !graph->tryGet(site.kernel); });
        m_out.graph = std::move(graph);
        m_out.reduceRange = m_options.reduceRange;
        return std::move(m_out);
    }

private:
    void lowerAt(NodeId quantize)
    {
        const ValueRef input = argumentRef(m_edit.get(quantize), "self");
        if (const auto same = sameAlready(quantize, input)) {
            pass(quantize, *same);
            return;
        }
        if (const auto it = m_options.refused.find(quantize); it != m_options.refused.end()) {
            m_out.reasons[quantize] = it->second;
            return;
        }
        std::string why;
        for (const KernelRow& row : m_options.rows) {
            auto match = matchKernel(m_edit, m_options, m_values, quantize, row, why);
            if (!match)
                continue;
            if (row.kernel == kNoKernel) {
                pass(quantize, match->quantized.at(0));
                eraseChain(match->chain);
                return;
            }
            auto kernel = emitKernel(m_edit, *match);
            if (!kernel) {
                why = kernel.error().message;
                continue;
            }
            record(*match, *kernel);
            pass(quantize, *kernel);
            m_values.gone[quantize].scale = match->scale;
            m_values.gone[quantize].zeroPoint = match->zeroPoint;
            if (keepsOwnParams(*match, m_edit.get(kernel->node)))
                m_values.ownParams.insert(*kernel);
            if (match->strays)
                m_values.stray.insert(*kernel);
            eraseChain(match->chain);
            return;
        }
        if (why.empty() && m_edit.get(input.node).kind == NodeKind::Op) {
            const std::string kind = operatorKind(m_edit, m_edit.get(input.node));
            why = "no row of the lowering table for "
                + (kind.empty() ? m_edit.get(input.node).target : kind);
        }
        if (!why.empty())
            m_out.reasons[quantize] = why;
    }

    /// Whether the kernel's result has other parameters than the reference form quantizes to.
    bool keepsOwnParams(const KernelMatch& match, const Node& kernel) const
    {
        return choosesParams(kernel.target)
            || (match.row.output == KernelOutput::AsInput
                && std::any_of(match.quantized.begin(), match.quantized.end(),
                               [&](ValueRef in) { return m_values.ownParams.contains(in); }));
    }

    /// The quantized value that quantizing `input` would only reproduce.
    std::optional<ValueRef> sameAlready(NodeId quantize, ValueRef input) const
    {
        const Node& producer = m_edit.get(input.node);
        if (!producer.isOp(kDequantizeTensor))
            return std::nullopt;
        const ValueRef before = argumentRef(producer, "self");
        const auto known = m_values.paramsOfValue(m_edit, before);
        if (known && known == paramsOf(m_edit.get(quantize)))
            return before;
        return std::nullopt;
    }

    /// Makes the readers of the quantize node read `value`.
    void pass(NodeId quantize, ValueRef value)
    {
        m_edit.replaceUses({quantize, 0}, value);
        m_values.gone[quantize] = *paramsOf(m_edit.get(quantize));
        m_values.quantizeOf.emplace(value, quantize);
        m_edit.erase(quantize);
    }

    void eraseChain(const std::vector<NodeId>& chain)
    {
        for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
            if (!hasReaders(m_edit, *it))
                m_edit.erase(*it);
        }
    }

    void record(const KernelMatch& match, ValueRef kernel)
    {
        KernelSite site {
            match.quantize, false, kernel.node, match.origin, m_edit.get(kernel.node).target, {}};
        const auto asked = paramsOf(m_edit.get(match.quantize));
        site.ownGrid = choosesParams(site.target)
            || (match.row.output == KernelOutput::AsInput
                && (match.scale != asked->scale || match.zeroPoint != asked->zeroPoint));
        for (ValueRef input : match.quantized)
            site.inputs.emplace_back(input, ValueRef {m_values.quantizeOf.at(input), 0});
        for (std::uint32_t i = 1; i < m_edit.get(kernel.node).outputs.size(); ++i)
            m_floatOf[{kernel.node, i}] = {match.chain.front(), i};
        // Other arguments of a pack's kernel, as in the reference form.
        for (const NamedArgument& argument : m_edit.get(kernel.node).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const Node& producer = m_edit.get(ref.node);
                const bool carried = !m_values.quantizeOf.contains(ref)
                    && !isPrepackTarget(producer.target)
                    && (producer.outputs.at(ref.index).type.kind == ValueKind::Tensor
                        || producer.outputs.at(ref.index).type.kind == ValueKind::Custom);
                const auto floating = m_floatOf.find(ref);
                if (carried && !match.row.arguments.empty())
                    site.inputs.emplace_back(ref,
                                             floating == m_floatOf.end() ? ref : floating->second);
            });
        m_out.sites.push_back(std::move(site));
    }

    /// Replaces a custom module by its kernels; records the reason if that fails.
    void lowerModule(NodeId id)
    {
        if (const auto it = m_options.refused.find(id); it != m_options.refused.end()) {
            m_out.reasons[id] = it->second;
            return;
        }
        if (auto lowered = putKernels(id); !lowered)
            m_out.reasons[id] = std::move(lowered).error().message;
    }

    Result<void> putKernels(NodeId id)
    {
        LoweredModuleDraft draft(m_edit, id);
        QS_TRY(const NodeId made, m_options.modules.at(id)(draft));
        const auto count = std::uint32_t(m_edit.get(id).outputs.size());
        for (std::uint32_t i = 0; i < count; ++i)
            for (const Use& use : m_edit.users({id, i}))
                if (isQuantizedResult(made, i) && !m_edit.get(use.node).isOp(kQuantizeTensor))
                    return fail(ErrorCode::Unsupported,
                                "its float result is read elsewhere as well");
        m_out.sites.push_back({id, true, made, id, m_edit.get(made).target, moduleInputs(made)});
        for (std::uint32_t i = 0; i < count; ++i) {
            if (isQuantizedResult(made, i)) {
                for (const Use& quantize : m_edit.users({id, i}))
                    pass(quantize.node, {made, i});
                continue;
            }
            m_edit.replaceUses({id, i}, {made, i});
            m_floatOf[{made, i}] = {id, i};
        }
        m_edit.erase(id);
        return {};
    }

    bool isQuantizedResult(NodeId kernel, std::uint32_t output) const
    {
        const auto& outputs = m_edit.get(kernel).outputs;
        const DType dtype = output < outputs.size() ? outputs[output].type.dtype : DType::Unknown;
        return storageDType(dtype) != DType::Unknown && storageDType(dtype) != dtype;
    }

    std::vector<std::pair<ValueRef, ValueRef>> moduleInputs(NodeId kernel) const
    {
        std::vector<std::pair<ValueRef, ValueRef>> inputs;
        for (const NamedArgument& argument : m_edit.get(kernel).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const auto quantize = m_values.quantizeOf.find(ref);
                const auto floating = m_floatOf.find(ref);
                inputs.emplace_back(ref,
                                    quantize != m_values.quantizeOf.end()
                                        ? ValueRef {quantize->second, 0}
                                        : floating != m_floatOf.end() ? floating->second
                                                                      : ref);
            });
        return inputs;
    }

    /// Lowers to kernels with a float result: dynamic and weight-only operators of the plan, and
    /// those whose result it leaves float.
    void lowerFloatAt(NodeId id)
    {
        const std::string kind = operatorKind(m_edit, m_edit.get(id));
        std::string why;
        for (const KernelRow& row : m_options.rows) {
            if (kind.empty() || row.pattern.front() != kind || !isOfMode(id, row.mode))
                continue;
            FloatKernelMatch match {row, floatChain(row, id), lastMemberOf(id),
                                    m_options.reduceRange};
            if (match.chain.empty() || !isOfMode(match.chain.back(), row.mode))
                continue;
            const NodeId last = match.chain.back();
            if (const auto it = m_options.refused.find(last); it != m_options.refused.end()) {
                why = it->second;
                break;
            }
            match.origin = lastMemberOf(last);
            auto kernel = row.mode == KernelMode::FloatResult
                ? emitPointwiseKernel(m_edit, match, m_values)
                : emitFloatKernel(m_edit, match);
            if (kernel)
                return replaceByFloatKernel(match, *kernel);
            why = kernel.error().message;
        }
        if (!why.empty())
            m_out.reasons[id] = why;
    }

    /// Whether the plan quantizes the operator in the mode of the row.
    bool isOfMode(NodeId id, KernelMode mode) const
    {
        const bool givesFloat = m_options.floatResults.contains(id);
        if (mode == KernelMode::Static || mode == KernelMode::FloatResult || givesFloat)
            return mode == KernelMode::FloatResult && givesFloat;
        const auto found = m_options.quantized.find(id);
        return found != m_options.quantized.end()
            && found->second == (mode != KernelMode::WeightOnly);
    }

    NodeId lastMemberOf(NodeId id) const
    {
        const auto it = m_options.lastMember.find(id);
        return it == m_options.lastMember.end() ? id : it->second;
    }

    /// The row's operators in forward order, starting at `first`.
    std::vector<NodeId> floatChain(const KernelRow& row, NodeId first) const
    {
        NodeId last = first;
        for (std::size_t i = 1; i < row.pattern.size(); ++i) {
            const auto users = m_edit.users({last, 0});
            if (users.empty())
                return {};
            last = users.front().node;
        }
        std::string why;
        std::vector<NodeId> chain = kernelChain(m_edit, row, last, why);
        if (!chain.empty() && chain.front() != first)
            chain.clear();
        return chain;
    }

    /// The reference form's value that corresponds to an input of a float kernel.
    ValueRef inReference(ValueRef ref) const
    {
        const Node& maker = m_edit.get(ref.node);
        if (maker.isOp(kIntegersOfTensor))
            if (const auto it = m_values.quantizeOf.find(argumentRef(maker, "self"));
                it != m_values.quantizeOf.end())
                return {it->second, 0};
        const auto it = m_floatOf.find(ref);
        return it == m_floatOf.end() ? ref : it->second;
    }

    void replaceByFloatKernel(const FloatKernelMatch& match, NodeId kernel)
    {
        const NodeId last = match.chain.back();
        KernelSite site {last, true, kernel, match.origin, m_edit.get(kernel).target, {}};
        for (const NamedArgument& argument : m_edit.get(kernel).args)
            forEachRef(argument.value,
                       [&](ValueRef ref) { site.inputs.emplace_back(ref, inReference(ref)); });
        m_out.sites.push_back(std::move(site));
        for (std::uint32_t i = 0; i < m_edit.get(kernel).outputs.size(); ++i) {
            m_edit.replaceUses({last, i}, {kernel, i});
            m_floatOf[{kernel, i}] = {last, i};
        }
        eraseChain(match.chain);
    }

    GraphEdit m_edit;
    const LoweringOptions& m_options;
    LoweredGraph m_out;
    QuantizedValues m_values;
    std::unordered_map<ValueRef, ValueRef>
        m_floatOf; ///< results of float kernels to the reference form's
};

} // namespace

Result<LoweredGraph> lowerGraph(const Graph& reference, const LoweringOptions& options,
                                const JobContext& job)
{
    return makeFreedLater<Lowering>(reference, options)->run(job);
}

} // namespace qs
