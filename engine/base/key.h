// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/sha256.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace qs {

/// Hash of the inputs of a result (hex SHA-256 of length-prefixed fields). Equal keys mean equal
/// inputs; results are identified by key, never by position. Empty = no inputs.
using Key = std::string;

/// Builds a key from the fields that a stage reads, in order. Not shared between threads.
class KeyBuilder
{
public:
    /// `what` names the kind of key, so that keys of different kinds are never equal.
    explicit KeyBuilder(std::string_view what) { add(what); }

    KeyBuilder& add(std::string_view field)
    {
        const auto size = std::uint64_t(field.size());
        m_hash.update(&size, sizeof size);
        m_hash.update(field.data(), field.size());
        return *this;
    }
    KeyBuilder& add(std::int64_t number) { return add(std::to_string(number)); }

    /// Returns the key. Call once, last.
    Key key() { return m_hash.hex(); }

private:
    Sha256 m_hash;
};

} // namespace qs
