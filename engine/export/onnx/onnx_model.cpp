// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_model.h"

#include "engine/execute/torch_types.h"
#include "engine/export/exporter.h"
#include "engine/export/file_sink.h"

#include <ATen/ATen.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

namespace qs {

namespace {

/// Field numbers of onnx.proto, as far as they are written.
namespace field {
namespace model {
enum : protozero::pbf_tag_type
{
    IrVersion = 1,
    ProducerName = 2,
    Graph = 7,
    OpsetImport = 8,
    MetadataProps = 14
};
} // namespace model
namespace graph {
enum : protozero::pbf_tag_type
{
    Node = 1,
    Name = 2,
    Initializer = 5,
    Input = 11,
    Output = 12
};
} // namespace graph
namespace node {
enum : protozero::pbf_tag_type
{
    Input = 1,
    Output = 2,
    Name = 3,
    OpType = 4,
    Attribute = 5,
    MetadataProps = 9
};
} // namespace node
namespace attribute {
enum : protozero::pbf_tag_type
{
    Name = 1,
    Float = 2,
    Int = 3,
    String = 4,
    Graph = 6,
    Floats = 7,
    Ints = 8,
    Strings = 9,
    Type = 20
};
} // namespace attribute
namespace tensor {
enum : protozero::pbf_tag_type
{
    Dims = 1,
    DataType = 2,
    Name = 8,
    RawData = 9,
    ExternalData = 13,
    DataLocation = 14
};
} // namespace tensor
} // namespace field

constexpr std::int64_t kNodeMetadataIr = 10; ///< the first version whose nodes carry metadata
/// Alignment of external data in bytes, so that readers can map them into memory.
constexpr std::uint64_t kAlignment = 4096;
/// Tensors of fewer bytes always stay in the model, because readers need shapes and axes while
/// loading.
constexpr std::uint64_t kSmall = 1024;

/// The IR version that was released with an operator set.
std::int64_t irVersion(std::int64_t opset)
{
    return opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : 11;
}

/// A piece of the output file: text, or a tensor's bytes.
struct Piece
{
    std::string text;
    at::Tensor tensor;
    std::uint64_t size() const { return text.size() + (tensor.defined() ? tensor.nbytes() : 0); }
};

/// Key and length of a length-delimited field.
std::string fieldHead(protozero::pbf_tag_type tag, std::uint64_t size)
{
    std::string head;
    const auto out = std::back_inserter(head);
    protozero::write_varint(out,
                            (std::uint64_t(tag) << 3U)
                                | std::uint64_t(protozero::pbf_wire_type::length_delimited));
    protozero::write_varint(out, size);
    return head;
}

template<class Tag>
void addPairs(protozero::pbf_writer& out, Tag tag, const OnnxMetadata& pairs)
{
    for (const auto& [key, value] : pairs) {
        protozero::pbf_writer entry(out, tag);
        entry.add_string(1, key);
        entry.add_string(2, value);
    }
}

/// The file for the tensors of a model that is too large for one file.
class DataFile
{
public:
    static Result<DataFile> open(const std::string& path, const std::string& name)
    {
        QS_TRY(FileSink sink, FileSink::open(path));
        return DataFile(std::move(sink), name);
    }

    /// Writes a tensor; returns its external-data entry.
    OnnxMetadata add(const at::Tensor& tensor)
    {
        const std::uint64_t gap = (kAlignment - m_at % kAlignment) % kAlignment;
        const std::string zeros(gap, '\0');
        const auto write = m_sink.writer();
        write(zeros.data(), zeros.size());
        write(tensor.const_data_ptr(), tensor.nbytes());
        OnnxMetadata entry {{"location", m_name},
                            {"offset", std::to_string(m_at + gap)},
                            {"length", std::to_string(tensor.nbytes())}};
        m_at += gap + tensor.nbytes();
        return entry;
    }

    Result<void> close() { return m_sink.close(); }

private:
    DataFile(FileSink sink, std::string name)
        : m_sink(std::move(sink))
        , m_name(std::move(name))
    {
    }

    FileSink m_sink;
    std::string m_name;
    std::uint64_t m_at = 0;
};

/// TensorProto.DataType of a stored tensor; INT4 and UINT4 have no counterpart in PyTorch.
int typeNumber(const OnnxTensor& tensor)
{
    if (tensor.isNibbles)
        return tensor.data.scalar_type() == at::kByte ? 21 : 22;
    return onnxTypeNumber(fromScalarType(tensor.data.scalar_type()));
}

/// Packs two 4-bit integers into each byte, the first in the lower half.
at::Tensor packed(const at::Tensor& integers)
{
    at::Tensor flat = integers.flatten().to(at::kByte).bitwise_and(15);
    if (flat.numel() % 2)
        flat = at::cat({flat, at::zeros({1}, at::kByte)});
    const at::Tensor pairs = flat.view({-1, 2});
    return pairs.select(1, 0).bitwise_or(pairs.select(1, 1).mul(16)).contiguous();
}

class Encoder
{
public:
    explicit Encoder(std::int64_t ir, DataFile* data)
        : m_ir(ir)
        , m_data(data)
    {
    }

    Result<std::vector<Piece>> graph(const OnnxGraph& graph, const JobContext& job = {})
    {
        std::vector<Piece> pieces(1);
        protozero::pbf_writer out(pieces[0].text);
        for (const OnnxNode& node : graph.nodes) {
            QS_CHECK(job.check());
            protozero::pbf_writer entry(out, field::graph::Node);
            QS_CHECK(addNode(entry, node));
        }
        out.add_string(field::graph::Name, graph.name);
        for (const OnnxValue& value : graph.inputs)
            QS_CHECK(addValue(out, field::graph::Input, value));
        for (const OnnxValue& value : graph.outputs)
            QS_CHECK(addValue(out, field::graph::Output, value));
        for (const OnnxTensor& tensor : graph.initializers) {
            QS_CHECK(job.check());
            QS_CHECK(addTensor(pieces, tensor));
        }
        return pieces;
    }

private:
    Result<void> addNode(protozero::pbf_writer& out, const OnnxNode& node)
    {
        for (const std::string& input : node.inputs)
            out.add_string(field::node::Input, input);
        for (const std::string& output : node.outputs)
            out.add_string(field::node::Output, output);
        out.add_string(field::node::Name, node.name);
        out.add_string(field::node::OpType, node.op);
        for (const OnnxAttribute& attribute : node.attributes) {
            protozero::pbf_writer entry(out, field::node::Attribute);
            QS_CHECK(addAttribute(entry, attribute));
        }
        if (m_ir >= kNodeMetadataIr)
            addPairs(out, field::node::MetadataProps, node.metadata);
        return {};
    }

    Result<void> addAttribute(protozero::pbf_writer& out, const OnnxAttribute& attribute)
    {
        // The numbers of AttributeProto.AttributeType, in the order of the variant.
        constexpr std::array<std::int32_t, 7> kTypes {2, 1, 3, 7, 6, 8, 5};
        out.add_string(field::attribute::Name, attribute.name);
        out.add_enum(field::attribute::Type, kTypes.at(attribute.value.index()));
        if (const auto* i = std::get_if<std::int64_t>(&attribute.value))
            out.add_int64(field::attribute::Int, *i);
        else if (const auto* f = std::get_if<double>(&attribute.value))
            out.add_float(field::attribute::Float, float(*f));
        else if (const auto* s = std::get_if<std::string>(&attribute.value))
            out.add_string(field::attribute::String, *s);
        else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value))
            for (const std::int64_t one : *ints)
                out.add_int64(field::attribute::Ints, one);
        else if (const auto* floats = std::get_if<std::vector<double>>(&attribute.value))
            for (const double one : *floats)
                out.add_float(field::attribute::Floats, float(one));
        else if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value))
            for (const std::string& one : *texts)
                out.add_string(field::attribute::Strings, one);
        else if (const auto* body = std::get_if<std::shared_ptr<const OnnxGraph>>(&attribute.value))
            return addBody(out, **body);
        return {};
    }

    /// Adds a body. Its tensors stay in the model, because bodies are small.
    Result<void> addBody(protozero::pbf_writer& out, const OnnxGraph& body)
    {
        QS_TRY(const std::vector<Piece> pieces, Encoder(m_ir, nullptr).graph(body));
        std::string bytes;
        for (const Piece& piece : pieces) {
            bytes += piece.text;
            if (piece.tensor.defined())
                bytes.append(static_cast<const char*>(piece.tensor.const_data_ptr()),
                             piece.tensor.nbytes());
        }
        out.add_message(field::attribute::Graph, bytes);
        return {};
    }

    Result<void> addValue(protozero::pbf_writer& out, protozero::pbf_tag_type tag,
                          const OnnxValue& value) const
    {
        const int type = onnxTypeNumber(value.dtype);
        if (!type)
            return fail(ErrorCode::Unsupported,
                        "ONNX has no element type for '" + value.name + "' ("
                            + std::string(dtypeName(value.dtype)) + ")");
        protozero::pbf_writer entry(out, tag);
        entry.add_string(1, value.name);
        protozero::pbf_writer outer(entry, 2); // ValueInfoProto.type
        protozero::pbf_writer tensor(outer, 1); // TypeProto.tensor_type
        tensor.add_int32(1, type);
        if (!value.shape)
            return {};
        // Encoded separately: the writer drops nested messages that are empty.
        std::string sizes;
        protozero::pbf_writer shape(sizes);
        for (const OnnxDim& dim : *value.shape) {
            std::string text;
            protozero::pbf_writer one(text);
            if (const auto* size = std::get_if<std::int64_t>(&dim))
                one.add_int64(1, *size);
            else if (const auto& name = std::get<std::string>(dim); !name.empty())
                one.add_string(2, name);
            shape.add_message(1, text);
        }
        tensor.add_message(2, sizes);
        return {};
    }

    Result<void> addTensor(std::vector<Piece>& pieces, const OnnxTensor& tensor)
    {
        const int type = typeNumber(tensor);
        if (!type)
            return fail(ErrorCode::Unsupported,
                        "ONNX has no element type for the tensor '" + tensor.name + "'");
        std::string head;
        protozero::pbf_writer out(head);
        for (const std::int64_t size : tensor.data.sizes())
            out.add_int64(field::tensor::Dims, size);
        out.add_int32(field::tensor::DataType, type);
        out.add_string(field::tensor::Name, tensor.name);
        const at::Tensor data = tensor.isNibbles ? packed(tensor.data) : tensor.data;
        const std::uint64_t bytes = data.nbytes();
        if (m_data && bytes >= kSmall) {
            addPairs(out, field::tensor::ExternalData, m_data->add(data));
            out.add_enum(field::tensor::DataLocation, 1);
            pieces.push_back({fieldHead(field::graph::Initializer, head.size()) + head, {}});
            return {};
        }
        head += fieldHead(field::tensor::RawData, bytes);
        pieces.push_back({fieldHead(field::graph::Initializer, head.size() + bytes) + head, data});
        return {};
    }

    std::int64_t m_ir;
    DataFile* m_data;
};

std::uint64_t tensorBytes(const OnnxGraph& graph)
{
    std::uint64_t bytes = 0;
    for (const OnnxTensor& tensor : graph.initializers)
        bytes += tensor.isNibbles ? (tensor.data.nbytes() + 1) / 2 : tensor.data.nbytes();
    return bytes;
}

Result<void> writePieces(const OnnxModel& model, const std::vector<Piece>& graph,
                         const std::string& path, const JobContext& job)
{
    std::string head, tail;
    protozero::pbf_writer first(head), last(tail);
    first.add_int64(field::model::IrVersion, irVersion(model.opset));
    first.add_string(field::model::ProducerName, "quantscope");
    std::uint64_t size = 0;
    for (const Piece& piece : graph)
        size += piece.size();
    head += fieldHead(field::model::Graph, size);
    {
        protozero::pbf_writer opset(last, field::model::OpsetImport);
        opset.add_string(1, "");
        opset.add_int64(2, model.opset);
    }
    addPairs(last, field::model::MetadataProps, model.metadata);
    QS_TRY(FileSink sink, FileSink::open(path));
    const auto write = sink.writer();
    write(head.data(), head.size());
    for (const Piece& piece : graph) {
        QS_CHECK(job.check());
        write(piece.text.data(), piece.text.size());
        if (piece.tensor.defined() && piece.tensor.nbytes())
            write(piece.tensor.const_data_ptr(), piece.tensor.nbytes());
    }
    write(tail.data(), tail.size());
    return sink.close();
}

} // namespace

std::string onnxDataFile(const std::string& path)
{
    return path + kBesideSuffix;
}

Result<void> writeOnnxModel(const OnnxModel& model, const std::string& path,
                            const std::string& finalPath, std::uint64_t inlineLimit,
                            const JobContext& job)
{
    const std::int64_t ir = irVersion(model.opset);
    if (tensorBytes(model.graph) <= inlineLimit) {
        QS_TRY(const std::vector<Piece> pieces, Encoder(ir, nullptr).graph(model.graph, job));
        return writePieces(model, pieces, path, job);
    }
    const std::string dataPath = onnxDataFile(finalPath);
    QS_TRY(DataFile data,
           DataFile::open(dataPath, std::filesystem::path(dataPath).filename().string()));
    QS_TRY(const std::vector<Piece> pieces, Encoder(ir, &data).graph(model.graph, job));
    QS_CHECK(data.close());
    return writePieces(model, pieces, path, job);
}

} // namespace qs
