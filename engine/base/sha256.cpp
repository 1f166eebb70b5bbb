// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/files/read_file.h"

#include <array>
#include <openssl/evp.h>
#include <stdexcept>

namespace qs {

namespace {

EVP_MD_CTX* digest(const std::shared_ptr<void>& context)
{
    return static_cast<EVP_MD_CTX*>(context.get());
}

/// Found once: with `EVP_sha256()` OpenSSL looks the algorithm up for every digest.
const EVP_MD* sha256Algorithm()
{
    static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return found ? found : EVP_sha256();
}

// OpenSSL fails here only if out of memory, or if a policy disables the algorithm.
void require(int done)
{
    if (done != 1)
        throw std::runtime_error("OpenSSL has no SHA-256 here");
}

} // namespace

Sha256::Sha256()
    : m_context(EVP_MD_CTX_new(),
                [](void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); })
{
    require(EVP_DigestInit_ex(digest(m_context), sha256Algorithm(), nullptr));
}

void Sha256::update(const void* data, std::size_t size)
{
    require(EVP_DigestUpdate(digest(m_context), data, size));
}

std::string Sha256::hex()
{
    std::array<unsigned char, 32> bytes {};
    require(EVP_DigestFinal_ex(digest(m_context), bytes.data(), nullptr));
    std::string out;
    for (const unsigned byte : bytes)
        for (const unsigned shift : {4u, 0u})
            out += "0123456789abcdef"[(byte >> shift) & 15u];
    return out;
}

Result<std::string> fileSha256(const std::string& path, const JobContext& job)
{
    Sha256 hash;
    QS_CHECK(readInBlocks(
        path, job, [&](std::string_view block) { hash.update(block.data(), block.size()); }));
    return hash.hex();
}

Result<std::string> fileSha256(const std::string& path)
{
    return fileSha256(path, {});
}

} // namespace qs
