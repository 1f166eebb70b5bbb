// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/original_pairs.h"

#include <algorithm>

namespace qs {

std::vector<CompareUnit> pairedUnits(std::vector<CompareUnit> units, const Graph& original)
{
    std::erase_if(units, [&](const CompareUnit& unit) {
        const Node* node = original.tryGet(unit.last);
        return !node || !node->isOperator()
            || std::any_of(unit.outputs.begin(), unit.outputs.end(), [&](const UnitOutput& output) {
                   return output.value.index >= node->outputs.size();
               });
    });
    for (CompareUnit& unit : units)
        unit.inputs.clear();
    return units;
}

Result<std::vector<std::size_t>> pairedInputs(const Graph& original, const Graph& edited)
{
    const auto given = edited.inputs();
    std::vector<std::size_t> places;
    for (const Node* input : original.inputs()) {
        const auto it = std::find_if(given.begin(), given.end(),
                                     [&](const Node* one) { return one->id == input->id; });
        if (it == given.end())
            return fail(makeError(ErrorCode::BadInput,
                                  "the original model reads an input that the edited one does not "
                                  "have: the two cannot run on the same data")
                            .atNode(input->name)
                            .withHint("compare with the edited model"));
        places.push_back(std::size_t(it - given.begin()));
    }
    return places;
}

} // namespace qs
