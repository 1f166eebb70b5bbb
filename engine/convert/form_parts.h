// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// The conversion with forms that run on the model's inputs: to a form from which an edit extracted
/// a part, adds the nodes that compute the part's inputs, under new ids. Returns `converted` itself
/// if no form is a part.
ConvertedPtr onModelInputs(const ConvertedPtr& converted);

/// For each output of the model, flattened and in order: its index among the form's outputs, or -1
/// if an edit of the form dropped it. `edits`: of that form; null without. `outputs`: number of the
/// model's outputs.
std::vector<int> placesInForm(const EditedModelPtr& edits, std::size_t outputs);

/// The outputs of a form, in the order of the model's outputs; `T()` where an edit dropped one.
template<class T>
std::vector<T> inModelOrder(std::vector<T> returned, const EditedModelPtr& edits,
                            std::size_t outputs)
{
    if (!edits)
        return returned;
    std::vector<T> out;
    for (const int place : placesInForm(edits, outputs))
        out.push_back(place < 0 ? T() : std::move(returned.at(std::size_t(place))));
    return out;
}

/// Names of a form's outputs, each once: the model's outputs under their names, those that an edit
/// added under their value's.
std::vector<std::string> formOutputNames(const Graph& model, const EditedModelPtr& edits);

/// One line for each output that only one of model and form returns.
std::vector<std::string> unpairedOutputs(const Graph& model, const EditedModelPtr& edits);

} // namespace qs
