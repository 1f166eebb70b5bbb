// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/targets/onnx_view.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The execution of one node by ONNX Runtime's CPU provider with its optimizations on.
struct OrtAnswer
{
    std::string kernel; ///< "QLinearConv"; for operators that move values "Reshape (integers)"; ""
                        ///< = no kernel
    std::string reason; ///< that no kernel computes it
};

/// ONNX Runtime's rules for DequantizeLinear - operator - QuantizeLinear, from
/// onnxruntime/core/optimizer/qdq_transformer: `selectors_actions/qdq_selectors.cc` (which types,
/// how many pairs), `qdq_util.cc` (which Relu and Clip a QuantizeLinear makes redundant),
/// `qdq_propagation.cc` (pairs move across operators that only move values). Borrows the view.
class OrtFusions
{
public:
    /// `calibrated`: the scales are known. Without calibration, every Clip is assumed to be made
    /// redundant by the range of the integers.
    OrtFusions(const OnnxView& view, bool calibrated)
        : m_view(view)
        , m_calibrated(calibrated)
    {
    }

    /// The expected execution of a node; empty for an operator without a rule. `biasIsStored`:
    /// treat a float bias as if it were already stored as int32.
    std::optional<OrtAnswer> answer(const OnnxNode& node, bool biasIsStored = false) const;
    /// Parameters of the integers that an input is dequantized from, also if operators that only
    /// move values are in between.
    std::optional<OnnxStep> quantizedInput(const OnnxNode& node, std::size_t input) const;

private:
    struct After
    {
        std::optional<OnnxStep> step; ///< of the QuantizeLinear that reads the result
        const OnnxNode* stays = nullptr; ///< a Relu or Clip before it that is not redundant
        std::string reason; ///< without a step: the other readers of the result
    };
    After after(const OnnxNode& node) const;
    const OnnxNode* dequantizer(const std::string& value) const;
    bool isNeedless(const OnnxNode& clip, const OnnxStep& step) const;
    OrtAnswer weighted(const OnnxNode& node, bool biasIsStored) const;
    OrtAnswer moved(const OnnxNode& node) const;
    OrtAnswer split(const OnnxNode& node) const;
    OrtAnswer pointwise(const OnnxNode& node, const std::string& kernel) const;

    const OnnxView& m_view;
    bool m_calibrated;
};

} // namespace qs
