// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// Returns the recipe's enabled cures that change the model (Bound, Split, Equalize, Smooth,
/// Train), without informational members.
std::vector<Cure> modelCures(const Recipe& recipe);

/// Returns the recipe's training, also one that is off; null without one.
const Cure* trainingOf(const Recipe& recipe);

/// Returns the recipe without its training: the weights before it.
Recipe untrained(Recipe recipe);

/// Returns the recipe without these cures.
Recipe withoutModelCures(Recipe recipe);

/// True if the recipe changes the model by edits or such cures.
bool changesModel(const Recipe& recipe);

/// Returns the recipe with this training in place of earlier ones, which it continued.
Recipe withTraining(Recipe recipe, Cure training);

/// Applies these cures in order after the edits; `edited` must have none yet. Skips cures that do
/// not fit, with the reason in `EditedModel::cures`. Fails only with Cancelled.
///
/// Bound: numbers of magnitude 1e9 or more, infinities and the largest number of their type get the
/// cure's magnitude and keep their sign; other numbers are unchanged. The result of a softmax that
/// reads the mask is unchanged: exp(x) is 0 in float32 below -104. Replaces stored tensors, sets
/// literal arguments.
///
/// Split: some input channels of a linear are multiplied in float, y = x W0' + b + x[S] W[S]',
/// where W0 is the weight with zeros in the channels S, so quantized values of these channels are
/// multiplied by zero (LLM.int8(), Dettmers 2022). The float model's results change only by
/// rounding.
///
/// Equalize: the output channels of a layer are divided by positive numbers, and the weights of the
/// layers that read them multiplied, so that both have the same ranges; through a batch norm, relu,
/// leaky relu, prelu and pooling. Several layers are equalized in turn until nothing changes. The
/// float model's results change only by rounding (Nagel et al. 2019).
///
/// Smooth: the same with given numbers, also for a layer norm (Xiao et al., "SmoothQuant", 2023).
/// If the value's producer cannot be scaled (an input of the model, an addition), or others read
/// the value too, one multiplication divides it for the layers that read it. That operator has an
/// address, stays float, and the quantizer of the layers' input follows it.
///
/// Train: the model's parameters and the ranges of its values become those of a trained model, by
/// name. Errors are then measured against the model before (`ModelInfo::trained`).
Result<EditedModelPtr> withModelCures(const EditedModelPtr& edited, std::vector<Cure> cures,
                                      const JobContext& job = {});

/// True if this `smooth` cure divides channels by an added multiplication (`dividedChain`), in a
/// model with or without it.
bool addsMultiplication(const EditedModel& model, const Cure& cure);

/// Returns one line for each skipped cure.
std::vector<std::string> unfitModelCures(const EditedModel& model);

} // namespace qs
