// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/traced_sizes.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

Error withTracedSizes(Error error, const Graph& graph, const std::vector<at::IValue>& given)
{
    const bool ofSizes = error.message.find("size") != std::string::npos
        || error.message.find("Size") != std::string::npos
        || error.message.find("shape") != std::string::npos;
    if (graph.info().format != "torchscript" || !ofSizes || !error.hint.empty())
        return error;
    const auto nodes = graph.inputs();
    for (std::size_t i = 0; i < std::min(given.size(), nodes.size()); ++i) {
        const Node& input = *nodes[i];
        if (!given[i].isTensor() || input.outputs.empty() || !input.outputs[0].type.shapeKnown)
            continue;
        std::vector<std::int64_t> traced;
        for (const Dim& dim : input.outputs[0].type.shape)
            traced.push_back(dim.size);
        const auto sizes = given[i].toTensor().sizes();
        if (traced.empty() || sizes.empty() || sizes == at::IntArrayRef(traced))
            continue;
        const bool samples = sizes.slice(1) == at::IntArrayRef(traced).slice(1);
        return std::move(error)
            .inFile(graph.info().path)
            .withHint("the model was traced with '" + input.name + "' of size "
                      + c10::str(at::IntArrayRef(traced)) + ", here it is " + c10::str(sizes)
                      + ", and such a file may hold sizes as numbers: "
                      + (samples ? "set calibration.batch_size to " + std::to_string(traced[0])
                                 : std::string("give data of that size"))
                      + ", or trace it anew without them");
    }
    return error;
}

} // namespace qs
