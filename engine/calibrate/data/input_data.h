// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The first dimension of an input where the graph fixes it.
std::optional<std::int64_t> fixedBatch(const Node& input);

/// "0.5", "true": an element as a person wrote it.
std::string elementText(const at::Tensor& tensor, std::int64_t flat);

/// Type and shape of a tensor by its header.
struct DataForm
{
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> sizes;
};

DataForm formOf(const StoredTensor& stored);

/// A tensor of this shape without elements, for the rules about shapes.
at::IValue outline(const std::vector<std::int64_t>& sizes);

/// The inputs' names in quotes, for errors.
std::string inputNames(const std::vector<const Node*>& inputs);

/// An error that starts with the name of the tensor it is about.
Error namedError(Error error, const std::string& what);

/// Whether data of this form fit a model input: type, rank, fixed dimensions (the first one only
/// when `checkFirst`). Numbers of another type fit (`typeChange`); their values are checked when
/// they are read. `what` names the tensor in the error ("array 'x'").
Result<void> checkForm(const DataForm& form, const Node& input, const std::string& what,
                       bool checkFirst);

struct ReadyInput
{
    at::Tensor tensor;
    std::optional<Error> notFinite; ///< where it holds NaN or Inf: what and at which index
};

/// Prepares a read tensor for `input`: converts the elements to the type that the model takes.
/// Floating numbers are rounded; any other change of a value is refused. NaN and Inf stay: the plan
/// decides whether the input may hold them. `firstRow` is the first row's number in the file, for
/// the error's index. Uses no thread but the caller's.
Result<ReadyInput> readyInput(const at::Tensor& tensor, const Node& input, const std::string& what,
                              std::int64_t firstRow);
/// Makes it the batch's next input, read from `file`.
Result<void> addInput(Batch& batch, const at::Tensor& tensor, const Node& input,
                      const std::string& what, std::int64_t firstRow, const std::string& file);

/// Logs a note if `readyInput` will convert data of another type to floating numbers.
void noteTypeChange(DType given, const Node& input, const std::string& what);

} // namespace qs
