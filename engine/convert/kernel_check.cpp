// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/kernel_check.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace qs {

namespace {

constexpr double kAllowedSteps = 1;

struct Integers
{
    at::Tensor values; ///< uint8, int8 or int32
    double scale = 1;
    std::int64_t zeroPoint = 0;
};

std::string stepsText(double steps)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", steps);
    return text;
}

class KernelChecker
{
public:
    KernelChecker(const GraphPtr& reference, const LoweredGraph& lowered, Interpreter referenceRun,
                  Interpreter loweredRun)
        : m_graph(reference)
        , m_lowered(lowered)
        , m_reference(std::move(referenceRun))
        , m_run(std::move(loweredRun))
        , m_checks(lowered.sites.size())
        , m_missing(lowered.sites.size(), 0)
    {
        for (std::size_t s = 0; s < lowered.sites.size(); ++s)
            for (NodeId node : needs(lowered.sites[s])) {
                m_readers[node].push_back(s);
                ++m_missing[s];
            }
    }

    Result<std::vector<KernelCheck>> run(const Batch& batch, const JobContext& job)
    {
        std::vector<NodeId> constants;
        for (const auto& [node, sites] : m_readers)
            if (m_reference.isConstant({node, 0}))
                constants.push_back(node);
        for (NodeId node : constants) {
            QS_TRY(const at::IValue value, m_reference.constant({node, 0}));
            QS_CHECK(arrived(node, value));
        }
        const Tap tap
            = [&](ValueRef ref, const Node& node, const at::IValue& value) -> Result<void> {
            // Sizes keep their node in both forms; a kernel may take them as arguments.
            if (!value.isTensor())
                m_sizes[ref] = value;
            if (ref.index != 0 || !m_readers.contains(node.id) || m_reference.isConstant(ref))
                return {};
            QS_CHECK(job.check());
            return arrived(node.id, value);
        };
        QS_CHECK(m_reference.run(batch.inputs, tap, job));
        for (std::size_t s = 0; s < m_checks.size(); ++s)
            if (m_missing[s] > 0)
                return fail(makeError(ErrorCode::Internal, "the kernel check missed a kernel")
                                .atNode(m_lowered.graph->get(m_lowered.sites[s].kernel).name));
        return std::move(m_checks);
    }

private:
    static std::vector<NodeId> needs(const KernelSite& site)
    {
        std::vector<NodeId> nodes {site.quantize};
        for (const auto& [value, quantize] : site.inputs)
            if (std::find(nodes.begin(), nodes.end(), quantize) == nodes.end())
                nodes.push_back(quantize);
        return nodes;
    }

    Result<void> arrived(NodeId quantize, const at::IValue& value)
    {
        if (!value.isTensor())
            return fail(ErrorCode::Internal, "a quantize node made no tensor");
        const Node& node = m_graph->get(quantize);
        const Argument* scale = node.tryArg("scale");
        const Argument* zeroPoint = node.tryArg("zero_point");
        if (!scale || !scale->asDouble() || !zeroPoint || !zeroPoint->asInt())
            return fail(makeError(ErrorCode::Internal, "no fixed parameters").atNode(node.name));
        m_alive[quantize] = {value.toTensor(), *scale->asDouble(), *zeroPoint->asInt()};
        m_pending[quantize] = m_readers.at(quantize).size();
        for (std::size_t s : m_readers.at(quantize))
            if (--m_missing[s] == 0)
                check(s);
        return {};
    }

    void check(std::size_t s)
    {
        const KernelSite& site = m_lowered.sites[s];
        KernelCheck& out = m_checks[s];
        out.node = site.origin;
        out.kernel = site.target;
        const Integers& wanted = m_alive.at(site.quantize);
        auto steps = guardTorchValue<double>([&] { return difference(site, wanted); });
        if (!steps) {
            out.reason = "kernel check: " + site.target + " fails here: " + steps.error().message;
        } else {
            out.maxLsb = *steps;
            out.passed = *steps <= kAllowedSteps;
            if (!out.passed)
                out.reason = "kernel check: " + site.target + " is " + stepsText(*steps)
                    + " steps away from the reference form, 1 is allowed";
        }
        for (NodeId node : needs(site))
            if (--m_pending.at(node) == 0)
                m_alive.erase(node);
    }

    Result<double> difference(const KernelSite& site, const Integers& wanted)
    {
        Frame frame;
        for (const auto& [ref, quantize] : site.inputs) {
            const Integers& in = m_alive.at(quantize);
            frame.set(ref,
                      at::_make_per_tensor_quantized_tensor(in.values.contiguous(), in.scale,
                                                            in.zeroPoint));
        }
        const Node& kernel = m_lowered.graph->get(site.kernel);
        for (const NamedArgument& argument : kernel.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (const auto it = m_sizes.find(ref); it != m_sizes.end())
                    frame.set(ref, it->second);
            });
        QS_CHECK(m_run.runNode(kernel, frame));
        const at::Tensor made = frame.get({site.kernel, 0}).toTensor();
        if (made.sizes() != wanted.values.sizes())
            return fail(ErrorCode::Unsupported, "its result has another shape");
        if (made.numel() == 0)
            return 0.0;
        const bool sameGrid = made.is_quantized() && made.q_scale() == wanted.scale
            && made.q_zero_point() == wanted.zeroPoint;
        if (sameGrid)
            return (made.int_repr().to(at::kLong) - wanted.values.to(at::kLong))
                .abs()
                .max()
                .item<double>();
        const at::Tensor real = (made.is_quantized() ? made.dequantize() : made).to(at::kDouble);
        const at::Tensor grid
            = (wanted.values.to(at::kDouble) - double(wanted.zeroPoint)) * wanted.scale;
        return ((real - grid).abs().max() / wanted.scale).item<double>();
    }

    GraphPtr m_graph;
    const LoweredGraph& m_lowered;
    Interpreter m_reference, m_run;
    std::vector<KernelCheck> m_checks;
    std::unordered_map<NodeId, std::vector<std::size_t>> m_readers; ///< quantize node to sites
    std::vector<std::size_t> m_missing; ///< per site: quantize nodes not seen yet
    std::unordered_map<NodeId, Integers> m_alive;
    std::unordered_map<ValueRef, at::IValue> m_sizes; ///< numbers the reference form computed
    std::unordered_map<NodeId, std::size_t> m_pending; ///< sites that still need these integers
};

} // namespace

Result<std::vector<KernelCheck>> checkKernels(const GraphPtr& reference,
                                              const LoweredGraph& lowered, const Batch& batch,
                                              const JobContext& job)
{
    if (lowered.sites.empty())
        return std::vector<KernelCheck> {};
    QS_TRY(Interpreter referenceRun, Interpreter::create(reference));
    QS_TRY(Interpreter loweredRun, Interpreter::create(lowered.graph));
    return KernelChecker(reference, lowered, std::move(referenceRun), std::move(loweredRun))
        .run(batch, job);
}

} // namespace qs
