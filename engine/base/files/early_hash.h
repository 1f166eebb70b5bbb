// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <future>
#include <mutex>
#include <string>

namespace qs {

/// Hashes one file before it is read, on another thread. The destructor stops that. Thread safe.
class EarlyHash
{
public:
    ~EarlyHash() { m_stop.request_stop(); }

    void start(const std::string& path);
    /// `fileSha256`; waits for the started hash if it is of this file and the file did not change
    /// since.
    Result<std::string> of(const std::string& path, const JobContext& job);

private:
    std::mutex m_mutex;
    std::string m_signature; ///< `fileSignature` at the start
    std::stop_source m_stop;
    std::shared_future<Result<std::string>> m_hash;
};

} // namespace qs
