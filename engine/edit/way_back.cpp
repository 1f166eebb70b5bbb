// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/way_back.h"

#include "engine/configure/json/edit_step_json.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qs {

namespace {

constexpr std::array<std::string_view, 3> kCasts {kCastTarget, "aten._to_copy.default",
                                                  "prims.convert_element_type.default"};

ValueAddress added(const std::string& name)
{
    ValueAddress address;
    address.kind = ValueAddress::Kind::Added;
    address.name = name;
    return address;
}

} // namespace

bool isCast(const std::string& target)
{
    return std::find(kCasts.begin(), kCasts.end(), target) != kCasts.end();
}

bool hasWayBack(const std::string& target)
{
    return isQuantizeStep(target) || isCast(target);
}

Result<std::vector<EditStep>> thereAndBack(const EditStep& there, DType before,
                                           const std::vector<ReaderAddress>& readers,
                                           const std::string& backName)
{
    if (!hasWayBack(there.op))
        return fail(ErrorCode::BadInput, there.op + " has no operator that leads back");
    EditStep back;
    back.at = added(there.name);
    back.name = backName;
    back.readers = nobody();
    if (isCast(there.op)) {
        back.op = kCastTarget;
        back.json = R"({"dtype":")" + std::string(dtypeName(before)) + R"("})";
    } else {
        back.op = dequantizeTargetOf(there.op);
        back.json = there.json;
    }
    std::vector<EditStep> steps {there, back};
    steps.front().readers = nobody();
    for (const ReaderAddress& reader : readers) {
        if (reader.node.kind == ValueAddress::Kind::None)
            return fail(makeError(ErrorCode::BadInput, "the model returns the value")
                            .withHint("choose one of its other readers"));
        EditStep feed;
        feed.kind = EditKind::Rewire;
        feed.at = reader.node;
        feed.argument = reader.argument;
        feed.item = reader.item;
        feed.to = added(backName);
        steps.push_back(std::move(feed));
    }
    return steps;
}

} // namespace qs
