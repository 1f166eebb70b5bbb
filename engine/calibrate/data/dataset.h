// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One call's worth of model inputs, in the order of Graph::inputs(), and the labels of its samples
/// where the data has any.
struct Batch
{
    std::vector<at::IValue> inputs;
    at::Tensor labels; ///< int64 [samples] or undefined
    std::int64_t samples = 0;
    /// By input, as far as any is: floating data that hold NaN or Inf (array, index, file). Inputs
    /// that a plan observes must not (`checkObservedInputs`); others, a mask of -Inf say, may.
    std::vector<std::optional<Error>> notFinite {};
};

/// Calibration or test data, cut into batches for one model. Reads as it goes; may be read several
/// times.
class Dataset
{
public:
    virtual ~Dataset() = default;
    /// Batches in all, the recipe's limit applied.
    virtual std::int64_t batchCount() const = 0;
    /// Batch `index`; tensors on the CPU. Errors name the file.
    virtual Result<Batch> batch(std::int64_t index) const = 0;
    virtual bool hasLabels() const = 0;
    /// The batches follow each other in time: each call starts from the model's buffers as the call
    /// before left them. Else each call starts from the saved state.
    bool isSequence() const { return m_isSequence; }
    void setSequence(bool isSequence) { m_isSequence = isSequence; }

private:
    bool m_isSequence = false;
};

struct DatasetOptions
{
    int batchSize = 8;
    std::int64_t batches = 16; ///< at most this many; 0 = all
    bool isSequence = false; ///< `Dataset::isSequence`
    std::optional<ImagePreprocess> preprocess {}; ///< for a folder of images
};

/// Ends the note of data that are more than `batches` lets in.
inline constexpr const char* kTakeAll
    = "; \"calibration\": {\"batches\": 0} in the recipe takes all";

/// The recipe's options for the data.
DatasetOptions datasetOptions(const CalibrationSettings& settings);
/// The same for comparing, which goes through all the data.
DatasetOptions wholeDatasetOptions(const CalibrationSettings& settings);

/// Opens `source`: a `.npz`, a `.pt` of torch.save (tensors, numbers, tuples, lists and
/// dictionaries only; nothing is executed), a folder of images, or "sample" = the example inputs
/// stored in the model's own file. Checks names, number of inputs, ranks, dimensions and dtypes
/// against the graph; errors name the array, what was wanted and given. Data are read batch by
/// batch, however long the file is; `Batch::notFinite` then says where floating data hold NaN or
/// Inf. An input with a fixed first dimension fixes the batch size; an incomplete tail is then
/// dropped with a note. Unsupported if an input is an object of a class: data cannot hold one.
Result<std::unique_ptr<Dataset>> openDataset(const std::string& source, const Graph& graph,
                                             const DatasetOptions& options);

} // namespace qs
