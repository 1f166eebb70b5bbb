// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// A converted model with its reference form alone; `lowered` is null.
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
/// lowering table). `checkBatch` feeds the kernel check; without one nothing is checked and the
/// checks are empty. With `refused` the model is the one that was written: exactly these kernels
/// are left out, and the checks report the others on this batch. Runs on the CPU. Errors: a kernel
/// that was not refused then cannot run this batch.
Result<ConvertedPtr> convertModel(PreparedPtr prepared, QParamsTable qparams, const Recipe& recipe,
                                  const Batch* checkBatch, const JobContext& job = {},
                                  const std::vector<RefusedKernel>* refused = nullptr);

/// Refuses a recipe with a lowering row whose kernel LibTorch does not have. `convertModel` checks
/// it too; checking before a calibration saves that time.
Result<void> checkLoweringKernels(const Recipe& recipe);

/// Registers `quantized_decomposed::*` with the dispatcher (bit-equal to Python's); harmless when
/// called twice.
void registerQuantizedDecomposed();

} // namespace qs
