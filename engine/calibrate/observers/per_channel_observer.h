// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"

namespace qs {

/// torch.ao's PerChannelMinMaxObserver and its moving-average variant: extremes for each index
/// along the spec's channel axis.
class PerChannelObserver : public Observer
{
public:
    using Observer::Observer;

protected:
    kernels::MinMax see(const at::Tensor& x, Observed& found) override;
};

} // namespace qs
