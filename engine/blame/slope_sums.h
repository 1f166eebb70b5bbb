// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Gathers how steep the outputs are where a value is how large: squared gradients by bins of the
/// value.
class SlopeSums
{
public:
    /// Values and the gradient of one probe, of one shape.
    void add(const at::Tensor& value, const at::Tensor& gradient);
    ValueSlopes result() const { return m_slopes; }

private:
    void reach(double magnitude);

    ValueSlopes m_slopes;
};

} // namespace qs
