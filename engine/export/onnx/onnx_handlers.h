// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_call.h"

#include <string>
#include <unordered_map>

namespace qs {

/// Emits the ONNX form of one node and sets its results, or calls `refuse`.
using OnnxHandler = void (*)(OnnxCall&);
/// Handlers by operator name without namespace and overload ("conv2d"), or by whole target if an
/// overload differs ("aten.max.dim"). Functions on numbers have a prefix: "number.add".
using OnnxHandlers = std::unordered_map<std::string, OnnxHandler>;
inline constexpr const char* kNumberPrefix = "number.";

/// The node's handler, found by its whole target, else by its operator's name; null if there is
/// none. `isComplex`: the node reads or returns complex numbers.
const OnnxHandler* findOnnxHandler(const Node& node, bool isComplex = false);

/// A value rounded towards zero.
std::string truncated(OnnxCall& c, const std::string& x);

/// The families, each in a separate file.
void addActivationHandlers(OnnxHandlers& table);
void addAttentionHandlers(OnnxHandlers& table);
/// For a separate table: handlers of real numbers do not know the last dimension of complex ones.
void addComplexHandlers(OnnxHandlers& table);
void addConvolutionHandlers(OnnxHandlers& table);
void addCreationHandlers(OnnxHandlers& table);
void addDetectionHandlers(OnnxHandlers& table);
void addDistanceHandlers(OnnxHandlers& table);
void addElementwiseHandlers(OnnxHandlers& table);
void addEmbeddingHandlers(OnnxHandlers& table);
void addFunctionHandlers(OnnxHandlers& table);
void addIndexHandlers(OnnxHandlers& table);
void addJoinHandlers(OnnxHandlers& table);
void addLoopHandlers(OnnxHandlers& table);
void addNormHandlers(OnnxHandlers& table);
void addPoolHandlers(OnnxHandlers& table);
void addProductHandlers(OnnxHandlers& table);
void addQuantizeHandlers(OnnxHandlers& table);
void addRecurrentHandlers(OnnxHandlers& table);
void addReductionHandlers(OnnxHandlers& table);
void addResizeHandlers(OnnxHandlers& table);
void addShapeHandlers(OnnxHandlers& table);
void addSizeHandlers(OnnxHandlers& table);
void addSliceHandlers(OnnxHandlers& table);
void addSpecialHandlers(OnnxHandlers& table);

} // namespace qs
