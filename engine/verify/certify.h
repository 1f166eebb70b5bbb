// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/verifier.h"

namespace qs {

struct CertifyRequest
{
    VerifyRequest exports;
    std::string modelSha256;
    std::string data, dataSha256; ///< the data of the runs: path or "sample", content
};

/// Runs `verifyExports` and completes the certificate: exports that no runtime executed, runtimes
/// without an export, hashes of the folder's files and, as failures, files that changed since an
/// earlier certificate of the same result. Writes `certificate.json` into the folder only if
/// everything passed; otherwise the next run could not detect the changes. Errors: those of
/// `verifyExports`; the folder cannot be written.
Result<Certificate> certify(const CertifyRequest& request, const JobContext& job);

} // namespace qs
