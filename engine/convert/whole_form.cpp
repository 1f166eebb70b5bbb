// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/whole_form.h"

#include "engine/base/decibels.h"
#include "engine/base/torch_guard.h"
#include "engine/convert/lowering/recurrent_check.h"
#include "engine/execute/interpreter.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/output_names.h"
#include "engine/kernels/error_stats.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace qs {

namespace {

constexpr int kMostKernels = 16; ///< most responsible kernels; each takes log2(kernels) runs
/// Share of the kernels' noise from which one of them counts as responsible.
constexpr double kLeastShare = 1.0 / kMostKernels;

/// Signal and noise of one output, over the elements that are finite in the float model.
struct Noise
{
    double signal = 0, noise = 0;
    std::int64_t values = 0;
    double db() const { return decibelsOf(signal, noise); }
};

at::Tensor floatsOf(const at::IValue& value)
{
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().is_floating_point())
        return {};
    return value.toTensor().to(at::kCPU, at::kFloat);
}

Noise noiseOf(const at::IValue& wanted, const at::IValue& made)
{
    at::Tensor signal = floatsOf(wanted), other = floatsOf(made);
    if (!signal.defined() || !other.defined() || signal.sizes() != other.sizes())
        return {};
    const at::Tensor keep = signal.isfinite();
    signal = signal.masked_select(keep);
    other = other.masked_select(keep);
    const auto sums
        = kernels::errorSumsCpu(signal.const_data_ptr<float>(), other.const_data_ptr<float>(),
                                signal.numel(), at::get_num_threads());
    const bool finite = std::isfinite(sums.noise2);
    return {sums.signal2, finite ? sums.noise2 : std::numeric_limits<double>::max(), sums.count};
}

class WholeForm
{
public:
    WholeForm(const ConvertedModel& model, const KernelChecking& checking, LoweringOptions& options,
              LoweredGraph& lowered, const JobContext& job)
        : m_model(model)
        , m_checking(checking)
        , m_options(options)
        , m_lowered(lowered)
        , m_job(job)
    {
    }

    Result<void> hold(const FormOutputs& outputs)
    {
        QS_TRY(m_wanted, floatOutputs());
        m_reference = against(outputs.reference);
        m_noise = against(outputs.lowered);
        for (int found = 0; found < kMostKernels; ++found) {
            const auto worst = worstOutput();
            if (!worst)
                break;
            m_job.report("convert", "finding the kernel that loses", 0.8);
            QS_TRY(const bool refused, refuseResponsible(*worst));
            if (!refused)
                break;
            QS_TRY(m_lowered, lowerGraph(*m_model.reference, m_options, m_job));
            QS_TRY(m_noise, noiseOfGraph(m_lowered.graph));
        }
        return {};
    }

private:
    /// Kept ones, where checks are known.
    Result<std::vector<at::IValue>> floatOutputs() const
    {
        const KnownChecks* known = m_checking.known;
        const Key key = known ? KeyBuilder("float outputs").add(known->batch).key() : Key();
        if (const auto kept = known ? known->memo.find<std::vector<at::IValue>>(key) : nullptr)
            return *kept;
        const GraphPtr& model = m_model.prepared->model;
        QS_TRY(const Interpreter floatForm,
               Interpreter::create(model, {.layout = fastLayout(*model)}, m_job));
        QS_TRY(auto outputs, floatForm.run(m_checking.batch->inputs, {}, m_job));
        if (known) {
            std::size_t bytes = 0;
            for (const at::IValue& output : outputs)
                if (output.isTensor() && output.toTensor().defined())
                    bytes += output.toTensor().nbytes();
            known->memo.keep<std::vector<at::IValue>>(
                key, std::make_shared<const std::vector<at::IValue>>(outputs), bytes);
        }
        return outputs;
    }

    std::vector<Noise> against(const std::vector<at::IValue>& outputs) const
    {
        std::vector<Noise> all(m_wanted.size());
        for (std::size_t i = 0; i < all.size() && i < outputs.size(); ++i)
            all[i] = noiseOf(m_wanted[i], outputs[i]);
        return all;
    }

    Result<std::vector<Noise>> noiseOfGraph(const GraphPtr& graph) const
    {
        QS_TRY(const Interpreter interpreter, Interpreter::create(graph, {}, m_job));
        QS_TRY(const auto outputs, interpreter.run(m_checking.batch->inputs, {}, m_job));
        return against(outputs);
    }

    std::optional<std::size_t> worstOutput() const
    {
        std::optional<std::size_t> worst;
        double most = 0;
        for (std::size_t i = 0; i < m_noise.size(); ++i) {
            const FormErrors errors {m_reference[i].db(), m_noise[i].db(), m_noise[i].values};
            const double loss = errors.referenceDb - errors.loweredDb;
            if (m_noise[i].signal > 0 && losesMore(errors) && loss > most) {
                worst = i;
                most = loss;
            }
        }
        return worst;
    }

    /// The noise at the output if only the first `count` kernels are used.
    Result<double> noiseWith(std::size_t count, std::size_t output) const
    {
        LoweringOptions fewer = m_options;
        for (std::size_t s = count; s < m_lowered.sites.size(); ++s)
            fewer.refused.emplace(m_lowered.sites[s].reference, "");
        QS_TRY(const LoweredGraph part, lowerGraph(*m_model.reference, fewer, m_job));
        QS_TRY(const auto noise, noiseOfGraph(part.graph));
        return noise[output].noise;
    }

    /// Finds the kernel with which the noise crosses the middle between both forms; refuses it if
    /// it causes the increase.
    Result<bool> refuseResponsible(std::size_t output)
    {
        const double least = m_reference[output].noise, most = m_noise[output].noise;
        std::size_t without = 0, with = m_lowered.sites.size();
        double before = least, after = most;
        const double half = least + (most - least) / 2;
        while (with - without > 1) {
            const std::size_t middle = (without + with) / 2;
            QS_TRY(const double noise, noiseWith(middle, output));
            (noise > half ? with : without) = middle;
            (noise > half ? after : before) = noise;
        }
        if (with == 0 || after - before < (most - least) * kLeastShare)
            return false;
        const double signal = m_noise[output].signal;
        const KernelSite& site = m_lowered.sites[with - 1];
        m_options.refused[site.reference] = "kernel check: with " + site.target + " output '"
            + outputNames(*m_model.prepared->model).at(output) + "' is at "
            + dbText(Noise {signal, after, 0}.db()) + " of the float model, without it at "
            + dbText(Noise {signal, before, 0}.db());
        return true;
    }

    const ConvertedModel& m_model;
    const KernelChecking& m_checking;
    LoweringOptions& m_options;
    LoweredGraph& m_lowered;
    const JobContext& m_job;
    std::vector<at::IValue> m_wanted; ///< the float model's outputs
    std::vector<Noise> m_reference, m_noise; ///< of both forms, by output
};

/// A kernel of a pack with a float result: a custom module's, which quantizes what it reads.
bool quantizesItself(const Node& node)
{
    const OperatorFactsPtr facts = packOperator(node.target);
    return facts && facts->isKernel && !node.outputs.empty()
        && node.outputs[0].type.dtype == DType::Float32;
}

} // namespace

bool isComparable(const Graph& lowered)
{
    const auto nodes = lowered.nodes();
    return std::none_of(nodes.begin(), nodes.end(), [&](const NodePtr& node) {
        return quantizesStates(lowered, *node) || quantizesItself(*node);
    });
}

Result<void> holdOutputs(const ConvertedModel& model, const KernelChecking& checking,
                         LoweringOptions& options, LoweredGraph& lowered,
                         const FormOutputs& outputs, const JobContext& job)
{
    if (!isComparable(*lowered.graph))
        return {};
    return guardTorch(
        [&] { return WholeForm(model, checking, options, lowered, job).hold(outputs); });
}

} // namespace qs
