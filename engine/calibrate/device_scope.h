// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace qs {

/// While it lives, CUDA computes as reproducibly as LibTorch can: no TF32, deterministic cuDNN
/// without benchmarking. Restores the settings. They are the process's: one job with a scope at a
/// time.
class DeviceScope
{
public:
    DeviceScope();
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    bool m_tf32Blas;
    bool m_tf32Cudnn;
    bool m_deterministic;
    bool m_benchmark;
};

} // namespace qs
