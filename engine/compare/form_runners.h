// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/execute/interpreter.h"

namespace qs {

/// The two graphs that a comparison runs, in a layout in which both add in the same order. One
/// thread at a time.
struct FormRunners
{
    Interpreter floatForm, reference;

    /// `original`: the float side, where that is not the model that was converted; may be null.
    /// Errors: `Interpreter::create`'s.
    static Result<FormRunners> create(const ConvertedModel& converted, at::Device device,
                                      const GraphPtr& original = nullptr);
};

} // namespace qs
