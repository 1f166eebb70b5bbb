// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace qs {

/// SHA-256 (FIPS 180-4) of bytes given piece by piece.
class Sha256
{
public:
    Sha256();
    void update(const void* data, std::size_t size);
    /// Lower-case hex digest; call once, last.
    std::string hex();

private:
    void block(const std::uint8_t* bytes);

    std::array<std::uint32_t, 8> m_state;
    std::array<std::uint8_t, 64> m_pending {};
    std::size_t m_pendingSize = 0;
    std::uint64_t m_total = 0;
};

} // namespace qs
