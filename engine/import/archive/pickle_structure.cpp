// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickle_structure.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr std::size_t kDeepest = 1000;
constexpr double kMostLeaves = 1e7;

struct Seen
{
    bool isOpen = false;
    std::size_t depth = 0; ///< 0: not visited
    double leaves = 0;
};

Seen summed(const std::vector<std::size_t>& parts, const std::vector<Seen>& seen)
{
    Seen out {false, 1, parts.empty() ? 1.0 : 0.0};
    for (const std::size_t held : parts) {
        out.depth = std::max(out.depth, seen[held].depth + 1);
        out.leaves += seen[held].leaves;
    }
    return out;
}

} // namespace

const char* structureProblem(const std::vector<std::vector<std::size_t>>& parts,
                             std::size_t fileSize)
{
    const double most = std::max(kMostLeaves, double(fileSize));
    std::vector<Seen> seen(parts.size());
    std::vector<std::pair<std::size_t, std::size_t>> path; // an object and its next part
    for (std::size_t root = 0; root < parts.size(); ++root) {
        if (seen[root].depth == 0)
            path.emplace_back(root, 0);
        while (!path.empty()) {
            auto& [object, next] = path.back();
            seen[object].isOpen = true;
            if (next < parts[object].size()) {
                const std::size_t held = parts[object][next];
                if (seen[held].isOpen)
                    return "it is cyclic";
                ++next;
                if (seen[held].depth == 0)
                    path.emplace_back(held, 0);
                continue;
            }
            seen[object] = summed(parts[object], seen);
            if (seen[object].depth > kDeepest)
                return "it is nested too deeply";
            if (seen[object].leaves > most)
                return "it expands to far more data than the file has";
            path.pop_back();
        }
    }
    return nullptr;
}

} // namespace qs
