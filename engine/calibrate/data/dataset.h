// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/calibrate/data/guard_share.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The inputs of one model call, in the order of Graph::inputs(), and the labels of its samples if
/// the data have labels.
struct Batch
{
    std::vector<at::IValue> inputs;
    at::Tensor labels; ///< int64 [samples] or undefined
    std::int64_t samples = 0;
    /// By input; may be shorter: the error for floating-point data with NaN or Inf (array, index,
    /// file). Inputs that a plan observes must be finite (`checkObservedInputs`); others, such as a
    /// mask of -Inf, need not.
    std::vector<std::optional<Error>> notFinite {};
};

/// Calibration or test data, divided into batches for one model. Reads batches on demand; may be
/// read several times.
class Dataset
{
public:
    virtual ~Dataset() = default;
    /// Number of batches after applying the recipe's limit.
    virtual std::int64_t batchCount() const = 0;
    /// Returns batch `index`, with tensors on the CPU. Errors name the file.
    virtual Result<Batch> batch(std::int64_t index) const = 0;
    /// Returns the number of samples of batch `index`; without reading it where all but the last
    /// batch are equal.
    virtual Result<std::int64_t> samplesIn(std::int64_t index) const;
    virtual bool hasLabels() const = 0;
    /// True if the batches are consecutive in time: each call starts from the buffers that the
    /// previous call left. Else each call starts from the saved state.
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
    std::optional<ImagePreprocess> preprocess {}; ///< for images
};

/// End of the note for data that exceed `batches`.
inline constexpr const char* kTakeAll
    = "; \"calibration\": {\"batches\": 0} in the recipe takes all";

/// Returns the data options of a recipe.
DatasetOptions datasetOptions(const CalibrationSettings& settings);
/// Returns the options for comparisons, which use all data.
DatasetOptions wholeDatasetOptions(const CalibrationSettings& settings);

/// Opens `source`: a `.npz`, a `.pt` of torch.save (tensors, numbers, tuples, lists and
/// dictionaries only; nothing is executed), a folder of images, tar archives of samples
/// (`openShardDataset`), or "sample" = the example inputs stored in the model's own file. Checks
/// names, number of inputs, ranks, dimensions and dtypes against the graph; errors name the array,
/// the expected and the actual property. Reads data batch by batch; `Batch::notFinite` then reports
/// NaN or Inf in floating-point data. An input with a fixed first dimension fixes the batch size;
/// an incomplete tail is then dropped with a note. Fails with Unsupported if an input is an object
/// of a class, which data cannot contain.
Result<std::unique_ptr<Dataset>> openDataset(const std::string& source, const Graph& graph,
                                             const DatasetOptions& options);

} // namespace qs
