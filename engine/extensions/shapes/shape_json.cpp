// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/shapes/shape_json.h"

#include "engine/configure/qconfigs/observer_json.h"
#include "engine/extensions/argument_json.h"

namespace qs {

namespace {

constexpr const char* kShapes
    = "an argument's name, a list of dimensions, or {\"operator\": \"mypack::shape\"}";
constexpr const char* kDimensions
    = "a number, {\"argument\": \"x\", \"dimension\": 0} of a tensor, or {\"argument\": \"size\"}";

Result<PackDim> readDim(const JsonPlace& place)
{
    PackDim dim;
    if (place.value().is_number_integer()) {
        QS_TRY(dim.size, place.integer());
        if (dim.size < 0)
            return place.error("a dimension is not negative");
        return dim;
    }
    if (!place.has("argument"))
        return place.error("this is not a dimension", kDimensions);
    QS_CHECK(place.object({"argument", "dimension"}));
    QS_TRY(dim.argument, place.key("argument").string());
    if (place.has("dimension")) {
        QS_TRY(dim.dimension, place.key("dimension").integer());
    }
    return dim;
}

Result<void> readShape(const JsonPlace& place, PackResult& result)
{
    if (place.value().is_string()) {
        QS_TRY(result.like, place.string());
        return {};
    }
    if (place.value().is_array()) {
        QS_TRY(result.dims, readList(place, readDim));
        return {};
    }
    if (!place.has("operator"))
        return place.error("this is not a shape", kShapes);
    QS_CHECK(place.object({"operator"}));
    QS_TRY(result.sizes, place.key("operator").string());
    QS_CHECK(readPackTarget(place.key("operator"), result.sizes));
    return {};
}

Result<PackResult> readResult(const JsonPlace& place)
{
    QS_CHECK(place.object({"shape", "dtype"}));
    if (!place.has("shape"))
        return place.error("the key 'shape' is missing", kShapes);
    PackResult result;
    QS_CHECK(readShape(place.key("shape"), result));
    if (place.has("dtype")) {
        QS_TRY(result.dtype, readDType(place.key("dtype")));
        if (isQuantized(result.dtype))
            return place.key("dtype").error("an operator of the float model gives no quantized "
                                            "tensor");
    }
    return result;
}

} // namespace

Result<PackShapes> readResults(const JsonPlace& place, const std::string& op)
{
    PackShapes shapes {op, {}};
    QS_TRY(shapes.results, readList(place, readResult));
    if (shapes.results.empty())
        return place.error("expected one entry for each result");
    return shapes;
}

} // namespace qs
