// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/early_hash.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/files/file_signature.h"

#include <chrono>

namespace qs {

void EarlyHash::start(const std::string& path)
{
    const std::lock_guard lock(m_mutex);
    m_signature = fileSignature(path);
    m_hash = std::async(std::launch::async, [path, token = m_stop.get_token()] {
                 return fileSha256(path, JobContext(token));
             }).share();
}

Result<std::string> EarlyHash::of(const std::string& path, const JobContext& job)
{
    constexpr std::chrono::milliseconds kTick(20);
    std::shared_future<Result<std::string>> early;
    {
        const std::lock_guard lock(m_mutex);
        if (m_hash.valid() && m_signature == fileSignature(path))
            early = m_hash;
    }
    if (!early.valid())
        return fileSha256(path, job);
    while (early.wait_for(kTick) != std::future_status::ready)
        QS_CHECK(job.check());
    return early.get();
}

} // namespace qs
