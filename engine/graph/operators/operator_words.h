// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operator_columns.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace qs {

/// True if the ATen operator `base` (no namespace, no overload, no trailing underscore) implements
/// the user-visible function or torch.nn class `word`, in any spelling of training IR, core ATen
/// and TorchScript.
bool isMainOp(std::string_view word, std::string_view base);

/// Returns the operator of a torch.nn class: "adaptive_avg_pool2d" for "AdaptiveAvgPool2d"; batch
/// norms keep their dimensions ("batch_norm2d"). Without such an operator, the name in snake case.
std::string wordOfClass(std::string_view name);

/// The family of ATen's operator of that bare word.
OperatorFamily familyOf(std::string_view word);

/// True for a convolution whose number of dimensions follows from its arguments.
bool isAnyRankConvolution(std::string_view target);

/// True for a batch norm that may run on stored statistics, in ATen's spellings of it.
bool isBatchNorm(std::string_view target);

/// True for a layer norm.
bool isLayerNorm(std::string_view target);

/// Returns the operator kind that the lowering table uses for a target: "linear" for addmm,
/// "matmul" for mm; else its plain spelling.
std::string kernelKind(std::string_view target);

/// The kind of work of an operator's or a kernel's word: "conv" for "conv2d_relu" and
/// "_convolution", "reshape" for "view". The word itself if no other operator does the same work.
std::string workOf(std::string_view word);

/// Where the channels of an operator's result are.
enum class OperatorChannels : std::uint8_t
{
    Second, ///< axis 1
    Last,
    Passed, ///< same as in its first argument
    Unknown ///< the operator permutes axes
};
OperatorChannels operatorChannels(std::string_view target);

/// Returns the user-visible name of a core ATen operator, "_softmax" ► "softmax"; other names
/// unchanged.
std::string plainSpelling(const std::string& base);

/// Python's operator for a tensor method, "add" ► "operator.add"; empty without one. `x + y` and
/// `x.add(y)` are equal in an export, and the first is the usual spelling.
std::string pythonOperator(std::string_view word);

/// Python's sign for ATen's word, "+" for "add" and "add_"; empty without one.
std::string_view pythonSign(std::string_view word);

/// True for names in torch.nn.functional of built-in functions of torch.
bool isFunctionalBuiltin(std::string_view word);

/// True for words that count as a function of torch.nn.functional if the file has no record of the
/// call.
bool isFunctionalByDefault(std::string_view word);

/// True for words that count as a tensor method if the file has no record of the call.
bool isMethodByDefault(std::string_view word);

/// A type of PyTorch without the module that defines it: "torch.nn.Conv2d" for
/// "torch.nn.modules.conv.Conv2d"; other names unchanged.
std::string publicTypeName(std::string name);

/// Types that rules name although no backend lists them: "torch.nn.GELU", "operator.add",
/// "reshape".
std::set<std::string> knownTypeNames();

} // namespace qs
