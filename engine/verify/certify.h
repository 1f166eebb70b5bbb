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

/// `verifyExports`, with the rest of a certificate: exports that no runtime executed and runtimes
/// without an export, hashes of the folder's files and, as failures, files that changed since an
/// earlier certificate of the same result. Writes `certificate.json` into the folder only if
/// everything passed; else the next run would not find the changes. Errors: those of
/// `verifyExports`; the folder cannot be written.
Result<Certificate> certify(const CertifyRequest& request, const JobContext& job);

} // namespace qs
