// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/recurrence.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/select.h>
#include <ATen/ops/stack.h>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

void append(Values& out, const at::IValue& value)
{
    if (!value.isList()) {
        out.push_back(value);
        return;
    }
    for (const at::IValue& item : value.toListRef())
        out.push_back(item);
}

} // namespace

Result<Values> runRecurrence(const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() != 3 || !args[0].isTensor() || args[0].toTensor().dim() < 1)
        return fail(ErrorCode::Internal, "a recurrence lacks its arguments");
    const at::Tensor& sequence = args[0].toTensor();
    Values states, extra, steps;
    append(states, args[1]);
    append(extra, args[2]);
    std::vector<at::Tensor> first;
    for (std::int64_t step = 0; step < sequence.size(0); ++step) {
        Values operands {at::select(sequence, 0, step)};
        operands.insert(operands.end(), states.begin(), states.end());
        operands.insert(operands.end(), extra.begin(), extra.end());
        QS_TRY(states, runSubgraph(0, std::move(operands)));
        if (states.empty() || !states.front().isTensor())
            return fail(ErrorCode::Internal, "a step of a recurrence gives no state");
        first.push_back(states.front().toTensor());
    }
    if (first.empty())
        return fail(ErrorCode::BadInput, "the sequence has no steps");
    Values out {at::stack(first, 0)};
    out.insert(out.end(), states.begin(), states.end());
    return out;
}

Result<Values> runWhole(const Values& args, const RunSubgraph& runSubgraph)
{
    Values operands;
    for (const at::IValue& argument : args)
        append(operands, argument);
    return runSubgraph(0, std::move(operands));
}

} // namespace qs
