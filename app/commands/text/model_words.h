// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

class NodeTitles;

/// Replaces node names in lines of the command line by the layer, as in tables, and the graph's
/// name: 'block1.conv2 + bn2' (conv2d_2). Thread-safe.
class ModelWords
{
public:
    ModelWords();
    ~ModelWords();
    ModelWords(const ModelWords&) = delete;
    ModelWords& operator=(const ModelWords&) = delete;

    /// Adds a float graph whose nodes lines may name. With a plan, a fusion has one title.
    void know(GraphPtr graph, PlanPtr plan = {});
    /// Returns the line with its quoted node names replaced.
    std::string named(const std::string& line) const;

private:
    struct Known;
    std::string wordsFor(const std::string& name) const;

    mutable std::mutex m_mutex;
    std::vector<std::unique_ptr<Known>> m_known; ///< the newest last
};

} // namespace qs
