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

/// Result of checking one lowered kernel: whether, on the reference form's quantized inputs, all
/// its results are within one step of the required ones.
struct KernelCheck
{
    NodeId node; ///< the float node (last member of its group)
    std::string kernel; ///< "quantized.conv2d_relu.new"
    StepCounts steps; ///< differences from the reference form's result, over one batch
    double held = 0; ///< largest difference in steps from its required result (kernel_check.h)
    bool passed = false;
    std::string reason; ///< why the node stays in reference form, or empty
    NodeId reference; ///< of the reference form: the node with the kernel's result
    NodeId lowered; ///< the kernel's node; invalid if it was refused
    friend bool operator==(const KernelCheck&, const KernelCheck&) = default;
};

/// A kernel that the check refused when a result was written: the result's files do not contain it.
struct RefusedKernel
{
    std::string site; ///< name of the reference form's node, `KernelCheck::reference`
    std::string kernel;
    std::string reason;
};

/// A loss that remains after lowering, reported so that users need not read generated code to find
/// it.
struct Residue
{
    enum class Kind : std::uint8_t
    {
        Unlowered, ///< a quantized operator that still runs in float between dequantize and
                   ///< quantize
        DeadPair ///< a quantize step whose readers all dequantize again, so that it only adds loss
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
    std::string engine; ///< quantized engine of the kernels: "x86"
    QParamsTable qparams;
    GraphPtr
        reference; ///< every Q/DQ pair explicit: quantized_decomposed ops, float operators between
    GraphPtr lowered; ///< LibTorch's quantized operators; what the check refused stays as in the
                      ///< reference form
    std::vector<KernelCheck> checks; ///< in graph order
    std::vector<Residue> residue; ///< residue of lowering, in graph order
    /// Maps values of the float graph to the values of the reference graph that ordinary readers
    /// read (after quantize-dequantize if quantized). Values that fusion removed are absent.
    std::unordered_map<ValueRef, ValueRef> referenceValueOf;
    /// The same value before its quantize-dequantize pair.
    std::unordered_map<ValueRef, ValueRef> rawValueOf;
    /// Weights rounded as a cure says: the constant of the reference graph, and the weight itself
    /// in the prepared graph.
    std::unordered_map<ValueRef, ValueRef> roundedFrom;
    /// Layers whose bias a cure corrected, with the bias in the prepared graph; invalid without
    /// one.
    std::unordered_map<NodeId, ValueRef> correctedBiases;
    /// Why numbers of cures (`Plan::numbers`) do not fit and were left out, one line each.
    std::vector<std::string> unfitNumbers;
    /// Results of the recipe's edits of these forms; `file` is the form before the edits. Null
    /// without edits.
    EditedModelPtr referenceEdits, loweredEdits;
};
using ConvertedPtr = std::shared_ptr<const ConvertedModel>;

/// The quantized operators left in reference form, each with its reason (no row, an input that is
/// not dequantized, an output that is not quantized, the kernel check), then the dead
/// quantize-dequantize pairs.
std::vector<Residue> loweringResidue(const ConvertedModel& model);

} // namespace qs
