// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// During its lifetime LibTorch's autograd records this thread's operators, also inside nested
/// `InferenceScope`s. Open it around operator calls only. Per thread; the destructor restores the
/// previous state.
class GradientScope
{
public:
    GradientScope();
    ~GradientScope();
    GradientScope(const GradientScope&) = delete;
    GradientScope& operator=(const GradientScope&) = delete;

private:
    bool m_wasOpen, m_recorded;
};

} // namespace qs
