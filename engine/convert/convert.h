// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/convert/lowering/kernel_checking.h"

namespace qs {

/// A converted model with only its reference form; `lowered` is null.
struct ReferenceModel
{
    std::shared_ptr<ConvertedModel> model;
    bool reduceRange = false; ///< dynamic activations leave a bit free (`selectEngine`)
};

/// The reference form from the prepared graph and the chosen parameters (torch.ao
/// `convert_to_reference_fx`), on the backend's engine.
Result<ReferenceModel> convertToReference(PreparedPtr prepared, QParamsTable qparams,
                                          const std::string& backend, const JobContext& job = {});

/// The reference form (`convertToReference`), then the lowered form (`convert_fx` with the recipe's
/// lowering table), its kernels checked (`checkLowered`). Runs on the CPU. Errors: with
/// `checking.refused`, another kernel cannot run this batch.
Result<ConvertedPtr> convertModel(PreparedPtr prepared, QParamsTable qparams, const Recipe& recipe,
                                  const KernelChecking& checking, const JobContext& job = {});

/// Refuses a recipe with a lowering row whose kernel LibTorch does not have. `convertModel` checks
/// it too; checking before a calibration saves that time.
Result<void> checkLoweringKernels(const Recipe& recipe);

/// Registers `quantized_decomposed::*` with the dispatcher (results bitwise equal to Python's). May
/// be called repeatedly.
void registerQuantizedDecomposed();

} // namespace qs
