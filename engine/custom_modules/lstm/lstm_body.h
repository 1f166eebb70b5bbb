// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"
#include "engine/custom_modules/lstm/lstm_op.h"

#include <memory>
#include <span>
#include <string>

namespace qs {

/// A node to add inside an LSTM, with name, scope and result set. `interior`: name of the value, as
/// from `lstmInterior`.
struct LstmStep
{
    Node node;
    std::string interior;
};

/// Builds the arithmetic inside an LSTM: in float with an observer or quantize step after each
/// value, or with quantized kernels. `interior`: name of a value, as from `lstmInterior`. All
/// functions insert into the draft of a body and return the new value.
class LstmArithmetic
{
public:
    virtual ~LstmArithmetic() = default;
    /// Number of the body's inputs that hold one cell's parameters.
    virtual std::size_t parametersPerCell() const = 0;
    virtual DType dtype() const = 0;
    /// `side` 0 is igates, 1 is hgates; `parameters` are the cell's.
    virtual ValueRef linear(GraphEdit& edit, LstmStep step, ValueRef x, std::size_t side,
                            std::span<const ValueRef> parameters)
        = 0;
    /// "add" or "mul" of two values.
    virtual ValueRef binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a, ValueRef b)
        = 0;
    /// "sigmoid" or "tanh".
    virtual ValueRef gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x) = 0;
    /// Requantizes a value that will be joined with others to the parameters of `interior`, the
    /// first of them (as LibTorch's `cat` and `stack` of quantized tensors do).
    virtual ValueRef aligned(GraphEdit& edit, ValueRef value, const std::string& interior) = 0;
};

/// The float arithmetic; consumers read the value returned by `seal`. `seal` is called for each
/// value that torch.ao observes in a cell, for "input_gate", "forget_gate", "cell_gate",
/// "output_gate" and "tanh_cy", whose range is fixed, and, with `again`, for values that are
/// joined.
class FloatLstmArithmetic : public LstmArithmetic
{
public:
    FloatLstmArithmetic(bool hasBiases, Seal seal)
        : m_hasBiases(hasBiases)
        , m_seal(std::move(seal))
    {
    }
    std::size_t parametersPerCell() const override { return m_hasBiases ? 4 : 2; }
    DType dtype() const override { return DType::Float32; }
    ValueRef linear(GraphEdit& edit, LstmStep step, ValueRef x, std::size_t side,
                    std::span<const ValueRef> parameters) override;
    ValueRef binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a,
                    ValueRef b) override;
    ValueRef gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x) override;
    ValueRef aligned(GraphEdit& edit, ValueRef value, const std::string& interior) override;

private:
    bool m_hasBiases;
    Seal m_seal;
};

/// Builds the interior of an LSTM as a separate graph (torch.ao.nn.quantizable.LSTM). Inputs:
/// sequence, hidden state, cell state and the cells' parameters; outputs: those of
/// `aten.lstm.input`. Each layer and direction is one `kRecurTarget` over its cell's graph. `node`
/// is the float LSTM in `graph` and provides shapes, scope and names.
std::shared_ptr<const Graph> buildLstmBody(const Graph& graph, const Node& node,
                                           LstmArithmetic& arithmetic);

} // namespace qs
