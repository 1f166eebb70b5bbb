// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/kernel_check.h"

#include "engine/base/torch_guard.h"
#include "engine/convert/lowering/kernel_distance.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/convert/lowering/recurrent_check.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/steps/count_steps.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::int64_t kCheckedSteps = 64; ///< most steps of a sequence that are checked

/// A value of the reference form: float, or integers with their parameters.
struct Seen
{
    at::IValue value;
    bool integers = false;
    double scale = 1;
    std::int64_t zeroPoint = 0;
};

class KernelChecker
{
public:
    KernelChecker(Interpreter referenceRun, Interpreter loweredRun, SitesToCheck wanted)
        : m_graph(referenceRun.graph())
        , m_lowered(wanted.lowered)
        , m_reference(std::move(referenceRun))
        , m_run(std::move(loweredRun))
        , m_sites(std::move(wanted.sites))
        , m_forms(wanted.forms)
        , m_checks(m_sites.size())
        , m_missing(m_sites.size(), 0)
    {
        for (std::size_t s = 0; s < m_sites.size(); ++s)
            for (ValueRef ref : needs(site(s))) {
                m_readers[ref].push_back(s);
                ++m_missing[s];
            }
    }

    Result<KernelChecks> run(const Batch& batch, const JobContext& job)
    {
        std::vector<ValueRef> constants;
        for (const auto& [ref, sites] : m_readers)
            if (m_reference.isConstant(ref))
                constants.push_back(ref);
        for (ValueRef ref : constants) {
            QS_TRY(const at::IValue value, m_reference.constant(ref));
            QS_CHECK(arrived(ref, value));
        }
        const Tap tap = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
            // Sizes have the same node in both forms; a kernel may take them as arguments.
            if (!value.isTensor())
                m_sizes[ref] = value;
            if (!m_readers.contains(ref) || m_reference.isConstant(ref))
                return {};
            QS_CHECK(job.check());
            return arrived(ref, value);
        };
        KernelChecks out;
        QS_TRY(out.outputs, m_reference.run(batch.inputs, tap, job));
        for (std::size_t s = 0; s < m_checks.size(); ++s)
            if (m_missing[s] > 0)
                return fail(makeError(ErrorCode::Internal, "the kernel check missed a kernel")
                                .atNode(m_lowered.graph->get(site(s).kernel).name));
        out.checks = std::move(m_checks);
        return out;
    }

private:
    const KernelSite& site(std::size_t s) const { return m_lowered.sites[m_sites[s]]; }

    /// Indices of the kernel's results, except other fields of objects, which are not quantized.
    std::vector<std::uint32_t> checkedOutputs(const KernelSite& site) const
    {
        const auto& outputs = m_lowered.graph->get(site.kernel).outputs;
        std::vector<std::uint32_t> checked;
        for (std::uint32_t i = 0; i < outputs.size(); ++i)
            if (outputs[i].type.kind != ValueKind::Custom)
                checked.push_back(i);
        return checked;
    }

    std::vector<ValueRef> needs(const KernelSite& site) const
    {
        std::vector<ValueRef> refs;
        const auto add = [&refs](ValueRef ref) {
            if (std::find(refs.begin(), refs.end(), ref) == refs.end())
                refs.push_back(ref);
        };
        for (const std::uint32_t i : checkedOutputs(site))
            add({site.reference, i});
        for (const auto& [mine, reference] : site.inputs)
            if (!m_run.isConstant(mine))
                add(reference);
        if (const ValueRef real = floatResult(site))
            add(real);
        return refs;
    }

    /// The float value that the reference form quantizes, for a kernel with other result
    /// parameters.
    ValueRef floatResult(const KernelSite& site) const
    {
        const Node& reference = m_graph.get(site.reference);
        const ValueRef* real = site.ownGrid ? reference.args.at(0).value.asRef() : nullptr;
        return real ? *real : ValueRef {};
    }

    Result<void> arrived(ValueRef ref, const at::IValue& value)
    {
        Seen seen {value, false, 1, 0};
        const Node& node = m_graph.get(ref.node);
        if (node.target.starts_with(kQuantizePerTensor)) {
            seen.integers = true;
            seen.scale = *node.tryArg("scale")->asDouble();
            seen.zeroPoint = *node.tryArg("zero_point")->asInt();
        }
        m_alive[ref] = std::move(seen);
        m_pending[ref] = m_readers.at(ref).size();
        for (std::size_t s : m_readers.at(ref))
            if (--m_missing[s] == 0)
                check(s);
        return {};
    }

    void check(std::size_t s)
    {
        const KernelSite& site = this->site(s);
        KernelCheck& out = m_checks[s];
        out.node = site.origin;
        out.kernel = wholeTarget(site.target);
        auto found = guardTorchValue<Distance>([&] { return difference(site); });
        if (!found) {
            out.reason = "kernel check: " + out.kernel + " fails here: " + found.error().message;
        } else {
            out.steps = found->steps;
            out.held = found->held;
            out.passed = found->held <= kAllowedSteps;
            if (!out.passed)
                out.reason = "kernel check: " + out.kernel + " is " + heldSteps(found->held)
                    + " steps away from the result it should have, 1 is allowed";
        }
        for (ValueRef ref : needs(site))
            if (--m_pending.at(ref) == 0)
                m_alive.erase(ref);
    }

    /// Whether the kernel takes only the integers, without their parameters.
    bool readsIntegers(ValueRef mine) const
    {
        const Node* maker = m_lowered.graph->tryGet(mine.node);
        return maker && maker->isOp(kIntegersOfTensor);
    }

    at::IValue handedOver(ValueRef mine, const Seen& in) const
    {
        if (!in.value.isTensor())
            return in.value;
        const bool quantized = in.integers && !readsIntegers(mine);
        const at::Tensor tensor = quantized ? at::_make_per_tensor_quantized_tensor(
                                      in.value.toTensor().contiguous(), in.scale, in.zeroPoint)
                                            : in.value.toTensor();
        const auto form = m_forms.find(mine);
        return form == m_forms.end() ? tensor : inForm(tensor, form->second);
    }

    Result<Distance> difference(const KernelSite& site)
    {
        Frame frame;
        for (const auto& [mine, reference] : site.inputs) {
            if (m_run.isConstant(mine))
                continue;
            frame.set(mine, handedOver(mine, m_alive.at(reference)));
        }
        const Node& kernel = m_lowered.graph->get(site.kernel);
        if (m_graph.get(site.reference).isOp(kModuleTarget)) {
            QS_TRY(const double most, moduleDifference(site, kernel, frame));
            QS_CHECK(leftInputs(site, frame));
            return atMost(most);
        }
        for (const NamedArgument& argument : kernel.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (const auto it = m_sizes.find(ref); it != m_sizes.end())
                    frame.set(ref, it->second);
            });
        if (quantizesStates(*m_lowered.graph, kernel)) {
            QS_TRY(const double most, recurrentDifference(site, kernel, frame));
            return atMost(most);
        }
        QS_CHECK(m_run.runNode(kernel, frame));
        QS_CHECK(leftInputs(site, frame));
        Distance all;
        for (const std::uint32_t i : checkedOutputs(site)) {
            const Seen& wanted = m_alive.at({site.reference, i});
            const at::Tensor made = frame.get({site.kernel, i}).toTensor();
            if (made.sizes() != wanted.value.toTensor().sizes())
                return fail(ErrorCode::Unsupported, "its result has another shape");
            const auto type = wanted.value.toTensor().scalar_type();
            if (wanted.integers && made.scalar_type() != at::toQIntType(type))
                return fail(ErrorCode::Unsupported,
                            std::string("its result is ") + at::toString(made.scalar_type())
                                + " where " + at::toString(at::toQIntType(type)) + " is expected");
            if (made.numel() > 0)
                all.add(distanceOf(made, wanted, floatResult(site)));
        }
        return all;
    }

    /// Fails if the kernel wrote to integers that a later node reads. Without such a reader it may
    /// write in place, as oneDNN's convolution with a sum does.
    Result<void> leftInputs(const KernelSite& site, const Frame& frame) const
    {
        const Graph& graph = *m_lowered.graph;
        const std::size_t here = graph.position(site.kernel);
        for (const auto& [mine, reference] : site.inputs) {
            const auto users = graph.users(mine);
            const bool isLast = std::all_of(users.begin(), users.end(), [&](const Use& use) {
                return graph.position(use.node) <= here;
            });
            if (isLast || m_run.isConstant(mine) || !m_alive.at(reference).integers)
                continue;
            const at::Tensor given = handedOver(mine, m_alive.at(reference)).toTensor();
            const auto integers
                = [](const at::Tensor& t) { return t.is_quantized() ? t.int_repr() : t; };
            if (!at::equal(integers(frame.get(mine).toTensor()), integers(given)))
                return fail(ErrorCode::Unsupported, "it writes into its input");
        }
        return {};
    }

    Distance distanceOf(const at::Tensor& made, const Seen& wanted, ValueRef floatResult) const
    {
        if (!wanted.integers)
            return Distance {countFloatSteps(made, wanted.value.toTensor())};
        const GridValues grid {wanted.value.toTensor(), wanted.scale, wanted.zeroPoint};
        return floatResult ? ownGridDistance(made, grid, m_alive.at(floatResult).value.toTensor())
                           : Distance {countSteps(made, grid)};
    }

    /// Difference of a recurrent kernel that quantizes its states from a simulation that does so
    /// too.
    Result<double> recurrentDifference(const KernelSite& site, const Node& kernel,
                                       const Frame& frame)
    {
        const Node& reference = m_graph.get(site.reference);
        const auto tensors = [](const Node& node, const char* name,
                                const auto& read) -> Result<std::vector<at::Tensor>> {
            std::vector<ValueRef> refs;
            if (const Argument* argument = node.tryArg(name))
                forEachRef(*argument, [&](ValueRef ref) { refs.push_back(ref); });
            std::vector<at::Tensor> out;
            for (const ValueRef ref : refs) {
                QS_TRY(const at::IValue value, read(ref));
                out.push_back(value.toTensor());
            }
            return out;
        };
        const auto readKernel = [&](ValueRef ref) -> Result<at::IValue> {
            const at::IValue* given = frame.tryGet(ref);
            return given ? Result<at::IValue>(*given) : m_run.constant(ref);
        };
        const auto readWeight = [&](ValueRef ref) { return m_reference.constant(ref); };
        std::vector<ValueRef> states;
        forEachRef(*kernel.tryArg("hx"), [&](ValueRef ref) { states.push_back(ref); });
        const ValueRef inputRef = *kernel.tryArg("input")->asRef();
        RecurrentCall call;
        QS_TRY(const auto input, tensors(kernel, "input", readKernel));
        QS_TRY(call.states, tensors(kernel, "hx", readKernel));
        QS_TRY(call.params, tensors(reference, "params", readWeight));
        call.reduceRange = m_lowered.reduceRange;
        Argument batchFirst;
        effectiveArgument(reference, "batch_first", batchFirst);
        const std::int64_t time = batchFirst.asBool() && *batchFirst.asBool() ? 1 : 0;
        const std::int64_t steps = std::min(input.at(0).size(time), kCheckedSteps);
        // Checks each step from the simulated states: over a whole sequence a single rounding
        // difference could grow without bound although the kernel is correct.
        double most = 0;
        for (std::int64_t step = 0; step < steps; ++step) {
            call.input = input.at(0).narrow(time, step, 1);
            Frame single = frame;
            single.set(inputRef, call.input);
            for (std::size_t i = 0; i < states.size(); ++i)
                single.set(states[i], call.states[i]);
            QS_CHECK(m_run.runNode(kernel, single));
            QS_TRY(const auto wanted, simulateRecurrence(reference, call));
            for (std::uint32_t i = 0; i < kernel.outputs.size() && i < wanted.size(); ++i)
                most = std::max(
                    most,
                    countFloatSteps(single.get({kernel.id, i}).toTensor(), wanted[i]).largest);
            call.states.assign(wanted.begin() + 1, wanted.end());
        }
        return most;
    }

    /// A value that the reference form reads, dequantized from the kernel's input.
    Result<at::IValue> floatOperand(ValueRef ref) const
    {
        if (m_reference.isConstant(ref))
            return m_reference.constant(ref);
        // A kernel with float inputs reads the dequantized value.
        const Node& node = m_graph.get(ref.node);
        const bool dequantizes = !m_alive.contains(ref) && isDequantizeStep(node.target);
        const ValueRef* integers = dequantizes ? node.args.at(0).value.asRef() : nullptr;
        const auto seen = m_alive.find(integers ? *integers : ref);
        if (seen == m_alive.end())
            return fail(ErrorCode::Unsupported, "what it reads is not known to the check");
        const at::IValue value = handedOver(seen->first, seen->second);
        return dequantizes ? at::IValue(value.toTensor().dequantize()) : value;
    }

    /// Difference of a custom module's kernel; the module defines how it is measured.
    Result<double> moduleDifference(const KernelSite& site, const Node& kernel, Frame& frame)
    {
        const Node& reference = m_graph.get(site.reference);
        const CustomModulePtr module = customModuleOf(reference.scope.moduleClass);
        if (!module)
            return fail(ErrorCode::Internal, "an unknown module");
        ModuleRun run {reference, {}, kernel, {}, {}};
        for (const NamedArgument& argument : reference.args)
            QS_CHECK(eachRef(argument.value, [&](ValueRef ref) -> Result<void> {
                QS_TRY(at::IValue value, floatOperand(ref));
                run.inputs.push_back(std::move(value));
                return {};
            }));
        for (const NamedArgument& argument : kernel.args)
            QS_CHECK(eachRef(argument.value, [&](ValueRef ref) -> Result<void> {
                const at::IValue* given = frame.tryGet(ref);
                QS_TRY(at::IValue value, given ? Result<at::IValue>(*given) : m_run.constant(ref));
                run.operands.push_back(std::move(value));
                return {};
            }));
        run.runLowered = [&]() -> Result<std::vector<at::IValue>> {
            QS_CHECK(m_run.runNode(kernel, frame));
            std::vector<at::IValue> made;
            for (std::uint32_t i = 0; i < kernel.outputs.size(); ++i)
                made.push_back(frame.get({kernel.id, i}));
            return made;
        };
        return module->difference(run);
    }

    static Result<void> eachRef(const Argument& argument,
                                const std::function<Result<void>(ValueRef)>& visit)
    {
        std::vector<ValueRef> refs;
        forEachRef(argument, [&](ValueRef ref) { refs.push_back(ref); });
        for (const ValueRef ref : refs)
            QS_CHECK(visit(ref));
        return {};
    }

    const Graph& m_graph; ///< the reference form
    const LoweredGraph& m_lowered;
    Interpreter m_reference, m_run;
    std::vector<std::size_t> m_sites; ///< sites to check; other members use the index in this list
    const InputForms& m_forms;
    std::vector<KernelCheck> m_checks;
    std::unordered_map<ValueRef, std::vector<std::size_t>> m_readers; ///< to sites
    std::vector<std::size_t> m_missing; ///< per site: number of values not computed yet
    std::unordered_map<ValueRef, Seen> m_alive;
    std::unordered_map<ValueRef, at::IValue> m_sizes; ///< numbers that the reference form computed
    std::unordered_map<ValueRef, std::size_t> m_pending; ///< sites that still need this value
};

} // namespace

Result<KernelChecks> checkKernels(const Interpreter& referenceRun, const Interpreter& loweredRun,
                                  SitesToCheck wanted, const Batch& batch, const JobContext& job)
{
    return KernelChecker(referenceRun, loweredRun, std::move(wanted)).run(batch, job);
}

} // namespace qs
