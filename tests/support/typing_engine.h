// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"

namespace qs {

/// An engine whose calibration data show that the relu has an integer dtype, so that it is not
/// quantized.
class TypingEngine : public FakeEngine
{
public:
    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override
    {
        GraphEdit edit(*request.model);
        edit.change(request.model->tryFind("relu")->id).outputs[0].type.dtype = DType::Int64;
        CalibrateRequest typed = request;
        typed.model = std::make_shared<const Graph>(edit.build());
        auto planned = std::make_shared<Plan>(*request.plan);
        --planned->quantizedOps;
        typed.plan = planned;
        return FakeEngine::calibrate(typed, job);
    }
};

} // namespace qs
