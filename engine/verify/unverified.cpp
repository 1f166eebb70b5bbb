// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/unverified.h"

#include "engine/base/text.h"
#include "engine/export/exporter.h"
#include "engine/verify/runtimes.h"

#include <algorithm>

namespace qs {

namespace {

using Outcome = RuntimeVerdict::Outcome;

/// The verdict on a file that nothing executed; none where it was executed or has failed.
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

/// The verdict on a named runtime that there is no file for.
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

} // namespace

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

} // namespace qs
