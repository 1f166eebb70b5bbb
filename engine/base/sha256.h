// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <memory>
#include <string>

namespace qs {

/// Incremental SHA-256 (FIPS 180-4) by OpenSSL, which uses the processor's SHA instructions.
class Sha256
{
public:
    Sha256();
    void update(const void* data, std::size_t size);
    /// Lower-case hex digest; call once, last.
    std::string hex();

private:
    std::shared_ptr<void> m_context;
};

/// Hex SHA-256 of a file. The error (Io) names it.
Result<std::string> fileSha256(const std::string& path);

} // namespace qs
