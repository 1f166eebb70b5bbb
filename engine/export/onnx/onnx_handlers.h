// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_call.h"

#include <string>
#include <unordered_map>

namespace qs {

/// Emits the ONNX form of one node and sets its results; or refuses.
using OnnxHandler = void (*)(OnnxCall&);
/// By operator without namespace and overload ("conv2d"), or by whole target where an overload
/// differs ("aten.max.dim"); functions on numbers by their word, "number.add".
using OnnxHandlers = std::unordered_map<std::string, OnnxHandler>;
inline constexpr const char* kNumberPrefix = "number.";

/// The node's handler, or null: its whole target, else its operator's name. `isComplex`: it reads
/// or makes complex numbers.
const OnnxHandler* findOnnxHandler(const Node& node, bool isComplex = false);

/// A value cut towards zero.
std::string truncated(OnnxCall& c, const std::string& x);

/// The families, each in a separate file.
void addActivationHandlers(OnnxHandlers& table);
void addAttentionHandlers(OnnxHandlers& table);
/// A separate table for complex numbers: handlers of real ones do not know the last dimension.
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
