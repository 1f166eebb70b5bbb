// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_columns.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Facts of an operator beyond its schema: the roles of its arguments, its effect on values, its
/// results, its other spellings. Names are those of its schema. One row of the process-wide
/// operator table. `rows/` lists PyTorch's operators; packs add theirs.
struct OperatorFacts
{
    using Weighted = OperatorWeight;
    std::string target; ///< without overload: "aten.conv2d", "mypack.scaled_linear"; with overload
                        ///< if its facts differ from the others': "aten.view.dtype"
    OperatorFamily family = OperatorFamily::Other;
    Weighted weighted = Weighted::No;
    std::string input, weight, bias; ///< "" = it has none
    std::vector<std::string> carried; ///< arguments that are never observed
    ResultType type = ResultType::Unknown;
    ResultRank rank = ResultRank::Unknown;
    OperatorTraits traits;
    std::string plain; ///< user-visible name, "softmax" for "_softmax"; "" = the operator's name
    std::optional<OperatorClamp> clamp; ///< how it clamps its first argument
    bool movesValues = false; ///< every element of its result is an element of its first argument
    bool tellsResults = false; ///< the pack computes its results' shapes (`PackShapes`)
    bool isKernel = false; ///< runs on quantized tensors in place of float operators
    bool isPrepack = false; ///< packs a kernel's weight
    std::string pack; ///< the extension pack it comes from; "" = PyTorch's own
};
/// Valid until the process ends.
using OperatorFactsPtr = const OperatorFacts*;

/// Facts of the operator of a target with or without overload ("aten.conv2d.default") or of
/// TorchScript's name ("aten::conv2d"); null for an unknown operator. Any thread.
OperatorFactsPtr operatorFacts(std::string_view target);

/// The same, with an empty row instead of null.
const OperatorFacts& factsOf(std::string_view target);

/// The same; for an in-place operator ("aten.relu_.default") the facts of its functional form.
const OperatorFacts& functionalFactsOf(std::string_view target);

/// True where the operator's row has the trait. Any thread.
bool hasTrait(std::string_view target, OperatorTrait trait);

/// ATen's bare word for an operator, "conv2d" of "aten.conv2d.default"; empty for others.
std::string_view atenWord(std::string_view target);

/// All rows of PyTorch's own operators, by target.
std::vector<OperatorFactsPtr> ownOperators();

/// The operator of an extension pack; null for PyTorch's own. Any thread.
OperatorFactsPtr packOperator(std::string_view target);

/// True if the operator only moves values: views, copies, selections. Accepts a target
/// ("aten.view.default") or ATen's bare word ("view").
bool movesValues(std::string_view target);

/// True for operators on quantized tensors and for those that pack their weights: LibTorch's
/// `quantized` operators and those of extension packs.
bool isKernelTarget(std::string_view target);
/// True for operators that pack the weights of such kernels.
bool isPrepackTarget(std::string_view target);

/// Adds the rows of an extension pack and replaces rows of the same names. One
/// table for the process, since LibTorch's operators belong to the process. Any
/// thread.
void addOperators(const std::vector<OperatorFacts>& facts);

/// The targets, without overload, of all operators of extension packs, in alphabetical order.
std::vector<std::string> packOperators();

/// "mypack.scaled_linear" for "mypack::scaled_linear", "torch.ops.mypack.scaled_linear" and
/// "mypack.scaled_linear.default"; "" if the text is not an operator name with a namespace.
std::string operatorTarget(std::string_view written);

} // namespace qs
