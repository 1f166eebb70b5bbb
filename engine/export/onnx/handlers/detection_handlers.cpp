// SPDX-License-Identifier: Apache-2.0
// torchvision's operators for detectors, available if its library is loaded as a pack.
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// Non-maximum suppression. ONNX has the axes of the corners exchanged, which does not change the
/// overlaps.
void suppress(OnnxCall& c)
{
    const std::string boxes = c.unsqueeze(c.in("dets", DType::Float32), {0});
    const std::string scores = c.unsqueeze(c.in("scores", DType::Float32), {0, 1});
    const std::string chosen
        = c.emit("NonMaxSuppression",
                 {boxes, scores, c.ints({std::numeric_limits<std::int64_t>::max()}),
                  c.constant(at::tensor({float(c.number("iou_threshold", 0))}), "threshold")});
    c.give(c.squeeze(c.slice(chosen, 1, 2, 3), {1}));
}

void alignRegions(OnnxCall& c)
{
    if (c.opset() < 16)
        c.refuse("it needs operator set 16");
    const std::string rows = c.in("rois", DType::Float32);
    const std::string image = c.squeeze(c.cast(c.slice(rows, 1, 0, 1), DType::Int64), {1});
    c.give(c.emit("RoiAlign", {c.in("input"), c.slice(rows, 1, 1, 5), image},
                  {{"output_height", c.integer("pooled_height", 1)},
                   {"output_width", c.integer("pooled_width", 1)},
                   {"sampling_ratio", std::max<std::int64_t>(c.integer("sampling_ratio", 0), 0)},
                   {"spatial_scale", c.number("spatial_scale", 1)},
                   {"coordinate_transformation_mode",
                    c.flag("aligned", false) ? "half_pixel" : "output_half_pixel"}}));
}

} // namespace

void addDetectionHandlers(OnnxHandlers& table)
{
    table["torchvision.nms.default"] = suppress;
    table["torchvision.roi_align.default"] = alignRegions;
}

} // namespace qs
