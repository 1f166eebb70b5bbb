// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/pack/pack_check.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/steps/count_steps.h"
#include "engine/execute/steps/dynamic_rounding.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

double stepsApart(const at::Tensor& made, const at::Tensor& wanted)
{
    if (made.sizes() != wanted.sizes())
        return std::numeric_limits<double>::infinity();
    if (made.numel() == 0)
        return 0;
    if (!wanted.is_floating_point()) // for example indices
        return made.equal(wanted) ? 0 : std::numeric_limits<double>::infinity();
    return made.is_quantized() ? countSteps(made, onGridOf(made, wanted)).largest
                               : countFloatSteps(made, wanted).largest;
}

/// Checks that the result has the parameters of the reference form, on which its consumers rely.
Result<void> checkGrid(const Graph& body, std::size_t output, const at::Tensor& made)
{
    const ValueRef* leaving = body.output().args.at(output).value.asRef();
    const Node* dequantize = leaving ? &body.get(leaving->node) : nullptr;
    const Argument* scale = dequantize ? dequantize->tryArg("scale") : nullptr;
    const Argument* zeroPoint = dequantize ? dequantize->tryArg("zero_point") : nullptr;
    if (!made.is_quantized() || !scale || !scale->asDouble() || !zeroPoint || !zeroPoint->asInt())
        return {};
    if (float(made.q_scale()) == float(*scale->asDouble())
        && made.q_zero_point() == *zeroPoint->asInt())
        return {};
    return fail(ErrorCode::Unsupported,
                c10::str("its result has scale ", made.q_scale(), " and zero point ",
                         made.q_zero_point(), ", not ", *scale->asDouble(), " and ",
                         *zeroPoint->asInt()));
}

/// Quantizes and dequantizes an input as a dynamic kernel does.
at::IValue rounded(const at::IValue& value, bool sevenBits)
{
    if (!value.isTensor() || value.toTensor().scalar_type() != at::kFloat)
        return value;
    return roundedDynamically(value.toTensor(), sevenBits);
}

} // namespace

Result<double> packDifference(const ModuleRun& run, bool isDynamic)
{
    QS_TRY(const Interpreter body, Interpreter::create(run.reference.subgraphs.at(0)));
    QS_TRY(const Values made, run.runLowered());
    const Argument::List* read = run.reference.args.at(0).value.asList();
    const std::size_t activations = read ? read->size() : 0;
    for (std::size_t i = 0; i < made.size(); ++i)
        QS_CHECK(checkGrid(*run.reference.subgraphs.at(0), i, made[i].toTensor()));
    double best = std::numeric_limits<double>::infinity();
    for (const int bits : {0, 8, 7}) {
        if (bits != 0 && !isDynamic)
            break;
        Values inputs = run.inputs;
        for (std::size_t i = 0; bits != 0 && i < std::min(activations, inputs.size()); ++i)
            inputs[i] = rounded(inputs[i], bits == 7);
        QS_TRY(const Values wanted, body.run(std::move(inputs)));
        double worst = 0;
        for (std::size_t i = 0; i < made.size() && i < wanted.size(); ++i)
            worst = std::max(worst, stepsApart(made[i].toTensor(), wanted[i].toTensor()));
        best = std::min(best, worst);
    }
    return best;
}

} // namespace qs
