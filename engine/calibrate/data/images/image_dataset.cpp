// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/images/image_dataset.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dimension_rules.h"
#include "engine/calibrate/data/images/image_folder.h"
#include "engine/calibrate/data/images/image_source.h"
#include "engine/calibrate/data/input_data.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

namespace qs {

namespace {

using Channels = ImagePreprocess::Channels;

constexpr const char* kImageFolder = "a folder of images";

/// Facts about the model's only input.
struct ImageInput
{
    const Node* node = nullptr;
    std::int64_t channels = 3;
    std::optional<ImageSize> size; ///< if the model fixes it
};

std::optional<int> fixedSize(const Dim& dim)
{
    if (dim.isSymbolic() || dim.size < 1 || dim.size > (1 << 15))
        return std::nullopt;
    return int(dim.size);
}

Result<ImageInput> imageInput(const Graph& graph, bool channelsLast, const std::string& what)
{
    const auto inputs = graph.inputs();
    if (inputs.size() != 1)
        return fail(makeError(ErrorCode::BadInput,
                              "is " + what + ", which feeds one input; the model takes "
                                  + std::to_string(inputs.size()) + " (" + inputNames(inputs) + ")")
                        .withHint("give a .npz with one array for each input"));
    const ValueType& type = inputs[0]->outputs.at(0).type;
    const DType dtype = type.dtype == DType::Unknown ? DType::Float32 : type.dtype;
    if (type.kind != ValueKind::Tensor || (!isFloating(dtype) && dtype != DType::UInt8)
        || (type.shapeKnown && type.shape.size() != 4))
        return fail(
            makeError(ErrorCode::BadInput,
                      "is " + what + "; input '" + inputs[0]->name + "' takes no batch of images")
                .withHint("give a .npz with one array for each input"));
    ImageInput out;
    out.node = inputs[0];
    if (!type.shapeKnown)
        return out;
    const std::size_t first = channelsLast ? 1 : 2;
    const auto height = fixedSize(type.shape[first]);
    const auto width = fixedSize(type.shape[first + 1]);
    if (height && width)
        out.size = ImageSize {*height, *width};
    out.channels = fixedSize(type.shape[channelsLast ? 3 : 1]).value_or(3);
    return out;
}

/// Returns an example of the recipe's block, to copy.
std::string exampleBlock(const ImageInput& input)
{
    const ImageSize size = input.size.value_or(ImageSize {224, 224});
    const bool square = size.height == size.width;
    const std::string sides
        = "[" + std::to_string(size.height) + ", " + std::to_string(size.width) + "]";
    const std::string shape = square
        ? "\"resize\": " + std::to_string(std::lround(size.height / 0.875))
            + ", \"crop\": " + std::to_string(size.height)
        : "\"resize\": " + sides;
    const std::string values = input.channels == 1
        ? "\"mean\": 0.5, \"std\": 0.5"
        : "\"mean\": [0.485, 0.456, 0.406], \"std\": [0.229, 0.224, 0.225]";
    return "\"calibration\": {\"preprocess\": {" + shape + ", \"interpolation\": \"bilinear\", "
        + values + "}}";
}

Error needsBlock(const std::string& why, const ImageInput& input)
{
    return makeError(ErrorCode::BadInput, why)
        .withHint("say in the recipe how the model was trained, such as " + exampleBlock(input));
}

/// Model input values by pixel value, for each channel.
using ValueTable = std::vector<std::array<float, 256>>;

ValueTable valueTable(const ImagePreprocess& preprocess, std::size_t channels)
{
    const auto of = [](const std::vector<float>& values, std::size_t channel, float otherwise) {
        return values.empty() ? otherwise : values[values.size() == 1 ? 0 : channel];
    };
    ValueTable table(channels);
    for (std::size_t c = 0; c < channels; ++c)
        for (int v = 0; v < 256; ++v)
            table[c][std::size_t(v)]
                = (float(v) / 255.0f - of(preprocess.mean, c, 0.0f)) / of(preprocess.std, c, 1.0f);
    return table;
}

class ImageDataset : public Dataset
{
public:
    ImageDataset(std::shared_ptr<const ImageSource> images, ImagePreprocess preprocess,
                 const ImageInput& input, ImageSize size, std::int64_t perCall, std::int64_t calls)
        : m_images(std::move(images))
        , m_preprocess(std::move(preprocess))
        , m_input(*input.node)
        , m_size(size)
        , m_channels(input.channels)
        , m_perCall(perCall)
        , m_calls(calls)
        , m_table(valueTable(m_preprocess, std::size_t(input.channels)))
    {
    }
    std::int64_t batchCount() const override { return m_calls; }
    bool hasLabels() const override { return m_images->hasLabels(); }
    Result<std::int64_t> samplesIn(std::int64_t index) const override
    {
        return std::min(m_perCall, m_images->count() - index * m_perCall);
    }
    Result<Batch> batch(std::int64_t index) const override
    {
        const std::int64_t begin = index * m_perCall;
        Batch out;
        out.samples = std::min(m_perCall, m_images->count() - begin);
        const bool bytes = m_input.outputs[0].type.dtype == DType::UInt8;
        const at::Tensor images = batchTensor(
            {out.samples, m_channels, m_size.height, m_size.width}, bytes ? at::kByte : at::kFloat);
        std::vector<std::int64_t> labels;
        for (std::int64_t i = 0; i < out.samples; ++i) {
            QS_TRY(const Image image, prepared(begin + i));
            if (bytes)
                write(image, images[i].mutable_data_ptr<std::uint8_t>(),
                      [](std::size_t, std::uint8_t value) { return value; });
            else
                write(image, images[i].mutable_data_ptr<float>(),
                      [this](std::size_t c, std::uint8_t value) { return m_table[c][value]; });
            labels.push_back(m_images->label(begin + i));
        }
        const at::Tensor ordered
            = m_preprocess.channelsLast ? images.permute({0, 2, 3, 1}) : images;
        QS_TRY(ReadyInput ready, readyInput(ordered, m_input, "the batch of images", begin));
        out.inputs.emplace_back(std::move(ready.tensor));
        if (m_images->hasLabels())
            out.labels = at::tensor(labels, at::kLong);
        return out;
    }

private:
    // Returns the image decoded, resized, cropped and with the model's number of channels.
    Result<Image> prepared(std::int64_t number) const
    {
        QS_TRY(Image image, m_images->image(number));
        if (m_channels == 1)
            image = toGray(image);
        const ImageSize scaled = sizeAfterResize({image.height, image.width}, m_preprocess);
        image = resized(image, scaled, m_preprocess.filter);
        const ImageSize cut = sizeAfterCrop(scaled, m_preprocess);
        if (cut != scaled)
            image = centerCropped(image, cut);
        if (cut != m_size)
            return fail(m_images->placed(
                number,
                makeError(ErrorCode::BadInput,
                          "comes out " + cut.text() + ", the first image " + m_size.text())
                    .withHint("give \"crop\", or \"resize\" as [height, width]")));
        return image;
    }

    // Writes an image channel by channel to its place in the batch.
    template<class T, class Convert>
    void write(const Image& image, T* target, const Convert& convert) const
    {
        const auto channels = std::size_t(m_channels);
        const std::size_t pixels = image.pixels.size() / channels;
        const bool swapped = m_preprocess.channels == Channels::Bgr;
        for (std::size_t c = 0; c < channels; ++c) {
            const std::uint8_t* source = image.pixels.data() + (swapped ? channels - 1 - c : c);
            for (std::size_t i = 0; i < pixels; ++i)
                *target++ = convert(c, source[i * channels]);
        }
    }

    std::shared_ptr<const ImageSource> m_images;
    ImagePreprocess m_preprocess;
    Node m_input;
    ImageSize m_size;
    std::int64_t m_channels, m_perCall, m_calls;
    ValueTable m_table;
};

Result<void> checkBlock(const ImagePreprocess& preprocess, const ImageInput& input)
{
    const std::int64_t wanted = input.channels;
    const bool gray = preprocess.channels == Channels::Gray;
    const bool color = preprocess.channels == Channels::Rgb || preprocess.channels == Channels::Bgr;
    if ((wanted != 1 && wanted != 3) || (gray && wanted != 1) || (color && wanted != 3))
        return fail(ErrorCode::BadInput,
                    "input '" + input.node->name + "' takes " + counted(wanted, "channel") + ", "
                        + (gray ? "grey images have 1" : "images have 1 or 3"));
    const std::size_t most = std::max(preprocess.mean.size(), preprocess.std.size());
    if (most > 1 && std::int64_t(most) != wanted)
        return fail(makeError(ErrorCode::BadInput,
                              "the recipe's mean and std are for " + counted(most, "channel")
                                  + ", input '" + input.node->name + "' takes "
                                  + std::to_string(wanted))
                        .withHint("give one number for calibration.preprocess.mean and std"));
    if (input.node->outputs[0].type.dtype == DType::UInt8 && most > 0)
        return fail(makeError(ErrorCode::BadInput,
                              "input '" + input.node->name
                                  + "' takes whole numbers from 0 to 255, which mean and std "
                                    "would spoil")
                        .withHint("take them out of calibration.preprocess"));
    return {};
}

// Returns the settings if the recipe has none: all images must have the model's size.
Result<ImagePreprocess> withoutBlock(const ImageSource& images, const ImageInput& input)
{
    if (!input.size)
        return fail(needsBlock("is " + images.what()
                                   + " for a model of no fixed size, and the recipe has no "
                                     "preprocess block",
                               input));
    for (std::int64_t i = 0; i < images.sizesToCheck(); ++i) {
        QS_TRY(const ImageSize size, images.size(i));
        if (size != *input.size)
            return fail(images.placed(i,
                                      needsBlock("is " + size.text() + ", the model takes "
                                                     + input.size->text()
                                                     + ", and the recipe has no preprocess block",
                                                 input)));
    }
    note("the recipe has no preprocess block: pixels are only scaled to [0, 1]");
    return ImagePreprocess {};
}

class FolderImages : public ImageSource
{
public:
    explicit FolderImages(ImageFolder folder)
        : m_folder(std::move(folder))
    {
    }
    std::int64_t count() const override { return std::int64_t(m_folder.files.size()); }
    Result<Image> image(std::int64_t number) const override { return readImage(path(number)); }
    Result<ImageSize> size(std::int64_t number) const override
    {
        return readImageSize(path(number));
    }
    Error placed(std::int64_t number, Error error) const override
    {
        return std::move(error).inFile(path(number));
    }
    bool hasLabels() const override { return m_folder.hasLabels; }
    std::int64_t label(std::int64_t number) const override
    {
        return m_folder.files[std::size_t(number)].label;
    }
    std::int64_t sizesToCheck() const override { return count(); }
    std::string what() const override { return kImageFolder; }

private:
    const std::string& path(std::int64_t number) const
    {
        return m_folder.files[std::size_t(number)].path;
    }

    ImageFolder m_folder;
};

// Reduces the files to the number that the calls need, distributed over the classes.
void takePart(ImageFolder& folder, std::size_t wanted)
{
    const std::size_t all = folder.files.size();
    if (wanted >= all)
        return;
    if (folder.isByClass) {
        for (std::size_t i = 0; i < wanted; ++i)
            folder.files[i] = folder.files[i * all / wanted];
        note("of " + counted(all, "image") + " " + std::to_string(wanted)
             + " are used, spread evenly over the classes");
    }
    folder.files.resize(wanted);
}

} // namespace

Result<void> checkTakesImages(const Graph& graph, const DatasetOptions& options,
                              const std::string& what)
{
    const bool channelsLast = options.preprocess && options.preprocess->channelsLast;
    QS_CHECK(imageInput(graph, channelsLast, what));
    return {};
}

Result<std::unique_ptr<Dataset>> makeImageDataset(std::shared_ptr<const ImageSource> images,
                                                  const Graph& graph, const DatasetOptions& options)
{
    const bool channelsLast = options.preprocess && options.preprocess->channelsLast;
    QS_TRY(const ImageInput input, imageInput(graph, channelsLast, images->what()));
    const auto fixed = fixedBatch(*input.node);
    const std::int64_t perCall = fixed.value_or(options.batchSize);
    if (perCall <= 0)
        return fail(ErrorCode::BadInput, "the batch size must be 1 or more");
    const std::int64_t count = images->count();
    if (fixed && count < *fixed)
        return fail(ErrorCode::BadInput,
                    "holds " + counted(count, "image") + ", input '" + input.node->name + "' takes "
                        + std::to_string(*fixed) + " at a time");
    if (fixed && count % *fixed != 0)
        note("the model fixes the batch size to " + std::to_string(*fixed) + ": the last "
             + std::to_string(count % *fixed) + " of " + counted(count, "image") + " are not used");
    ImagePreprocess preprocess;
    if (options.preprocess) {
        preprocess = *options.preprocess;
    } else {
        QS_TRY(preprocess, withoutBlock(*images, input));
    }
    QS_CHECK(checkBlock(preprocess, input));
    QS_TRY(const ImageSize first, images->size(0));
    const ImageSize size = sizeAfterCrop(sizeAfterResize(first, preprocess), preprocess);
    std::vector<std::int64_t> shape {std::min(perCall, count), input.channels, size.height,
                                     size.width};
    if (channelsLast)
        shape = {shape[0], size.height, size.width, input.channels};
    const DType given
        = input.node->outputs[0].type.dtype == DType::UInt8 ? DType::UInt8 : DType::Float32;
    if (auto fits = checkForm({given, shape}, *input.node, "the batch of images", false); !fits)
        return fail(
            std::move(fits).error().withHint("change calibration.preprocess in the recipe"));
    const std::int64_t calls = fixed ? count / perCall : (count + perCall - 1) / perCall;
    const DimensionRules rules(graph);
    for (const std::int64_t samples : {shape[0], count - (calls - 1) * perCall}) {
        shape[0] = std::min(samples, perCall);
        QS_CHECK(rules.check({outline(shape)}, "the batch of images"));
    }
    return std::make_unique<ImageDataset>(std::move(images), std::move(preprocess), input, size,
                                          perCall, calls);
}

Result<std::unique_ptr<Dataset>> openImageDataset(const std::string& folder, const Graph& graph,
                                                  const DatasetOptions& options)
{
    QS_CHECK(checkTakesImages(graph, options, kImageFolder));
    QS_TRY(ImageFolder images, listImages(folder));
    const std::int64_t perCall = fixedBatch(*graph.inputs()[0]).value_or(options.batchSize);
    if (options.batches > 0 && perCall > 0)
        takePart(images, std::size_t(options.batches * perCall));
    return makeImageDataset(std::make_shared<FolderImages>(std::move(images)), graph, options);
}

} // namespace qs
