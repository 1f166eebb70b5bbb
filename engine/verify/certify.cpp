// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/certify.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/file_hash.h"
#include "engine/export/exporter.h"
#include "engine/verify/runtimes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace qs {

namespace {

namespace fs = std::filesystem;

/// Data files of an export: the weights of an ONNX model that is too large for one file.
std::vector<std::string> filesBeside(const std::string& folder, const std::string& file)
{
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(file + ".") && entry.is_regular_file(code))
            found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Adds the hash of a file; leaves out a file that cannot be read. Errors: Cancelled.
Result<void> addHash(Certificate& certificate, const std::string& folder, const std::string& name,
                     const JobContext& job)
{
    if (const auto hash = fileSha256((fs::path(folder) / name).string(), job))
        certificate.files[name] = *hash;
    return job.check();
}

/// Adds a failure for each file that changed since an earlier certificate of the same result.
void failChanged(Certificate& certificate, const std::string& folder)
{
    std::ifstream in(fs::path(folder) / kCertificateFile, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto before = certifiedFiles(text.str());
    const auto result = before.find("result.json");
    if (result == before.end() || result->second != certificate.files["result.json"])
        return; // the certificate is for another run
    for (const auto& [name, hash] : before) {
        const auto now = certificate.files.find(name);
        if (now != certificate.files.end() && now->second == hash)
            continue;
        RuntimeVerdict verdict;
        verdict.file = name;
        verdict.outcome = RuntimeVerdict::Outcome::Failed;
        verdict.reason = now == certificate.files.end()
            ? "it was certified, but is missing"
            : "its bytes are not those of the certificate";
        const bool told = std::any_of(certificate.verdicts.begin(), certificate.verdicts.end(),
                                      [&file = name](const RuntimeVerdict& other) {
                                          return other.file == file
                                              && other.outcome == RuntimeVerdict::Outcome::Failed;
                                      });
        if (!told)
            certificate.verdicts.push_back(std::move(verdict));
    }
}

using Outcome = RuntimeVerdict::Outcome;

/// The verdict on a file that no runtime executed; empty if a runtime did or if the file failed.
std::optional<RuntimeVerdict> unexecuted(const Certificate& certificate, const std::string& form,
                                         const std::string& file)
{
    RuntimeVerdict verdict;
    verdict.form = form;
    verdict.file = file;
    verdict.outcome = Outcome::NotVerified;
    std::string why = "this program knows none for it";
    for (const RuntimeVerdict& other : certificate.verdicts) {
        if (other.file != file)
            continue;
        const bool isOfFile = other.runtime.empty();
        if (isOfFile ? other.outcome == Outcome::Failed : other.outcome != Outcome::NotRun)
            return std::nullopt;
        if (!isOfFile)
            why = other.reason;
    }
    verdict.reason = "no runtime executed it: " + why;
    return verdict;
}

/// The verdict on a runtime that the user named, but for which the result has no export.
RuntimeVerdict withoutFile(const std::string& runtime)
{
    RuntimeVerdict verdict;
    verdict.runtime = runtime;
    verdict.outcome = Outcome::Failed;
    std::string forms;
    for (const Runtime& known : runtimes())
        if (known.name == runtime) {
            forms += (forms.empty() ? "" : " or ") + std::string(known.form);
            if (verdict.form.empty())
                verdict.form = known.form;
        }
    verdict.file = exportFile(verdict.form);
    verdict.reason = "the result has no export for this runtime: quantize with --export " + forms;
    return verdict;
}

/// Adds verdicts on what was not checked. If all runtimes were requested: `NotVerified` for each
/// unchanged file that no runtime executed. If runtimes were named: `Failed` for each runtime for
/// which the result has no export.
void addUnverified(Certificate& certificate, const VerifyRequest& request)
{
    if (request.runtimes.empty()) {
        for (const auto& [form, file] : request.exports)
            if (auto verdict = unexecuted(certificate, form, file))
                certificate.verdicts.push_back(std::move(*verdict));
        return;
    }
    for (const std::string& name : request.runtimes) {
        const auto all = runtimes();
        const bool hasFile = std::any_of(all.begin(), all.end(), [&](const Runtime& runtime) {
            return runtime.name == name && request.exports.contains(std::string(runtime.form));
        });
        if (!hasFile)
            certificate.verdicts.push_back(withoutFile(name));
    }
}

} // namespace

Result<Certificate> certify(const CertifyRequest& request, const JobContext& job)
{
    const VerifyRequest& exports = request.exports;
    QS_TRY(Certificate certificate, verifyExports(exports, job));
    addUnverified(certificate, exports);
    certificate.modelSha256 = request.modelSha256;
    certificate.recipeSha256 = exports.recipeSha256;
    certificate.data = request.data;
    certificate.dataSha256 = request.dataSha256;
    for (const char* name : {"result.json", "recipe.json", "observations.npz"})
        QS_CHECK(addHash(certificate, exports.folder, name, job));
    for (const auto& [form, file] : exports.exports)
        for (const std::string& beside : filesBeside(exports.folder, file))
            QS_CHECK(addHash(certificate, exports.folder, beside, job));
    failChanged(certificate, exports.folder);
    if (certificate.passed())
        QS_CHECK(writeFileAtomically((fs::path(exports.folder) / kCertificateFile).string(),
                                     certificateJson(certificate)));
    return certificate;
}

} // namespace qs
