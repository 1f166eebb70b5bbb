// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edit_draft.h"

namespace at {
class Tensor;
}

namespace qs {

/// The nodes that an edit changed or added.
using EditedNodes = std::vector<NodeId>;

// One function for each kind of edit. Each applies the edit completely, or fails with a one-line
// reason; then discard the draft.

Result<EditedNodes> insertOperator(EditDraft& draft, const EditStep& step);
Result<EditedNodes> removeOperator(EditDraft& draft, const EditStep& step);
Result<EditedNodes> replaceOperator(EditDraft& draft, const EditStep& step);
Result<EditedNodes> replaceEvery(EditDraft& draft, const EditStep& step);
Result<EditedNodes> setArguments(EditDraft& draft, const EditStep& step);
Result<EditedNodes> rewire(EditDraft& draft, const EditStep& step);
Result<EditedNodes> duplicateOperator(EditDraft& draft, const EditStep& step);
Result<EditedNodes> renameOperator(EditDraft& draft, const EditStep& step);
Result<EditedNodes> setConstant(EditDraft& draft, const EditStep& step);
Result<EditedNodes> addOutput(EditDraft& draft, const EditStep& step);
Result<EditedNodes> dropOutput(EditDraft& draft, const EditStep& step);
Result<EditedNodes> foldConstants(EditDraft& draft, const EditStep& step);
Result<EditedNodes> extractPart(EditDraft& draft, const EditStep& step);
Result<EditedNodes> asFloat32(EditDraft& draft, const EditStep& step);

/// Replaces the stored node's tensor and infers the types of the values that depend on it. Shares
/// the tensor.
Result<EditedNodes> putTensor(EditDraft& draft, NodeId id, const at::Tensor& tensor);

/// Fails if the file's content is not that of the hash, which `by` ("edit", "cure") recorded.
Result<void> checkRecorded(const std::string& file, const std::string& sha256,
                           const std::string& by, std::string hint);

/// Hash of a tensor's type, shape and content, for keys of results.
std::string contentOf(const at::Tensor& tensor);

/// Adds a stored tensor without consumers before another node. Shares the tensor.
NodeId addConstant(EditDraft& draft, const std::string& name, const at::Tensor& tensor,
                   NodeId before);

/// Applies the edit.
Result<EditedNodes> applyEdit(EditDraft& draft, const EditStep& step);

} // namespace qs
