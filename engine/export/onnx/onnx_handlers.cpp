// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_handlers.h"

#include "engine/graph/operators/number_operators.h"
#include "engine/graph/operators/operators.h"

namespace qs {

namespace {

const OnnxHandlers& handlers()
{
    static const OnnxHandlers table = [] {
        OnnxHandlers made;
        addActivationHandlers(made);
        addAttentionHandlers(made);
        addConvolutionHandlers(made);
        addCreationHandlers(made);
        addDetectionHandlers(made);
        addDistanceHandlers(made);
        addElementwiseHandlers(made);
        addEmbeddingHandlers(made);
        addFunctionHandlers(made);
        addIndexHandlers(made);
        addJoinHandlers(made);
        addLoopHandlers(made);
        addNormHandlers(made);
        addPoolHandlers(made);
        addProductHandlers(made);
        addQuantizeHandlers(made);
        addRecurrentHandlers(made);
        addReductionHandlers(made);
        addResizeHandlers(made);
        addShapeHandlers(made);
        addSizeHandlers(made);
        addSliceHandlers(made);
        addSpecialHandlers(made);
        return made;
    }();
    return table;
}

const OnnxHandlers& complexHandlers()
{
    static const OnnxHandlers table = [] {
        OnnxHandlers made;
        // These handlers count dimensions from the first, so they also fit complex numbers.
        for (const char* name : {"slice", "select"})
            made[name] = handlers().at(name);
        addComplexHandlers(made);
        return made;
    }();
    return table;
}

} // namespace

const OnnxHandler* findOnnxHandler(const Node& node, bool isComplex)
{
    if (node.kind != NodeKind::Op)
        return nullptr;
    const OnnxHandlers& table = isComplex ? complexHandlers() : handlers();
    // Opaque nodes, such as branches and loops, are found only by their whole target.
    if (const auto it = table.find(node.target); it != table.end())
        return &it->second;
    const std::string number = numberTarget(node.target);
    if (const auto word = numberWord(number.empty() ? node.target : number); !word.empty())
        if (const auto it = table.find(std::string(kNumberPrefix).append(word)); it != table.end())
            return &it->second;
    if (!node.opaqueReason.empty())
        return nullptr;
    // Operators of packs may have the same name as an operator of PyTorch.
    const auto it = table.find(std::string(atenWord(node.target)));
    return it == table.end() ? nullptr : &it->second;
}

} // namespace qs
