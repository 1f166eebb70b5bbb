// SPDX-License-Identifier: Apache-2.0
#include "engine/export/node_json.h"

namespace qs {

std::string planJson(const Graph& model, const Plan& plan, const Recipe& recipe)
{
    ResultParts parts;
    parts.model = &model;
    parts.plan = &plan;
    parts.recipe = &recipe;
    const Json json = {{"format", "quantscope.plan"},
                       {"version", 1},
                       {"model", {{"path", model.info().path}, {"sha256", model.info().sha256}}},
                       {"backend", plan.backend},
                       {"coverage", coverageJson(plan)},
                       {"warnings", plan.warnings},
                       {"nodes", NodeJson(parts, false).nodes()}};
    return json.dump(2) + "\n";
}

} // namespace qs
