// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// While it lives, LibTorch's autograd records this thread's operators, inside nested
/// `InferenceScope`s too. Open it around calls of operators only. Per thread, restores on
/// destruction.
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
