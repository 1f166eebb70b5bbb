// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#include "engine/result/result_document.h"

#include <memory>
#include <string>

namespace qs {

/// Path of the file in which a search keeps its state: NAME.tune.json beside the recipe NAME.json.
std::string searchPath(const std::string& recipe);

/// What the search beside a recipe found and measured on the way to it, for a result document:
/// `{trial, goal, reached, samples, is_guard, causes[], steps[]}`. A cause: `{title, words, share,
/// evidence[]}`; a step from one trial to the next: `{trial, stage, before_db, after_db, cures[],
/// needless_outputs}` with the cures in words and the SQNR of the worst output on the guard.
/// Null without a search of this program, without a trial that has exactly the decisions of
/// `recipe` on this file, or if that trial has no cures.
std::shared_ptr<const ResultDocument::Json> searchSummary(const std::string& recipePath,
                                                          const Graph& file, const Recipe& recipe);

/// The summary in a result document; null without one.
std::shared_ptr<const ResultDocument::Json> searchIn(const ResultDocument& document);

} // namespace qs
