// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// Converts operators to their form in a `.pt2`, and answers operators that need no node.
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
    /// Converts constant tensors back to numbers: a trace records the number in `x * 0.7` as a
    /// tensor. For floor division only integers are converted, because only these give equal
    /// results.
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
    /// Integers inside tensors that were created from them.
    std::map<std::pair<ScriptScope*, ValueRef>, ScriptItem> m_numbers;
};

/// Converts `_convolution` of a trace to the `conv2d` or similar call of a `.pt2`.
void respellConvolution(Node& node);
/// Removes trailing arguments that equal the operator's defaults.
void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema);

} // namespace qs
