// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Sums the squared gradients of the outputs by bins of the value
/// (`ValueSlopes`).
class SlopeSums
{
public:
    /// Adds values and the gradient of one probe, of equal shape.
    void add(const at::Tensor& value, const at::Tensor& gradient);
    ValueSlopes result() const { return m_slopes; }

private:
    void reach(double magnitude);

    ValueSlopes m_slopes;
};

} // namespace qs
