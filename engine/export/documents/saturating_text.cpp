// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/saturating_text.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/result_document.h"

namespace qs {

namespace {

/// Joins names with commas and "and", for example "model.int8.onnx and model.int8.pt2".
std::string joined(const std::vector<std::string>& names)
{
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

} // namespace

std::vector<std::string> saturatingLines(const SaturatingErrors& errors)
{
    std::vector<std::string> lines;
    for (const OutputError& output : errors.outputs) {
        if (!output.cumulative || !output.cumulative->sqnrDb)
            continue;
        const double db = *output.cumulative->sqnrDb;
        lines.push_back("output " + output.name + ": " + sqnrText(db, 2, " dB") + " in "
                        + joined(errors.files) + ", which clamp " + counted(errors.values, "value")
                        + " to their observers' ranges; the reference form clamps to the ranges "
                          "of the integer types");
    }
    return lines;
}

} // namespace qs
