// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// As long as it lives LibTorch's autograd records what this thread runs, in each `InferenceScope`
/// that opens inside of it too. Open it for calls of operators alone. Per thread, restores on
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
