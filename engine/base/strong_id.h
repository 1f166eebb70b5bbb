// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace qs {

/// An id type that does not convert to ids of other kinds. Zero means "none".
template<class Tag>
class StrongId
{
public:
    constexpr StrongId() = default;
    constexpr explicit StrongId(std::uint32_t value)
        : m_value(value)
    {
    }
    constexpr std::uint32_t value() const { return m_value; }
    constexpr explicit operator bool() const { return m_value != 0; }
    friend constexpr auto operator<=>(StrongId, StrongId) = default;

private:
    std::uint32_t m_value = 0;
};

/// Identity of a node; survives edits, preparation and conversion of the same node.
using NodeId = StrongId<struct NodeTag>;
/// Identity of one observer instance of a plan; edges that share an observer carry the same id.
using ObserverId = StrongId<struct ObserverTag>;
/// Key of a tensor or other weight-like object in the StoredTensors of a graph.
using TensorId = StrongId<struct TensorTag>;

} // namespace qs

template<class Tag>
struct std::hash<qs::StrongId<Tag>>
{
    std::size_t operator()(qs::StrongId<Tag> id) const noexcept { return id.value(); }
};
