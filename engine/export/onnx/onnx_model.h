// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/export/onnx_opset.h"
#include "engine/graph/dtype.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace qs {

struct OnnxGraph;

/// One attribute of an ONNX node; a graph is the body of a Scan, Loop or If.
struct OnnxAttribute
{
    std::string name;
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>, std::shared_ptr<const OnnxGraph>>
        value;

    template<class T>
    OnnxAttribute(std::string n, T v)
        : name(std::move(n))
        , value(std::move(v))
    {
    }
    OnnxAttribute(std::string n, int v)
        : OnnxAttribute(std::move(n), std::int64_t(v))
    {
    }
    OnnxAttribute(std::string n, bool v)
        : OnnxAttribute(std::move(n), std::int64_t(v))
    {
    }
    OnnxAttribute(std::string n, const char* v)
        : OnnxAttribute(std::move(n), std::string(v))
    {
    }
};
using OnnxAttributes = std::vector<OnnxAttribute>;
using OnnxMetadata = std::vector<std::pair<std::string, std::string>>;

struct OnnxNode
{
    std::string name, op;
    std::vector<std::string> inputs; ///< "" for an omitted optional input
    std::vector<std::string> outputs;
    OnnxAttributes attributes;
    OnnxMetadata metadata; ///< its origin in the model
};

/// A tensor that the file holds. `data` is on the CPU and contiguous; 4-bit integers take one
/// byte each here, and half a byte in the file.
struct OnnxTensor
{
    std::string name;
    at::Tensor data;
    bool isNibbles = false;
};

/// One size of a declared shape: a number, or a name ("" if unknown).
using OnnxDim = std::variant<std::int64_t, std::string>;

/// A declared input or output.
struct OnnxValue
{
    std::string name;
    DType dtype = DType::Float32;
    std::optional<std::vector<OnnxDim>> shape; ///< empty: unknown rank
};

/// Nodes in execution order with their stored tensors. A value once built.
struct OnnxGraph
{
    std::string name;
    std::vector<OnnxNode> nodes;
    std::vector<OnnxTensor> initializers;
    std::vector<OnnxValue> inputs, outputs;
};

struct OnnxModel
{
    std::int64_t opset = kOnnxOpset;
    OnnxGraph graph;
    OnnxMetadata metadata;
};

/// ONNX's number for an element type (TensorProto.DataType); 0 if ONNX lacks it.
int onnxTypeNumber(DType dtype);

/// True for 8-bit integers, the types that integer kernels of ONNX runtimes multiply.
inline bool isByte(DType dtype)
{
    return dtype == DType::Int8 || dtype == DType::UInt8;
}

/// If the tensors have more bytes than this, they are written to a separate file: a protobuf
/// message is limited to 2 GiB.
inline constexpr std::uint64_t kOnnxInlineLimit = 1'900'000'000;

/// Path of the data file for the tensors of the model file `path`, if they are too large for it.
std::string onnxDataFile(const std::string& path);

/// Writes the model to `path`. Tensors of more than `inlineLimit` bytes together go to
/// `onnxDataFile(finalPath)`, which readers expect beside the model. Errors (Io) name the path;
/// (Unsupported) an element type that ONNX lacks.
Result<void> writeOnnxModel(const OnnxModel& model, const std::string& path,
                            const std::string& finalPath,
                            std::uint64_t inlineLimit = kOnnxInlineLimit,
                            const JobContext& job = {});

} // namespace qs
