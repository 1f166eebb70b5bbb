// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_builder.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

/// Whether a type is complex. ONNX values hold complex numbers as real ones with a last dimension
/// of two.
inline bool isComplex(DType dtype)
{
    return dtype == DType::Complex64 || dtype == DType::Complex128;
}

/// A handler's view of one node: its arguments as ONNX values or as numbers, and functions to emit
/// nodes. A handler that cannot continue calls `refuse`; from then on all queries return empty
/// values, and the export fails. Lives while the handler runs; borrows builder and node.
class OnnxCall
{
public:
    OnnxCall(OnnxBuilder& builder, const Node& node)
        : m_builder(builder)
        , m_node(node)
    {
    }

    const Node& node() const { return m_node; }
    OnnxBuilder& builder() { return m_builder; }
    std::int64_t opset() const { return m_builder.opset(); }
    /// Records why this node has no ONNX form; only the first reason counts.
    void refuse(const std::string& why);
    const std::string& refusal() const { return m_refusal; }

    // Arguments by name. An absent argument or None counts as not given.
    bool has(std::string_view name) const { return given(name) != nullptr; }
    const Argument* given(std::string_view name) const;
    /// The ONNX value of a tensor or number, cast to `as` if that is set; "" if it is not given.
    std::string in(std::string_view name, DType as = DType::Unknown);
    std::string value(const Argument& argument, DType as = DType::Unknown);
    /// The ONNX values of a list of tensors, cast as for `in`; "" for None.
    std::vector<std::string> inList(std::string_view name, DType as = DType::Unknown);
    std::int64_t integer(std::string_view name, std::int64_t otherwise);
    double number(std::string_view name, double otherwise);
    bool flag(std::string_view name, bool otherwise);
    std::string text(std::string_view name, const std::string& otherwise = {});
    /// A list of fixed integers; `otherwise` if it is not given.
    std::vector<std::int64_t> integers(std::string_view name,
                                       std::vector<std::int64_t> otherwise = {});
    /// The argument as a fixed integer; empty if it is not one.
    std::optional<std::int64_t> fixed(const Argument& argument);
    /// A size or index, fixed or computed, as an int64 vector of one element.
    std::string size(const Argument& argument);
    /// A list of sizes, fixed or computed, as one int64 vector.
    std::string sizes(const Argument& argument);
    std::string sizes(const Argument::List& list);

    // Types of values.
    ValueType type(std::string_view name) const;
    const ValueType& resultType(std::size_t index = 0) const;
    DType dtype(std::string_view name) const;
    /// Element type of the result; float32 if unknown.
    DType resultDType() const;
    /// Number of dimensions; refuses if unknown.
    int rank(std::string_view name);
    /// A dimension argument, counted from 0; a negative one is resolved with the rank of `of`.
    std::int64_t axis(std::string_view name, std::int64_t otherwise, std::string_view of = "self");
    std::int64_t wrapped(std::int64_t dim, int rank);
    /// The fixed size of one dimension; empty if it is not fixed.
    std::optional<std::int64_t> fixedSize(std::string_view name, std::int64_t dim) const;

    // Emission.
    std::string emit(const std::string& op, std::vector<std::string> inputs,
                     OnnxAttributes attributes = {});
    std::vector<std::string> emitMany(const std::string& op, std::vector<std::string> inputs,
                                      std::size_t outputs, OnnxAttributes attributes = {});
    std::string cast(const std::string& value, DType to);
    /// A constant int64 vector.
    std::string ints(const std::vector<std::int64_t>& values);
    std::string scalar(double value, DType dtype);
    std::string constant(const at::Tensor& tensor, const std::string& wanted,
                         bool isNibbles = false);
    /// Whether the integers of this step (a dequantize of a stored weight) are stored with four
    /// bits. That needs operator set 21 and the generic target: no other target multiplies 4-bit
    /// integers like bytes.
    bool isStoredInNibbles();
    /// Emits a reduction such as "ReduceMean"; axes are an input or an attribute, depending on the
    /// operator set.
    std::string reduce(const std::string& op, const std::string& value,
                       std::vector<std::int64_t> axes, bool keep);
    std::string unsqueeze(const std::string& value, const std::vector<std::int64_t>& axes);
    std::string squeeze(const std::string& value, const std::vector<std::int64_t>& axes);
    std::string transpose(const std::string& value, std::vector<std::int64_t> order);
    /// `value` with its last two dimensions exchanged.
    std::string swapLast(const std::string& value, int rank);
    std::string reshape(const std::string& value, const std::vector<std::int64_t>& sizes);
    /// The size of one dimension as a vector of one.
    std::string sizeOf(const std::string& value, std::int64_t dim);
    /// Elements [start, end) of one axis.
    std::string slice(const std::string& value, std::int64_t axis, std::int64_t start,
                      std::int64_t end, std::int64_t step = 1);

    // Results.
    void give(const std::string& value, std::size_t index = 0);
    /// Sets the members of the list that the operator returns.
    void giveAll(const std::vector<std::string>& values);

private:
    std::string literal(const Argument& argument, DType as);

    OnnxBuilder& m_builder;
    const Node& m_node;
    std::string m_refusal;
};

} // namespace qs
