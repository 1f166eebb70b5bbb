// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// Answers operators that a `.pt2` spells otherwise, or that need no node, as it has them.
class ScriptRespeller
{
public:
    using JitNode = torch::jit::Node;
    using JitValue = torch::jit::Value;

    explicit ScriptRespeller(ScriptEmitter& emitter)
        : m_emitter(emitter)
    {
    }

    Result<ScriptAnswer> respell(const JitNode& node, const ScriptItems& args);
    /// Python's numbers in `x * 0.7` are tensors in a trace: makes them numbers again, as
    /// LibTorch's own runs take them. It leaves alone what divides and rounds down, where only
    /// whole numbers make no difference.
    static void respellNumber(const JitNode& node, ScriptItems& args);

private:
    std::optional<at::IValue> layerFact(const JitNode& node, const ScriptItems& args) const;
    Result<ScriptAnswer> readTensor(const JitNode& node, const ScopedRef& tensor,
                                    const ScriptItems& args);
    Result<ScriptAnswer> castTensor(const JitNode& node, ValueRef self, const ScriptItems& args);
    Result<ScriptAnswer> numberTensor(const JitNode& node, const ScriptItem& number, DType dtype);
    std::optional<ScriptItem> wholeNumber(const JitValue& value, const ScriptItem& item) const;
    Result<ScriptAnswer> numberArithmetic(const JitNode& node, const ScriptItems& args);

    ScriptEmitter& m_emitter;
    /// The whole number inside a tensor that was made of one.
    std::map<std::pair<ScriptScope*, ValueRef>, ScriptItem> m_numbers;
};

/// A trace calls what `conv2d` and the like call inside; a `.pt2` holds the calls themselves.
void respellConvolution(Node& node);
/// Leaves out what equals the operator's defaults, from the end.
void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema);

} // namespace qs
