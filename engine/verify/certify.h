// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/verifier.h"

namespace qs {

struct CertifyRequest
{
    VerifyRequest exports;
    std::string modelSha256;
    std::string data, dataSha256; ///< what the exports are run on: path or "sample", content
};

/// `verifyExports`, with all that a certificate says beside: exports that no runtime executed and
/// runtimes without an export, hashes of the folder's files, and files that are no longer what an
/// earlier certificate of the same result was about, as failures. Where everything passed
/// `certificate.json` is written into the folder; a certificate that says what was changed would
/// hide the change from the next. Errors: those of `verifyExports`; the folder cannot be written.
Result<Certificate> certify(const CertifyRequest& request, const JobContext& job);

} // namespace qs
