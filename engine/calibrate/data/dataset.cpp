// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/dataset.h"

#include "engine/base/files/read_file.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/images/image_dataset.h"
#include "engine/calibrate/data/npz_dataset.h"
#include "engine/calibrate/data/sample_dataset.h"
#include "engine/calibrate/data/shards/shard_dataset.h"
#include "engine/calibrate/data/tensor_file_dataset.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/import/file_kind.h"

#include <cmath>
#include <filesystem>
#include <fstream>

namespace qs {

namespace {

bool endsWith(const std::string& text, const std::string& ending)
{
    return text.size() >= ending.size()
        && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

constexpr const char* kKindsOfData
    = "give a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'";

/// Fails for a known file format that does not hold calibration data. Unknown files pass.
Result<void> checkKind(const std::string& source, const Graph& graph)
{
    const auto sniff = sniffFile(source);
    if (!sniff || !sniff->isNamed)
        return {};
    const auto inputs = graph.inputs();
    const std::string first = inputs.empty() ? "x" : inputs.front()->name;
    const bool isArray = sniff->what.starts_with("a NumPy array");
    return fail(makeError(ErrorCode::BadInput,
                          isArray ? "is a single NumPy array (.npy)"
                                  : "is not a data file but " + sniff->what)
                    .withHint(isArray
                                  ? "save it with a name for each input: numpy.savez(\"data.npz\", "
                                      + first + "=array)"
                                  : sniff->isWrapping ? sniff->way
                                                      : kKindsOfData));
}

Result<std::unique_ptr<Dataset>> openFile(const std::string& source, const Graph& graph,
                                          const DatasetOptions& options)
{
    if (isShards(source))
        return openShardDataset(source, graph, options);
    std::error_code error;
    const auto status = std::filesystem::status(source, error);
    if (!std::filesystem::exists(status))
        return fail(makeError(ErrorCode::NotFound, "no such data file").withHint(kKindsOfData));
    if (std::filesystem::is_directory(status))
        return openImageDataset(source, graph, options);
    QS_CHECK(checkReadable(source));
    if (std::filesystem::file_size(source, error) == 0 || error)
        return fail(ErrorCode::BadInput, error ? "cannot be read" : "is empty or cannot be read");
    QS_CHECK(checkKind(source, graph));
    if (endsWith(source, ".npz"))
        return openNpzDataset(source, graph, options);
    if (endsWith(source, ".pt") || endsWith(source, ".pth"))
        return openTensorFileDataset(source, graph, options);
    return fail(
        makeError(ErrorCode::BadInput, "is not a supported data file").withHint(kKindsOfData));
}

/// Fails if the model takes an object: no data format can contain one, since torch.save omits its
/// class.
Result<void> checkTakesNoObject(const Graph& graph)
{
    for (const Node* input : graph.inputs()) {
        const ValueType& type = input->outputs.at(0).type;
        if (type.kind == ValueKind::Custom)
            return fail(makeError(ErrorCode::Unsupported,
                                  "input '" + input->name + "' is an object of class "
                                      + plainClassName(type.className)
                                      + ", data hold tensors and numbers only")
                            .inFile(graph.info().path)
                            .withHint("export a module that takes the object's fields and builds "
                                      "the object itself"));
    }
    return {};
}

/// Number of guard batches among the first `count`. A share such as 0.1 is not exact.
std::int64_t guardsAmong(std::int64_t count, double share)
{
    return std::int64_t(std::floor(double(count) * share + 1e-9));
}

} // namespace

bool isGuardBatch(std::int64_t number, double share)
{
    return guardsAmong(number + 1, share) > guardsAmong(number, share);
}

std::int64_t batchesForGuard(double share)
{
    return std::int64_t(std::ceil(1 / share - 1e-9));
}

DatasetOptions datasetOptions(const CalibrationSettings& settings)
{
    return {settings.batchSize, settings.batches, settings.isSequence, settings.preprocess};
}

DatasetOptions wholeDatasetOptions(const CalibrationSettings& settings)
{
    DatasetOptions options = datasetOptions(settings);
    options.batches = 0;
    return options;
}

Result<std::int64_t> Dataset::samplesIn(std::int64_t index) const
{
    QS_TRY(const Batch read, batch(index));
    return read.samples;
}

Result<std::unique_ptr<Dataset>> openDataset(const std::string& source, const Graph& graph,
                                             const DatasetOptions& options)
{
    QS_CHECK(checkTakesNoObject(graph));
    const bool sample = source == "sample";
    auto opened = guardTorchValue<std::unique_ptr<Dataset>>([&] {
        return sample ? openSampleDataset(graph, options) : openFile(source, graph, options);
    });
    if (!opened)
        return fail(std::move(opened).error().inFile(sample ? graph.info().path : source));
    (*opened)->setSequence(options.isSequence);
    return opened;
}

} // namespace qs
