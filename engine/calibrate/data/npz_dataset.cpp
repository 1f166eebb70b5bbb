// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/npz_dataset.h"

#include "engine/calibrate/data/tensor_dataset.h"
#include "engine/io/npz.h"

#include <algorithm>

namespace qs {

namespace {

TensorLayout layoutOf(const NpyHeader& header)
{
    TensorLayout layout {"", header.dtype, header.shape, header.shape, 0};
    std::int64_t step = 1;
    for (std::size_t i = 0; i < header.shape.size(); ++i) {
        const std::size_t d = header.fortranOrder ? i : header.shape.size() - 1 - i;
        layout.strides[d] = step;
        step *= std::max<std::int64_t>(header.shape[d], 1);
    }
    return layout;
}

} // namespace

Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string& path, const Graph& graph,
                                                const DatasetOptions& options)
{
    QS_TRY(const NpzDirectory directory, openNpz(path));
    std::vector<NamedTensor> tensors;
    for (const NpzPlace& place : directory.arrays)
        tensors.push_back(
            {place.name, {directory.archive, place.entry, place.start, layoutOf(place.header)}});
    return makeSampleDataset(std::move(tensors), graph, options);
}

} // namespace qs
