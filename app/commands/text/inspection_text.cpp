// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/inspection_text.h"

#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/graph/source_frames.h"
#include "engine/graph/text/node_titles.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::size_t kListed = 16; ///< number of listed channels, worst first

/// Formats a number with four significant digits; `--json` has all digits.
std::string shortText(double value)
{
    return numberText(value, 4);
}

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text;
    for (const std::int64_t size : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

std::string outlierText(const ChannelError& channel)
{
    if (channel.isWide && channel.isNoisy)
        return "wide, noisy";
    return channel.isWide ? "wide" : channel.isNoisy ? "noisy" : "";
}

std::string shareText(const ChannelError& channel, double all)
{
    return all > 0 && std::isfinite(channel.noise) ? fixedText(100 * channel.noise / all, 2) + " %"
                                                   : "-";
}

/// Returns "channel 3 (wide), channel 7 (noisy)"; empty without outliers.
std::string outliersText(const std::vector<ChannelError>& channels)
{
    std::vector<std::string> named;
    for (const std::size_t i : worstChannels(channels))
        if (const std::string word = outlierText(channels[i]); !word.empty())
            named.push_back(std::to_string(channels[i].channel) + " (" + word + ")");
    if (named.empty())
        return "outlier channels: none\n";
    const std::size_t count = named.size();
    named.resize(std::min(count, kListed));
    return "outlier channels: " + joined(named)
        + (count > named.size() ? " and " + std::to_string(count - named.size()) + " more" : "")
        + "\n";
}

std::string channelsText(const std::vector<ChannelError>& channels, bool ofWeight)
{
    double noise = 0;
    for (const ChannelError& channel : channels)
        noise += channel.noise;
    std::vector<std::string> titles {">channel",   ">SQNR dB", ">of the noise", ">MSE",
                                     ">max error", ">min",     ">max",          "outlier"};
    if (ofWeight)
        titles.insert(titles.begin() + 7, ">scale");
    TextTable table(titles);
    const auto order = worstChannels(channels);
    for (std::size_t i = 0; i < std::min(order.size(), kListed); ++i) {
        const ChannelError& one = channels[order[i]];
        std::vector<std::string> cells {std::to_string(one.channel), sqnrCell(one.sqnrDb),
                                        shareText(one, noise),       shortText(one.mse),
                                        shortText(one.maxAbs),       shortText(one.low),
                                        shortText(one.high),         outlierText(one)};
        if (ofWeight)
            cells.insert(cells.begin() + 7, one.scale > 0 ? shortText(one.scale) : "-");
        table.add(std::move(cells));
    }
    std::string text = table.text();
    if (order.size() > kListed)
        text += "and " + counted(std::int64_t(order.size() - kListed), "channel")
            + " that lose less\n";
    return text + outliersText(channels);
}

std::string samplesText(const InspectionParts& parts)
{
    const ValueInspection& inspection = *parts.inspection;
    if (inspection.samples.empty())
        return "no separate samples: the value's first dimension is not the "
               "samples\n";
    TextTable table({">sample", ">SQNR dB", ">max error"});
    for (const std::int64_t i : worstSamples(inspection, parts.worst)) {
        const SampleError& sample = inspection.samples[std::size_t(i)];
        table.add({std::to_string(i), sqnrCell(sample.sqnrDb), shortText(sample.maxAbs)});
    }
    return table.empty()
        ? std::string()
        : "worst samples of " + std::to_string(inspection.sampleCount) + "\n" + table.text();
}

/// Returns "output logits", or the node's name as in tables.
std::string namedText(const InspectionParts& parts)
{
    const ValueInspection& inspection = *parts.inspection;
    const Node* node = inspection.target.output ? nullptr : parts.model->tryFind(inspection.name);
    return node ? nodeTitle(*parts.model, node->id) : "output " + inspection.name;
}

std::string sourceText(const InspectionParts& parts)
{
    const Node* node
        = parts.inspection->target.output ? nullptr : parts.model->tryFind(parts.inspection->name);
    if (!node || node->source.file.empty())
        return {};
    const SourceLocation& at = node->source;
    std::string text = "from " + at.file + ":" + std::to_string(at.line)
        + (at.function.empty() ? "" : ", in " + innermostFunction(at)) + "\n";
    if (!parts.source)
        return text + (at.code.empty() ? "" : "  " + at.code + "\n")
            + "  (the file is not on this machine; give its folder with --sources FOLDER)\n";
    const SourceExcerpt& source = *parts.source;
    if (source.path != at.file)
        text += "found at " + source.path + "\n";
    if (!source.isSame)
        text += "the file was changed since; the line was: " + at.code + "\n";
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
        const int number = source.firstLine + int(i);
        text += (number == source.line ? "> " : "  ") + std::to_string(number) + "  "
            + source.lines[i] + "\n";
    }
    return text;
}

std::string rangeText(const std::vector<float>& values)
{
    if (values.empty())
        return "nothing";
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return shortText(*least) + " to " + shortText(*most);
}

std::string sampleText(const InspectionParts& parts)
{
    const SampleValues* values = parts.sample;
    if (!values)
        return {};
    std::string text = "sample " + std::to_string(values->sample) + ": float32"
        + shapeText(values->shape) + (values->ofBatch ? ", of its whole batch" : "") + ", float "
        + rangeText(values->floating) + ", converted " + rangeText(values->converted);
    const auto& samples = parts.inspection->samples;
    if (std::size_t(values->sample) < samples.size())
        text += ", " + sqnrCell(samples[std::size_t(values->sample)].sqnrDb) + " dB";
    return text + "\n";
}

std::string errorText(const ValueInspection& inspection)
{
    if (!inspection.error)
        return "nothing was measured\n";
    return "SQNR " + sqnrCell(inspection.error->sqnrDb) + " dB, cosine "
        + fixedText(inspection.error->cosine, 6) + ", MSE " + shortText(inspection.error->mse)
        + ", largest error " + shortText(inspection.error->maxAbs)
        + (inspection.kl ? ", KL divergence " + shortText(*inspection.kl) + " nats" : "")
        + ", over " + counted(inspection.sampleCount, "sample") + "\n";
}

} // namespace

std::string inspectionText(const InspectionParts& parts)
{
    const ValueInspection& inspection = *parts.inspection;
    const std::string against
        = parts.againstOriginal ? "the original model before its edits\n" : "float\n";
    std::string text = namedText(parts)
        + (inspection.target.output   ? ": reference form against " + against
               : inspection.quantized ? ": quantized, reference form against " + against
               : parts.againstOriginal
               ? ": float, on the converted model's values, against " + against
               : std::string(": float, on the converted model's values\n"));
    text += sourceText(parts) + errorText(inspection);
    for (std::size_t i = 0; i < inspection.results.size(); ++i) {
        const ResultInspection& result = inspection.results[i];
        std::vector<ChannelError> channels;
        for (const ChannelError& channel : inspection.channels)
            if (channel.result == i)
                channels.push_back(channel);
        text += "\n" + result.name + " float32" + shapeText(result.shape)
            + (result.channelAxis < 0
                   ? std::string(", one channel\n")
                   : ", channels along axis " + std::to_string(result.channelAxis) + "\n")
            + channelsText(channels, false);
    }
    text += "\n" + samplesText(parts) + sampleText(parts);
    for (const WeightInspection& weight : inspection.weights)
        text += "\nweight " + weight.name + " " + weight.dtype + shapeText(weight.shape)
            + ", channels along axis " + std::to_string(weight.channelAxis) + ": "
            + sqnrCell(weight.error.sqnrDb) + " dB\n" + channelsText(weight.channels, true);
    return text;
}

} // namespace qs
