// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/sweep.h"

#include "engine/base/each_of.h"
#include "engine/base/log.h"
#include "engine/compare/original_pairs.h"
#include "engine/compare/output_run.h"
#include "engine/execute/liveness.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

Result<at::Tensor> tensorOf(const Interpreter& interpreter, const Frame& frame, ValueRef ref)
{
    QS_TRY(at::IValue value, valueOf(interpreter, frame, ref));
    return value.isTensor() ? value.toTensor() : at::Tensor();
}

} // namespace

Sweep::Sweep(const ConvertedModel& converted, Interpreter floatForm, Interpreter referenceForm,
             std::vector<CompareUnit> units)
    : m_float(std::move(floatForm))
    , m_reference(std::move(referenceForm))
    , m_interiors(converted, m_float.device())
    , m_units(std::move(units))
    , m_schedule(scheduleSweep(m_float.graph(), m_reference.graph(), m_units))
    , m_sums(m_units.size())
    , m_counts(m_units.size())
    , m_local(m_units.size())
    , m_unmeasured(m_units.size())
    , m_oddSince(m_units.size())
    , m_known(m_units.size())
    , m_end(m_float.graph().nodes().size())
    , m_expendableFloat(findExpendable(m_float.graph(), &UnitInput::value, &UnitOutput::value))
    , m_expendableReference(
          findExpendable(m_reference.graph(), &UnitInput::came, &UnitOutput::reference))
{
}

Result<Sweep> Sweep::create(const ConvertedModel& converted, at::Device device,
                            const GraphPtr& original, const JobContext& job)
{
    const GraphPtr& edited = converted.prepared->model;
    const GraphPtr& model = original ? original : edited;
    QS_TRY(auto inputs, pairedInputs(*model, *edited));
    auto units
        = original ? pairedUnits(compareUnits(converted), *original) : compareUnits(converted);
    QS_CHECK(job.check());
    const auto times = device.is_cpu() ? std::make_shared<NodeTimes>() : nullptr;
    QS_TRY(Interpreter floatForm,
           Interpreter::create(model, {.device = device, .times = times}, job));
    QS_CHECK(job.check());
    QS_TRY(Interpreter reference,
           Interpreter::create(converted.reference, {.device = device}, job));
    QS_CHECK(job.check());
    Sweep sweep(converted, std::move(floatForm), std::move(reference), std::move(units));
    sweep.m_floatTimes = times;
    sweep.m_edited = original ? edited : nullptr;
    sweep.m_floatInputs = std::move(inputs);
    return sweep;
}

Result<Sweep::Outputs> Sweep::run(const std::vector<at::IValue>& inputs, std::int64_t samples,
                                  const JobContext& job)
{
    m_job = job;
    m_batchSamples = samples;
    m_referenceAt = m_first > 0 ? m_schedule.referenceEnd[m_first - 1] : 0;
    if (m_floatTimes)
        m_floatTimes->beginRun();
    std::vector<at::IValue> givenToFloat;
    for (const std::size_t place : m_floatInputs)
        givenToFloat.push_back(inputs.at(place));
    QS_TRY(Frame floatFrame, startFrame(m_float, givenToFloat, m_floatState));
    QS_TRY(Frame referenceFrame, startFrame(m_reference, inputs, m_referenceState));
    Frame* const frames[] = {&floatFrame, &referenceFrame};
    if (m_cuts)
        m_cuts->restore(frames);
    m_batch = m_relay ? m_relay->batch() + 1 : m_batch + 1;
    const std::size_t all = m_float.graph().nodes().size();
    const std::size_t end = m_isSequence ? all : m_end;
    for (std::size_t position = m_first; position < end; ++position) {
        QS_CHECK(step(position, floatFrame, referenceFrame));
        if (m_cuts)
            m_cuts->reached(position, frames);
    }
    if (m_cuts)
        m_cuts->endBatch();
    if (m_isSequence) {
        m_floatState = floatFrame.state();
        m_referenceState = referenceFrame.state();
    }
    Outputs outputs;
    if (end < all)
        return outputs;
    QS_TRY(outputs.floatForm, outputTensors(m_float, floatFrame));
    QS_TRY(outputs.referenceForm, outputTensors(m_reference, referenceFrame));
    return outputs;
}

std::vector<NodeTime> Sweep::floatTimes() const
{
    return m_floatTimes ? m_floatTimes->means() : std::vector<NodeTime>();
}

Result<void> Sweep::step(std::size_t position, Frame& floatFrame, Frame& referenceFrame)
{
    QS_CHECK(m_job.check());
    QS_CHECK(advance(m_float, *m_float.graph().nodes()[position], floatFrame, m_expendableFloat));
    for (; m_referenceAt < m_schedule.referenceEnd[position]; ++m_referenceAt)
        QS_CHECK(advance(m_reference, *m_reference.graph().nodes()[m_referenceAt], referenceFrame,
                         m_expendableReference));
    const auto& units = m_schedule.unitsAt[position];
    for (const std::size_t unit : units) {
        if (m_watched == unit) {
            QS_TRY(const std::vector<ValuePair> seen, results(unit, floatFrame, referenceFrame));
            QS_CHECK(m_see(seen));
        }
        if (m_known[unit])
            continue;
        const auto spent = unit == units.back()
            ? std::span<const ValueRef>(m_schedule.freeReference[position])
            : std::span<const ValueRef>();
        auto measured = measureInTurn(unit, floatFrame, referenceFrame, spent);
        if (!measured)
            return fail(
                std::move(measured).error().atNode(m_float.graph().nodes()[position]->name));
    }
    for (const ValueRef ref : m_schedule.freeFloat[position])
        floatFrame.release(ref);
    for (const ValueRef ref : m_schedule.freeReference[position])
        referenceFrame.release(ref);
    return {};
}

Sweep::Expendable Sweep::findExpendable(const Graph& graph, ValueRef UnitInput::*in,
                                        ValueRef UnitOutput::*out) const
{
    std::unordered_set<ValueRef> measured;
    for (const CompareUnit& unit : m_units) {
        for (const UnitInput& input : unit.inputs)
            measured.insert(input.*in);
        for (const UnitOutput& output : unit.outputs)
            measured.insert(output.*out);
        const Node* module = m_interiors.has(unit.last) ? graph.tryGet(unit.last) : nullptr;
        for (std::size_t a = 0; module && a < module->args.size(); ++a)
            forEachRef(module->args[a].value, [&](ValueRef ref) { measured.insert(ref); });
    }
    Expendable found;
    const auto dead = lastUses(graph);
    for (std::size_t i = 0; i < dead.size(); ++i)
        for (const ValueRef ref : dead[i])
            if (!measured.contains(ref) && graph.nodes()[i]->id != ref.node)
                found[graph.nodes()[i]->id].push_back(ref);
    return found;
}

Result<void> Sweep::advance(const Interpreter& interpreter, const Node& node, Frame& frame,
                            const Expendable& expendable) const
{
    const bool runs = node.isOperator();
    if (!runs || interpreter.isConstant({node.id, 0}))
        return {};
    const auto found = expendable.find(node.id);
    const auto read = found == expendable.end() ? std::span<const ValueRef>()
                                                : std::span<const ValueRef>(found->second);
    QS_CHECK(interpreter.runNode(node, frame, read, m_job));
    for (const ValueRef ref : read)
        frame.release(ref);
    return {};
}

void Sweep::watch(std::optional<std::size_t> unit, Watch see)
{
    m_known.assign(m_units.size(), true);
    m_watched = unit;
    m_see = std::move(see);
    if (unit)
        m_end = m_float.graph().position(m_units[*unit].last) + 1;
}

Result<std::vector<ValuePair>> Sweep::results(std::size_t index, const Frame& floatFrame,
                                              const Frame& referenceFrame) const
{
    std::vector<ValuePair> made;
    for (const UnitOutput& output : m_units[index].outputs) {
        QS_TRY(at::Tensor y, tensorOf(m_float, floatFrame, output.value));
        QS_TRY(at::Tensor converted, tensorOf(m_reference, referenceFrame, output.reference));
        if (!y.defined() || !converted.defined() || !y.is_floating_point())
            return std::vector<ValuePair>();
        made.emplace_back(std::move(y), std::move(converted));
    }
    return made;
}

Result<void> Sweep::measure(std::size_t index, const Frame& floatFrame, Frame& referenceFrame,
                            std::span<const ValueRef> spent)
{
    const CompareUnit& unit = m_units[index];
    QS_TRY(std::vector<ValuePair> made, results(index, floatFrame, referenceFrame));
    const bool alike = std::all_of(made.begin(), made.end(), [&](const ValuePair& pair) {
        return comparesShapes(index, pair.first, pair.second);
    });
    if (made.empty() || !alike)
        return {};
    addCounts(m_counts[index], made);
    made.clear(); // only the frames hold them now
    // An operator that an edit put in a layer's place has no cell to look into.
    if (m_interiors.has(unit.last)
        && (!m_edited || m_edited->get(unit.last).target == m_float.graph().get(unit.last).target))
        QS_CHECK(measureInterior(unit, floatFrame, referenceFrame));
    if (unit.unchanged)
        QS_CHECK(measureUnchanged(index, floatFrame, referenceFrame));
    else if (m_edited || unit.isOpen || !wantsLocalTerms(index))
        QS_CHECK(measureCumulative(index, floatFrame, referenceFrame));
    else
        QS_CHECK(measureFunctions(index, floatFrame, referenceFrame, spent));
    const UnitSums& sums = m_sums[index];
    if (m_oddSince[index] == 0
        && (isInfiniteError(sums.inherited) || isInfiniteError(sums.cumulative)))
        m_oddSince[index] = m_batch;
    return unit.quantized && isInfiniteError(sums.cumulative) ? checkSignal(unit, floatFrame)
                                                              : Result<void>();
}

bool Sweep::wantsLocalTerms(std::size_t unit) const
{
    return !m_sampledOf || m_local[unit].wants(m_batch - 1, *m_sampledOf);
}

bool Sweep::hasUnmeasured() const
{
    return std::find(m_unmeasured.begin(), m_unmeasured.end(), true) != m_unmeasured.end();
}

bool Sweep::comparesShapes(std::size_t index, const at::Tensor& y, const at::Tensor& other)
{
    if (y.sizes() != other.sizes() && !m_unmeasured[index]) {
        if (!hasUnmeasured())
            note("node '" + m_float.graph().get(m_units[index].last).name + "': its shape "
                 + (m_edited ? "is " : "follows from values and is ") + c10::str(y.sizes())
                 + (m_edited ? " in the original model, " : " in the float model, ")
                 + c10::str(other.sizes())
                 + " in the converted one: it and what reads it are not measured");
        m_unmeasured[index] = true;
        m_sums[index] = {};
        m_counts[index] = {};
        m_local[index] = {};
    }
    return !m_unmeasured[index];
}

/// A quantizer makes a number of NaN: what it is in the float model was never observed.
Result<void> Sweep::checkSignal(const CompareUnit& unit, const Frame& floatFrame) const
{
    for (const UnitOutput& output : unit.outputs) {
        QS_TRY(const at::Tensor y, tensorOf(m_float, floatFrame, output.value));
        QS_CHECK(checkNoNaN(y));
    }
    return {};
}

/// All that is wrong came with the inputs.
Result<void> Sweep::measureUnchanged(std::size_t index, const Frame& floatFrame,
                                     const Frame& referenceFrame)
{
    UnitSums& sums = m_sums[index];
    ErrorSums added;
    for (const UnitOutput& output : m_units[index].outputs) {
        QS_TRY(const at::Tensor y, tensorOf(m_float, floatFrame, output.value));
        QS_TRY(const at::Tensor converted, tensorOf(m_reference, referenceFrame, output.reference));
        QS_CHECK(addError(added, y, converted));
    }
    kernels::merge(sums.cumulative, added);
    kernels::merge(sums.inherited, added);
    kernels::merge(sums.bornHere, noiselessSums(added));
    kernels::merge(sums.isolated, noiselessSums(added));
    return {};
}

/// y^ - y alone, added up as with the other terms beside it.
Result<void> Sweep::measureCumulative(std::size_t index, const Frame& floatFrame,
                                      const Frame& referenceFrame)
{
    ErrorSums ofBatch;
    for (const UnitOutput& output : m_units[index].outputs) {
        QS_TRY(const at::Tensor y, tensorOf(m_float, floatFrame, output.value));
        QS_TRY(const at::Tensor converted, tensorOf(m_reference, referenceFrame, output.reference));
        ErrorSums added;
        QS_CHECK(addCumulative(added, y, converted));
        kernels::merge(m_sums[index].cumulative, added);
        kernels::merge(ofBatch, added);
    }
    m_local[index].cumulative.add(ofBatch);
    return {};
}

/// What flows into a custom module's body: sequence, states and parameters.
Result<void> Sweep::measureInterior(const CompareUnit& unit, const Frame& floatFrame,
                                    const Frame& referenceFrame)
{
    const auto inputsOf = [&](const Interpreter& interpreter,
                              const Frame& frame) -> Result<std::vector<at::IValue>> {
        std::vector<ValueRef> refs;
        const Node& node = interpreter.graph().get(unit.last);
        for (std::size_t a = 0; a < 3 && a < node.args.size(); ++a)
            forEachRef(node.args[a].value, [&](ValueRef ref) { refs.push_back(ref); });
        return eachOf(refs, [&](ValueRef ref) { return valueOf(interpreter, frame, ref); });
    };
    QS_TRY(std::vector<at::IValue> floats, inputsOf(m_float, floatFrame));
    QS_TRY(std::vector<at::IValue> converted, inputsOf(m_reference, referenceFrame));
    return m_interiors.add(unit.last, std::move(floats), std::move(converted), m_job);
}

/// x^; elements that are not finite are replaced by the result of the unit's own quantizer.
Result<at::IValue> Sweep::inNumbers(const UnitInput& input, const Frame& referenceFrame) const
{
    QS_TRY(at::IValue value, valueOf(m_reference, referenceFrame, input.came));
    if (input.came == input.read || !value.isTensor())
        return value;
    const at::Tensor came = value.toTensor(), finite = at::isfinite(came);
    if (finite.all().item<bool>())
        return value;
    Frame quantized;
    quantized.set(input.came, value);
    QS_CHECK(m_reference.evaluate(quantized, std::span(&input.read, 1), m_job));
    QS_TRY(const at::Tensor read, tensorOf(m_reference, quantized, input.read));
    return at::IValue(at::where(finite, came, read));
}

/// f(x^) from the float graph, f_q(x) from the reference graph, each started at the unit's inputs.
Result<void> Sweep::measureFunctions(std::size_t index, const Frame& floatFrame,
                                     Frame& referenceFrame, std::span<const ValueRef> spent)
{
    const CompareUnit& unit = m_units[index];
    Frame onConverted, quantizedOnFloat;
    for (const UnitInput& input : unit.inputs) {
        QS_TRY(at::IValue converted, inNumbers(input, referenceFrame));
        onConverted.set(input.value, std::move(converted));
        QS_TRY(at::IValue x, valueOf(m_float, floatFrame, input.value));
        quantizedOnFloat.set(unit.quantized ? input.raw : input.came, std::move(x));
    }
    std::vector<ValueRef> values, references;
    for (const UnitOutput& output : unit.outputs) {
        values.push_back(output.value);
        references.push_back(output.reference);
    }
    QS_CHECK(m_float.evaluate(onConverted, values, m_job));
    // x^ goes before f_q(x) is made: four results of one unit are most of what lives at once.
    for (const UnitInput& input : unit.inputs) {
        onConverted.release(input.value);
        const bool isSpent = std::find(spent.begin(), spent.end(), input.came) != spent.end();
        const bool isResult
            = std::find(references.begin(), references.end(), input.came) != references.end();
        if (isSpent && !isResult)
            referenceFrame.release(input.came);
    }
    QS_CHECK(m_reference.evaluate(quantizedOnFloat, references, m_job));
    UnitSums ofBatch;
    for (const UnitOutput& output : unit.outputs) {
        UnitValues made;
        QS_TRY(made.signal, tensorOf(m_float, floatFrame, output.value));
        QS_TRY(made.converted, tensorOf(m_reference, referenceFrame, output.reference));
        QS_TRY(made.onConverted, tensorOf(m_float, onConverted, output.value));
        QS_TRY(made.quantizedOnFloat, tensorOf(m_reference, quantizedOnFloat, output.reference));
        if (!comparesShapes(index, made.signal, made.onConverted)
            || !comparesShapes(index, made.signal, made.quantizedOnFloat))
            return {};
        UnitSums added;
        QS_CHECK(addErrors(added, made));
        kernels::merge(m_sums[index], added);
        kernels::merge(ofBatch, added);
    }
    m_local[index].add(ofBatch, m_batchSamples);
    return {};
}

} // namespace qs
