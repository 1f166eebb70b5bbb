// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include <QHash>

namespace qs {

namespace {

struct NamedPlace
{
    const char* widget;
    const char* place;
};

/// The help place of each widget, by object name.
constexpr NamedPlace kPlaces[] = {
    {"stageBackend", "backend"},
    {"stagePlan", "plan"},
    {"stageTrain", "training"},
    {"stageCalibrate", "calibration"},
    {"stageConvert", "lowering"},
    {"stageCompare", "comparison-and-error-terms"},
    {"stageExport", "export"},
    {"search", "search"},
    {"searchPanel", "search"},
    {"moduleTree", "modules-folding-and-bodies"},
    {"graphPane", "modules-folding-and-bodies"},
    {"verdictList", "verdict"},
    {"cardQuantization", "qconfig"},
    {"scopeBox", "assigning-to-many"},
    {"cardWhy", "rule"},
    {"cardLoss", "comparison-and-error-terms"},
    {"cardInside", "inside-a-recurrent-module"},
    {"cardContents", "modules-folding-and-bodies"},
    {"cardEdge", "recipe-keys#mappingedge"},
    {"cardEdges", "recipe-keys#mappingedge"},
    {"cardAlternatives", "observer"},
    {"histogramPlot", "histogram"},
    {"errorBarPlot", "comparison-and-error-terms"},
    {"convergencePlot", "convergence"},
    {"channelPlot", "channels"},
    {"codePanel", "prepared-reference-and-lowered-form"},
    {"valuesPage", "values-of-a-node"},
    {"curePage", "causes#the-cure-page"},
    {"sensitivityPage", "causes#the-sensitivity-page"},
    {"samplesPage", "samples#the-samples-page"},
    {"findingsPanel", "findings"},
    {"formsPanel", "kernel-check"},
    {"editsPanel", "recipe-keys#edits0"},
    {"runsPanel", "runs"},
    {"stylePanel", "style-rules"},
    {"colourBy", "colours-of-the-graph"},
    {"cardValues", "stored-values"},
    {"recipePanel", "recipe"},
    {"recipeHistory", "undo-and-history"},
    {"emptyState", "first-model"},
    {"pythonPages", "coming-from-torch-ao"},
    // Dialogs.
    {"calibrateDialog", "calibration"},
    {"trainDialog", "training"},
    {"exportDialog", "exports"},
    {"qconfigDialog", "recipe-keys#qconfigsname"},
    {"verifyDialog", "verifying"},
    {"metricDialog", "results#your-metric"},
    {"replacementsDialog", "pattern-and-fusion"},
    {"packsDialog", "extensions"},
    {"editDialog", "recipe-keys#edits0"},
    {"loweringDialog", "lowering-rows"},
    {"loweringPattern", "lowering-rows#convertloweringadd0pattern"},
    {"loweringKernel", "lowering-rows#convertloweringadd0to"},
    {"backendDialog", "backend-file"},
    {"backendName", "backend-file#name"},
    {"backendPurpose", "backend-file#description"},
    {"backendEntries", "backend-file#patterns"},
    {"entryForm", "backend-file#patterns0"},
    {"entryPattern", "backend-file#patterns0pattern"},
    {"entryObservation", "backend-file#patterns0observation_type"},
    {"entryFuser", "backend-file#patterns0fuser_method"},
    {"entryKernels", "lowering-rows"},
    {"entryLowering", "lowering-rows"},
    {"entryFused", "backend-file#patterns0fused_module"},
    {"entryRoot", "backend-file#patterns0root_module"},
    {"entryReference", "backend-file#patterns0reference_quantized_module"},
    {"entryQat", "backend-file#patterns0qat_module"},
    {"dtypeConfigs", "backend-file#patterns0dtype_configs0"},
    {"dtypeDynamic", "backend-file#patterns0dtype_configs0is_dynamic"},
    {"dtypeBias", "backend-file#patterns0dtype_configs0bias_dtype"},
    {"dtypeInput", "backend-file#patterns0dtype_configs0input_dtype"},
    {"dtypeOutput", "backend-file#patterns0dtype_configs0output_dtype"},
    {"dtypeWeight", "backend-file#patterns0dtype_configs0weight_dtype"},
};

/// The help places of rows of fields, by the start of their names: "quantMinInput",
/// "quantMinOutput", ...
constexpr NamedPlace kRows[] = {
    {"quantMin", "quant_min_lower_bound"}, {"quantMax", "quant_max_upper_bound"},
    {"scaleMin", "scale_min_lower_bound"}, {"scaleMax", "scale_max_upper_bound"},
    {"scaleExact", "scale_exact_match"},   {"zeroPoint", "zero_point_exact_match"},
};

} // namespace

QString helpPlaceOfName(const QString& objectName)
{
    static const QHash<QString, QString> places = [] {
        QHash<QString, QString> out;
        for (const auto& [widget, place] : kPlaces)
            out.insert(QString::fromLatin1(widget), QString::fromLatin1(place));
        for (const auto& [row, key] : kRows)
            for (const char* role : {"Input", "Output", "Weight"})
                out.insert(QString::fromLatin1(row) + QString::fromLatin1(role),
                           QStringLiteral("backend-file#patterns0dtype_configs0input_dtype%1")
                               .arg(QString::fromLatin1(key)));
        return out;
    }();
    return objectName.isEmpty() ? QString() : places.value(objectName);
}

} // namespace qs
