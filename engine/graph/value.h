// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/strong_id.h"
#include "engine/graph/dtype.h"

#include <compare>
#include <functional>
#include <string>
#include <vector>

namespace qs {

/// The run-time kind of a node's output.
enum class ValueKind : std::uint8_t
{
    Tensor,
    SymInt,
    SymFloat,
    SymBool,
    Custom,
    Tuple,
    None
};

/// Statically known type of a value. Shape and dtype apply to Tensor only.
struct ValueType
{
    ValueKind kind = ValueKind::Tensor;
    DType dtype = DType::Unknown;
    bool shapeKnown = false;
    std::vector<Dim> shape;
    Device device;
    std::string className; ///< for Custom: the class, such as "Conv2dPackedParamsBase"
    /// For SymInt, SymFloat, SymBool: the file's expression; `shape` is empty.
    std::string expression;

    /// True for a tensor of unknown element type.
    bool isUntyped() const { return kind == ValueKind::Tensor && dtype == DType::Unknown; }
    /// True for a floating-point tensor or one of unknown element type.
    bool mayBeFloat() const
    {
        return kind == ValueKind::Tensor && (dtype == DType::Unknown || isFloating(dtype));
    }
    /// "float32[s77, 3, 224, 224]", "SymInt", "?" for an unknown part.
    std::string text() const;
    friend bool operator==(const ValueType&, const ValueType&) = default;
};

/// One output of one node.
struct Value
{
    std::string name; ///< unique in the graph; equals the node's name for a single output
    ValueType type;
    friend bool operator==(const Value&, const Value&) = default;
};

/// Refers to a value: its producer and the index of the output.
struct ValueRef
{
    NodeId node;
    std::uint32_t index = 0;
    explicit operator bool() const { return bool(node); }
    friend auto operator<=>(const ValueRef&, const ValueRef&) = default;
};

} // namespace qs

template<>
struct std::hash<qs::ValueRef>
{
    std::size_t operator()(const qs::ValueRef& ref) const noexcept
    {
        return (std::size_t(ref.node.value()) << 8) ^ ref.index;
    }
};
