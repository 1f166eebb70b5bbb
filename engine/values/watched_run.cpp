// SPDX-License-Identifier: Apache-2.0
#include "engine/values/watched_run.h"

#include "engine/base/text.h"
#include "engine/convert/form_parts.h"
#include "engine/graph/output_names.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// Returns the model's flattened outputs in order; invalid references for constants.
std::vector<ValueRef> outputValues(const Graph& graph)
{
    std::vector<ValueRef> values;
    const std::function<void(const Argument&)> add = [&](const Argument& argument) {
        if (const auto* list = argument.asList()) {
            for (const Argument& item : *list)
                add(item);
            return;
        }
        const ValueRef* ref = argument.asRef();
        values.push_back(ref ? *ref : ValueRef {});
    };
    for (const auto& argument : graph.output().args)
        add(argument.value);
    return values;
}

Error unmeasured(const Node& node)
{
    return makeError(
               ErrorCode::BadInput,
               node.isOperator()
                   ? "there is nothing to compare: it makes no floating-point value that both "
                     "models have"
                   : "it is not an operator: only results of operators are compared")
        .atNode(node.name)
        .withHint("choose a node listed by 'compare'");
}

Error notOfOriginal(const char* what)
{
    return makeError(ErrorCode::BadInput, what).withHint("inspect it against the edited model");
}

/// True if a comparison with the edited model measures the node.
bool isMeasured(const ConvertedModel& converted, NodeId node)
{
    const auto units = compareUnits(converted);
    return std::any_of(units.begin(), units.end(), [&](const CompareUnit& unit) {
        return std::find(unit.members.begin(), unit.members.end(), node) != unit.members.end();
    });
}

} // namespace

WatchedRun::WatchedRun(const ConvertedModel& converted, const InspectionTarget& target, Sweep sweep)
    : m_converted(&converted)
    , m_target(target)
    , m_sweep(std::move(sweep))
    , m_device(at::kCPU)
{
}

Result<WatchedRun> WatchedRun::create(const ConvertedModel& converted,
                                      const InspectionTarget& target, const std::string& device,
                                      bool isSequence, const EditedModel* edited)
{
    QS_TRY(Sweep sweep,
           Sweep::create(converted, at::Device(device), edited ? edited->file : nullptr));
    WatchedRun run(converted, target, std::move(sweep));
    run.m_device = at::Device(device);
    QS_CHECK(run.aim(edited));
    if (isSequence)
        run.m_sweep.followSequence();
    return run;
}

Result<void> WatchedRun::aim(const EditedModel* edited)
{
    const Graph& model = *m_converted->prepared->model;
    if (m_target.output) {
        const auto outputs = outputValues(model);
        if (*m_target.output >= outputs.size())
            return fail(makeError(ErrorCode::BadInput,
                                  "there is no output " + std::to_string(*m_target.output)
                                      + ": the model has "
                                      + counted(std::int64_t(outputs.size()), "output")));
        m_floatOutput = *m_target.output;
        if (edited) {
            const int place = edited->outputPlaces.at(*m_target.output);
            if (place < 0)
                return fail(notOfOriginal("the original model does not return it"));
            m_floatOutput = std::size_t(place);
        }
        const int inForm
            = placesInForm(m_converted->referenceEdits, outputs.size())[*m_target.output];
        if (inForm < 0)
            return fail(
                makeError(ErrorCode::BadInput, "an edit of the reference form dropped this output")
                    .withHint("remove that edit"));
        m_formOutput = std::size_t(inForm);
        m_values = {outputs[*m_target.output]};
        m_sweep.watch(std::nullopt, {});
        return {};
    }
    const auto& units = m_sweep.units();
    const auto found = std::find_if(units.begin(), units.end(), [&](const CompareUnit& unit) {
        return std::find(unit.members.begin(), unit.members.end(), m_target.node)
            != unit.members.end();
    });
    if (found == units.end())
        return fail(edited && isMeasured(*m_converted, m_target.node)
                        ? notOfOriginal("the original model does not have it")
                              .atNode(model.get(m_target.node).name)
                        : unmeasured(model.get(m_target.node)));
    m_unit = std::size_t(found - units.begin());
    for (const UnitOutput& output : found->outputs)
        m_values.push_back(output.value);
    m_sweep.watch(m_unit, [seen = m_seen](std::span<const ValuePair> results) -> Result<void> {
        seen->assign(results.begin(), results.end());
        return {};
    });
    return {};
}

const CompareUnit* WatchedRun::unit() const
{
    return m_unit ? &m_sweep.units()[*m_unit] : nullptr;
}

Result<std::vector<ValuePair>> WatchedRun::run(const Batch& batch, const JobContext& job)
{
    std::vector<at::IValue> inputs;
    for (const at::IValue& input : batch.inputs)
        inputs.push_back(input.isTensor() ? at::IValue(input.toTensor().to(m_device)) : input);
    m_seen->clear();
    QS_TRY(Sweep::Outputs outputs, m_sweep.run(inputs, batch.samples, job));
    if (m_target.output) {
        const at::Tensor &y = outputs.floatForm.at(m_floatOutput),
                         &converted = outputs.referenceForm.at(m_formOutput);
        if (y.defined() && converted.defined() && y.is_floating_point())
            m_seen->emplace_back(y, converted);
    }
    std::vector<ValuePair> seen = std::move(*m_seen);
    m_seen->clear();
    if (seen.empty())
        return fail(ErrorCode::Unsupported, "it is not a tensor of floating-point numbers");
    for (ValuePair& pair : seen) {
        if (pair.first.sizes() != pair.second.sizes())
            return fail(ErrorCode::Unsupported,
                        "its shape follows from values and is " + c10::str(pair.first.sizes())
                            + " in the float model, " + c10::str(pair.second.sizes())
                            + " in the converted one: it cannot be compared");
        pair = {pair.first.cpu(), pair.second.cpu()};
    }
    return seen;
}

} // namespace qs
