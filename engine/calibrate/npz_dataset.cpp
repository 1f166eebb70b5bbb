// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/npz_dataset.h"

#include "engine/calibrate/npz.h"
#include "engine/calibrate/tensor_dataset.h"
#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

namespace qs {

Result<std::unique_ptr<Dataset>> openNpzDataset(const std::string& path, const Graph& graph,
                                                const DatasetOptions& options)
{
    QS_TRY(NpzContent content, readNpz(path, rowsNeeded(graph, options)));
    std::vector<NamedTensor> tensors;
    for (std::size_t i = 0; i < content.arrays.size(); ++i) {
        // The tensor owns the bytes.
        auto owner = std::make_shared<NpyArray>(std::move(content.arrays[i]));
        const at::Tensor tensor = at::from_blob(
            owner->bytes.data(), owner->shape, [owner](void*) {},
            at::TensorOptions().dtype(toScalarType(owner->dtype)));
        tensors.push_back({owner->name, tensor, content.rows[i]});
    }
    return makeSampleDataset(std::move(tensors), graph, options);
}

} // namespace qs
