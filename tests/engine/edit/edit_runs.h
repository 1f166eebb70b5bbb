// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"
#include "engine/import/importer.h"

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace qs::test {

/// The sample, or one of the models that `make_models` makes.
inline GraphPtr openModel(const std::string& name)
{
    auto file = importModel(name == "digits" ? QS_SOURCE_DIR "/resources/samples/digits.pt2"
                                             : QS_BINARY_DIR "/tests/models/" + name + ".pt2");
    if (!file)
        qFatal("%s", file.error().line().c_str());
    return *file;
}

/// Random numbers of the inputs' shapes, every open dimension of that size.
inline std::vector<at::IValue> inputsOf(const Graph& graph, std::int64_t size)
{
    std::vector<at::IValue> inputs;
    for (const Node* input : graph.inputs()) {
        std::vector<std::int64_t> shape;
        for (const Dim& dim : input->outputs[0].type.shape)
            shape.push_back(dim.isSymbolic() ? size : dim.size);
        inputs.emplace_back(at::rand(shape));
    }
    return inputs;
}

} // namespace qs::test
