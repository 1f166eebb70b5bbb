// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_columns.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What is known of an operator beyond its schema: what its arguments are, what it does to values,
/// what its results are, how else it is spelled. Names are those of its schema. One row of the
/// operator table, which the process holds: PyTorch's operators stand in `rows/`, packs add theirs.
struct OperatorFacts
{
    using Weighted = OperatorWeight;
    std::string target; ///< without overload: "aten.conv2d", "mypack.scaled_linear"; with one where
                        ///< the overload differs from the others: "aten.view.dtype"
    OperatorFamily family = OperatorFamily::Other;
    Weighted weighted = Weighted::No;
    std::string input, weight, bias; ///< "" = it has none
    std::vector<std::string> carried; ///< arguments that are never observed
    ResultType type = ResultType::Unknown;
    ResultRank rank = ResultRank::Unknown;
    OperatorTraits traits;
    std::string plain; ///< what users call it, "softmax" for "_softmax"; "" = its own name
    std::optional<OperatorClamp> clamp; ///< it cuts its first argument's values
    bool movesValues = false; ///< every element of its result is one of its first argument
    bool tellsResults = false; ///< the pack says its results' shapes (`PackShapes`)
    bool isKernel = false; ///< runs on quantized tensors in place of float operators
    bool isPrepack = false; ///< packs a kernel's weight
    std::string pack; ///< the extension pack it comes from; "" = PyTorch's own
};
/// Valid as long as the process.
using OperatorFactsPtr = const OperatorFacts*;

/// What is known of the operator of a target with or without overload ("aten.conv2d.default") or of
/// TorchScript's name ("aten::conv2d"); null where that is nothing. Any thread.
OperatorFactsPtr operatorFacts(std::string_view target);

/// The same, a row that says nothing in the place of null.
const OperatorFacts& factsOf(std::string_view target);

/// The same; of an operator that works in place ("aten.relu_.default") what is known of the other.
const OperatorFacts& functionalFactsOf(std::string_view target);

/// True where the operator's row has the trait. Any thread.
bool hasTrait(std::string_view target, OperatorTrait trait);

/// ATen's bare word for an operator, "conv2d" of "aten.conv2d.default"; empty for others.
std::string_view atenWord(std::string_view target);

/// All rows of PyTorch's own operators, by target.
std::vector<OperatorFactsPtr> ownOperators();

/// The operator of an extension pack; null for PyTorch's own. Any thread.
OperatorFactsPtr packOperator(std::string_view target);

/// True where the operator computes nothing: views, copies, selections. Takes a target
/// ("aten.view.default") or ATen's bare word for it ("view").
bool movesValues(std::string_view target);

/// True for what runs on quantized tensors and for what packs weights for it: LibTorch's
/// `quantized` operators and those of extension packs.
bool isKernelTarget(std::string_view target);
/// True for what packs the weights of such kernels.
bool isPrepackTarget(std::string_view target);

/// Adds what an extension pack tells of its operators; what was known under the same names is
/// replaced. LibTorch's operators belong to the process, and so does what is known of them. Any
/// thread.
void addOperators(const std::vector<OperatorFacts>& facts);

/// The targets, without overload, of all operators of extension packs, in alphabetical order.
std::vector<std::string> packOperators();

/// "mypack.scaled_linear" for "mypack::scaled_linear", "torch.ops.mypack.scaled_linear" and
/// "mypack.scaled_linear.default"; "" for what is no name of an operator with its namespace.
std::string operatorTarget(std::string_view written);

} // namespace qs
