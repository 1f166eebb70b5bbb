// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// True if the ATen operator `base` (no namespace, no overload, no trailing underscore) implements
/// the user-visible function or torch.nn class `word`, in any spelling of training IR, core ATen
/// and TorchScript.
bool isMainOp(std::string_view word, const std::string& base);

/// The name that users know an operator of core ATen by, "_softmax" ► "softmax"; others as they
/// are.
std::string plainSpelling(const std::string& base);

/// Python's operator for a tensor method, "add" ► "operator.add"; empty without one. `x + y` and
/// `x.add(y)` are equal in an export, and the first is the usual spelling.
std::string pythonOperator(const std::string& word);

/// True for names in torch.nn.functional of built-in functions of torch.
bool isFunctionalBuiltin(const std::string& word);

/// True for words that count as a function of torch.nn.functional if the file has no record of the
/// call.
bool isFunctionalByDefault(const std::string& word);

/// True for words that count as a tensor method if the file has no record of the call.
bool isMethodByDefault(const std::string& word);

} // namespace qs
