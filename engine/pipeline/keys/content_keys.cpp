// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/keys/content_keys.h"

#include "engine/base/text.h"
#include "engine/calibrate/corrected_shapes.h"
#include "engine/configure/extension_packs.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/pipeline/keys/decision_keys.h"

namespace qs {

Key modelKey(const Graph& model)
{
    KeyBuilder key("model");
    key.add(model.info().sha256).add(model.info().edits).add(loadedPacksKey());
    key.add(correctedShapesText(model.info()));
    if (model.info().sha256.empty() || model.info().format == "torchscript")
        key.add(printGraph(model));
    return key.key();
}

Key planKey(const Graph& model, const Recipe& recipe)
{
    return KeyBuilder("plan")
        .add(modelKey(model))
        .add(planningKey(recipe))
        .add(loweringKey(recipe))
        .key();
}

Key batchesKey(const Key& content, CalibrationSettings cut, std::int64_t batches)
{
    cut.batches = int(batches);
    return KeyBuilder("batches").add(content).add(cutKey(cut)).key();
}

CalibrationSettings comparedCut(const RunSettings& settings, CalibrationSettings cut)
{
    if (!settings.comparisonData.empty())
        cut.batches = 0;
    return cut;
}

bool measuresOriginal(const RunSettings& settings, const Graph& model)
{
    return (settings.againstOriginal && !model.info().edits.empty()) || model.info().trained;
}

Key conversionKey(const Calibration& calibration, const Recipe& recipe)
{
    return KeyBuilder("conversion").add(calibration.key).add(formsKey(recipe)).key();
}

Key blameKey(const Key& comparison, const BlameOptions& options)
{
    KeyBuilder keyed("blame");
    keyed.add(comparison)
        .add(options.samples)
        .add(options.rows)
        .add(std::int64_t(options.seed))
        .add(options.exact.value_or(-1));
    for (const double weight : options.weights)
        keyed.add(numberText(weight, 17));
    return keyed.key();
}

Key diagnosisKey(const Key& comparison, const BlameOptions& options, bool eightBitsHold)
{
    return KeyBuilder("diagnosis")
        .add(blameKey(comparison, options))
        .add(std::int64_t(eightBitsHold))
        .key();
}

} // namespace qs
