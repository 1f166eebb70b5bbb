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

    /// Errors: `Interpreter::create`'s.
    static Result<FormRunners> create(const ConvertedModel& converted, at::Device device);
};

} // namespace qs
