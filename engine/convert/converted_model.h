// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/qparams.h"
#include "engine/edit/edited_model.h"
#include "engine/execute/steps/step_counts.h"
#include "engine/prepare/prepared_model.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The verdict on one lowered kernel: fed the reference form's quantized inputs, is it within 1 LSB
/// everywhere?
struct KernelCheck
{
    NodeId node; ///< the float node (last member of its group)
    std::string kernel; ///< "quantized.conv2d_relu.new"
    StepCounts steps; ///< how far it is from the reference form's result, over one batch
    double held = 0; ///< largest difference in steps from its required result (kernel_check.h)
    bool passed = false;
    std::string reason; ///< why the node stays in reference form, or empty
    NodeId reference; ///< of the reference form: the node with the kernel's result
    NodeId lowered; ///< the kernel's node; invalid if it was refused
};

/// A kernel that the check refused when a result was made: the files that were written then do not
/// have it.
struct RefusedKernel
{
    std::string site; ///< name of the reference form's node, `KernelCheck::reference`
    std::string kernel;
    std::string reason;
};

/// A loss that remains after lowering (requirement: users find it without reading generated
/// code).
struct Residue
{
    enum class Kind : std::uint8_t
    {
        Unlowered, ///< a quantized operator that still runs in float between dequantize and
                   ///< quantize
        DeadPair ///< a quantize whose readers all dequantize again: pure loss
    };
    Kind kind = Kind::Unlowered;
    NodeId node; ///< the float node (last member of its group)
    std::string name; ///< of the node in the lowered graph
    std::string reason; ///< one sentence
};

/// The converted model in both forms. A value; share as ConvertedPtr.
struct ConvertedModel
{
    PreparedPtr prepared;
    std::string engine; ///< quantized engine that the kernels are of: "x86"
    QParamsTable qparams;
    GraphPtr
        reference; ///< every Q/DQ pair explicit: quantized_decomposed ops, float operators between
    GraphPtr lowered; ///< LibTorch's quantized operators; what the check refused stays as in the
                      ///< reference form
    std::vector<KernelCheck> checks; ///< in graph order
    std::vector<Residue> residue; ///< residue of lowering, in graph order
    /// Where each value of the float graph lives in the reference graph, as its ordinary readers
    /// see it (after quantize-dequantize where it is quantized); absent where fusion removed it.
    std::unordered_map<ValueRef, ValueRef> referenceValueOf;
    /// The same value before its quantize-dequantize pair.
    std::unordered_map<ValueRef, ValueRef> rawValueOf;
    /// Results of the recipe's edits of these forms; `file` is the form before. Null without.
    EditedModelPtr referenceEdits, loweredEdits;
};
using ConvertedPtr = std::shared_ptr<const ConvertedModel>;

/// The quantized operators left in reference form, each with its reason (no row, an input that is
/// not dequantized, an output that is not quantized, the kernel check), then the dead
/// quantize-dequantize pairs.
std::vector<Residue> loweringResidue(const ConvertedModel& model);

} // namespace qs
