// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/train_text.h"

#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/text.h"

namespace qs {

namespace {

constexpr std::size_t kMostPoints = 40; ///< of the table, about

std::string guardCell(const TrainingPoint& point)
{
    return point.guardDb ? sqnrText(*point.guardDb, 2) : "-";
}

} // namespace

std::string trainText(const Training& training, const std::string& path)
{
    TextTable table({">step", ">loss", ">dB on guard", ">s", ""});
    const std::size_t every = 1 + training.points.size() / kMostPoints;
    for (std::size_t i = 0; i < training.points.size(); ++i) {
        if (i % every != 0 && i != training.best && i + 1 != training.points.size())
            continue;
        const TrainingPoint& point = training.points[i];
        table.add({std::to_string(point.step), point.step == 0 ? "-" : numberText(point.loss, 4),
                   guardCell(point), fixedText(point.seconds, 1),
                   i == training.best ? "best" : ""});
    }
    std::string text = table.text() + "\n";
    const TrainingPoint& first = training.points.front();
    const TrainingPoint& best = training.points.at(training.best);
    text += counted(training.steps, "step") + " on " + counted(training.trainedSamples, "sample")
        + "; " + training.stopped;
    if (best.guardDb && first.step == 0)
        text += "; " + guardCell(first) + " to " + guardCell(best) + " dB on "
            + counted(training.guardSamples, "guard sample");
    else if (best.guardDb)
        text += "; " + guardCell(best) + " dB on " + counted(training.guardSamples, "guard sample");
    for (const std::string& note : training.notes)
        text += "\n" + note;
    return text + "\nquantize the model with " + path + ", which holds the training\n";
}

} // namespace qs
