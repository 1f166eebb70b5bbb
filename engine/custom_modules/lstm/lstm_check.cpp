// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/lstm/lstm_check.h"

#include "engine/execute/control/recurrence.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/steps/count_steps.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/select.h>

#include <algorithm>
#include <map>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

/// One recurrence of a body with its operands in one run.
struct Recurrence
{
    NodePtr node;
    at::Tensor sequence;
    Values states, extra;
};

Result<std::vector<Recurrence>> runBody(const Node& lstm, Values inputs)
{
    const GraphPtr& body = lstm.subgraphs.at(0);
    QS_TRY(const Interpreter interpreter, Interpreter::create(body));
    std::unordered_map<ValueRef, at::IValue> seen;
    QS_CHECK(
        interpreter.run(std::move(inputs), [&](ValueRef ref, const Node&, const at::IValue& value) {
            seen[ref] = value;
            return Result<void>();
        }));
    std::vector<Recurrence> found;
    for (const NodePtr& node : body->nodes()) {
        if (!node->isOp(kRecurTarget))
            continue;
        Recurrence recurrence {node, seen.at(*node->args[0].value.asRef()).toTensor(), {}, {}};
        forEachRef(node->args[1].value,
                   [&](ValueRef ref) { recurrence.states.push_back(seen.at(ref)); });
        forEachRef(node->args[2].value,
                   [&](ValueRef ref) { recurrence.extra.push_back(seen.at(ref)); });
        found.push_back(std::move(recurrence));
    }
    return found;
}

class CellCheck
{
public:
    CellCheck(Recurrence reference, Recurrence lowered, Interpreter referenceCell,
              Interpreter loweredCell)
        : m_reference(std::move(reference))
        , m_lowered(std::move(lowered))
        , m_referenceCell(std::move(referenceCell))
        , m_loweredCell(std::move(loweredCell))
        , m_states(m_lowered.states)
    {
    }

    Result<void> run(double& worst)
    {
        for (std::int64_t step = 0; step < m_reference.sequence.size(0); ++step)
            QS_CHECK(runStep(step, worst));
        return {};
    }

private:
    Result<void> runStep(std::int64_t step, double& worst)
    {
        const at::Tensor x = at::select(m_reference.sequence, 0, step);
        std::map<std::string, at::Tensor> computed;
        Values inputs {x};
        inputs.insert(inputs.end(), m_reference.states.begin(), m_reference.states.end());
        inputs.insert(inputs.end(), m_reference.extra.begin(), m_reference.extra.end());
        Values quantized {onGridOf(m_lowered.sequence, x)};
        for (std::size_t i = 0; i < m_states.size(); ++i)
            quantized.push_back(onGridOf(m_states[i].toTensor(), m_reference.states[i].toTensor()));
        quantized.insert(quantized.end(), m_lowered.extra.begin(), m_lowered.extra.end());
        const Tap tap = [&](ValueRef, const Node& node, const at::IValue& value) {
            if (value.isTensor() && !isReferenceStep(node.target))
                computed[node.name] = value.toTensor();
            return Result<void>();
        };
        QS_TRY(m_reference.states, m_referenceCell.run(std::move(inputs), tap));
        return runKernels(std::move(quantized), computed, worst);
    }

    Result<void> runKernels(Values inputs, const std::map<std::string, at::Tensor>& computed,
                            double& worst)
    {
        const Graph& cell = m_loweredCell.graph();
        Frame frame;
        std::size_t next = 0;
        for (const NodePtr& node : cell.nodes()) {
            if (node->kind == NodeKind::Input)
                frame.set({node->id, 0}, std::move(inputs.at(next++)));
            if (node->kind != NodeKind::Op)
                continue;
            QS_CHECK(m_loweredCell.runNode(*node, frame));
            const auto wanted = computed.find(node->name);
            if (node->outputs.size() != 1 || wanted == computed.end())
                continue;
            const at::Tensor made = frame.get({node->id, 0}).toTensor();
            const at::Tensor right = onGridOf(made, wanted->second);
            worst = std::max(worst, countSteps(made, right).largest);
            frame.set({node->id, 0}, right);
        }
        m_states.clear();
        for (const NamedArgument& state : cell.output().args)
            m_states.push_back(frame.get(*state.value.asRef()));
        return {};
    }

    Recurrence m_reference, m_lowered;
    Interpreter m_referenceCell, m_loweredCell;
    Values m_states; ///< quantized, for their parameters
};

} // namespace

Result<double> compareLstmKernels(const Node& reference, Values referenceInputs,
                                  const Node& lowered, Values quantizedInputs)
{
    QS_TRY(const auto wanted, runBody(reference, std::move(referenceInputs)));
    QS_TRY(const auto made, runBody(lowered, std::move(quantizedInputs)));
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        QS_TRY(Interpreter referenceCell, Interpreter::create(wanted[i].node->subgraphs.at(0)));
        QS_TRY(Interpreter loweredCell, Interpreter::create(made.at(i).node->subgraphs.at(0)));
        QS_CHECK(CellCheck(wanted[i], made[i], std::move(referenceCell), std::move(loweredCell))
                     .run(worst));
    }
    return worst;
}

} // namespace qs
