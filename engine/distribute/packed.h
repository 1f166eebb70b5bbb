// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace qs {

/// Writes values as the bytes in memory, for another rank of the same program on the same kind of
/// processor (`checkSameRun`). Read them with an `Unpacker` in the same order.
class Packer
{
public:
    template<class T>
    requires std::is_trivially_copyable_v<T> Packer& add(const T& value)
    {
        m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    template<class T>
    requires std::is_trivially_copyable_v<T> Packer& add(const std::vector<T>& values)
    {
        add(std::uint64_t(values.size()));
        m_bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
        return *this;
    }
    Packer& add(std::string_view text)
    {
        add(std::uint64_t(text.size()));
        m_bytes.append(text);
        return *this;
    }
    Packer& add(const std::string& text) { return add(std::string_view(text)); }

    std::string take() { return std::move(m_bytes); }

private:
    std::string m_bytes;
};

/// Reads what a `Packer` wrote. Borrows the bytes. If they end too early, values stay as they are
/// and `check` fails.
class Unpacker
{
public:
    explicit Unpacker(std::string_view bytes)
        : m_rest(bytes)
    {
    }
    template<class T>
    requires std::is_trivially_copyable_v<T> Unpacker& get(T& value)
    {
        if (has(sizeof value)) {
            std::memcpy(&value, m_rest.data(), sizeof value);
            m_rest.remove_prefix(sizeof value);
        }
        return *this;
    }
    template<class T>
    requires std::is_trivially_copyable_v<T> Unpacker& get(std::vector<T>& values)
    {
        std::uint64_t size = 0;
        get(size);
        if (has(size, sizeof(T))) {
            values.resize(size);
            if (size > 0)
                std::memcpy(values.data(), m_rest.data(), size * sizeof(T));
            m_rest.remove_prefix(size * sizeof(T));
        }
        return *this;
    }
    Unpacker& get(std::string& text)
    {
        std::uint64_t size = 0;
        get(size);
        if (has(size)) {
            text.assign(m_rest.data(), size);
            m_rest.remove_prefix(size);
        }
        return *this;
    }

    bool isAtEnd() const { return m_rest.empty(); }
    /// Fails (Internal) if something was missing.
    Result<void> check() const
    {
        return m_isShort
            ? Result<void>(fail(ErrorCode::Internal, "a message of a rank is too short"))
            : Result<void>();
    }

private:
    bool has(std::uint64_t count, std::uint64_t each = 1)
    {
        m_isShort = m_isShort || count > m_rest.size() / each;
        return !m_isShort;
    }

    std::string_view m_rest;
    bool m_isShort = false;
};

} // namespace qs
