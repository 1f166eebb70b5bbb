// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"
#include "engine/custom_modules/lstm/lstm_body.h"

namespace qs {

/// Returns the fixed parameters of a gate's values (LibTorch's quantized sigmoid and tanh); nullopt
/// for other values.
std::optional<InteriorGrid> lstmGateGrid(const std::string& interior, DType dtype);

/// An LSTM's arithmetic with LibTorch's quantized kernels; a cell's parameters are two packed
/// linears.
class QuantizedLstmArithmetic : public LstmArithmetic
{
public:
    QuantizedLstmArithmetic(GridOf gridOf, DType dtype)
        : m_gridOf(std::move(gridOf))
        , m_dtype(dtype)
    {
    }
    std::size_t parametersPerCell() const override { return 2; }
    DType dtype() const override { return m_dtype; }
    ValueRef linear(GraphEdit& edit, LstmStep step, ValueRef x, std::size_t side,
                    std::span<const ValueRef> parameters) override;
    ValueRef binary(GraphEdit& edit, LstmStep step, const char* op, ValueRef a,
                    ValueRef b) override;
    ValueRef gate(GraphEdit& edit, LstmStep step, const char* op, ValueRef x) override;
    ValueRef aligned(GraphEdit& edit, ValueRef value, const std::string& interior) override;

private:
    GridOf m_gridOf;
    DType m_dtype;
};

} // namespace qs
