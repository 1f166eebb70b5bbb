// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/verifier.h"

#include "engine/base/decibels.h"
#include "engine/base/files/file_hash.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/convert/form_errors.h"
#include "engine/convert/lowering/quantized_engine.h"
#include "engine/execute/random/random_draws.h"
#include "engine/export/exporter.h"
#include "engine/export/file_origin.h"
#include "engine/graph/operators/state.h"
#include "engine/result/result_document.h"
#include "engine/verify/certificate.h"
#include "engine/verify/float_files.h"
#include "engine/verify/node_steps.h"
#include "engine/verify/output_sums.h"
#include "engine/verify/own_runs.h"
#include "engine/verify/python_run.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace qs {

namespace {

std::string utcNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm parts {};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

class Verifier
{
public:
    Verifier(const VerifyRequest& request, const JobContext& job)
        : m_request(request)
        , m_job(job)
        , m_drawing(drawingText(*request.converted.prepared->model))
        , m_floatFiles(*request.converted.prepared->model)
    {
        if (!stateUpdates(*request.converted.prepared->model).empty())
            m_certificate.state
                = request.data.isSequence() ? CallState::Sequence : CallState::Saved;
    }

    Result<Certificate> run()
    {
        QS_CHECK(runHere());
        m_certificate.date = utcNow();
        m_certificate.processor = processorText();
        m_certificate.threads = at::get_num_threads();
        m_certificate.batches = std::int64_t(m_batches.size());
        for (const Batch& batch : m_batches)
            m_certificate.samples += batch.samples;
        for (const auto& [form, file] : m_request.exports) {
            QS_TRY(const bool isWritten, checkBytes(form, file));
            if (isWritten)
                QS_CHECK(runEverywhere(form, file));
        }
        return std::move(m_certificate);
    }

private:
    std::string path(const std::string& file) const
    {
        return (std::filesystem::path(m_request.folder) / file).string();
    }

    /// Runs the model and its forms in this program.
    Result<void> runHere()
    {
        const ConvertedModel& converted = m_request.converted;
        for (std::int64_t i = 0; i < m_request.data.batchCount(); ++i) {
            QS_TRY(Batch batch, m_request.data.batch(i));
            m_batches.push_back(std::move(batch));
        }
        if (m_batches.empty())
            return fail(ErrorCode::BadInput, "the data hold no whole batch");
        QS_TRY(m_own, OwnRuns::create(m_request, m_batches, m_job));
        m_saturates = !hasDotProduct()
            && std::any_of(converted.qparams.begin(), converted.qparams.end(), [](const auto& one) {
                   const QParams& qparams = one.second;
                   return !isPerChannel(qparams.qscheme) && qparams.quantMin == 0
                       && qparams.quantMax == 255;
               });
        return {};
    }

    /// False, with a failed verdict, if the file differs from the one that was written.
    Result<bool> checkBytes(const std::string& form, const std::string& file)
    {
        RuntimeVerdict verdict;
        verdict.form = form;
        verdict.file = file;
        const auto hash = fileSha256(path(file), m_job);
        const auto wanted = m_request.hashes.find(file);
        if (!hash)
            verdict.reason = hash.error().line();
        else if (wanted != m_request.hashes.end() && wanted->second != *hash)
            verdict.reason = "its bytes are not those that were written: quantize again";
        else if (const auto beside = m_request.hashes.find(file + kBesideSuffix);
                 beside != m_request.hashes.end()
                 && fileSha256(path(beside->first), m_job).value_or("") != beside->second)
            verdict.reason = "'" + beside->first
                + "', which holds its tensors, is not as it was written: quantize again";
        QS_CHECK(m_job.check());
        verdict.outcome = verdict.reason.empty() ? RuntimeVerdict::Outcome::Passed
                                                 : RuntimeVerdict::Outcome::Failed;
        if (hash) {
            m_certificate.files[file] = *hash;
            verdict.warnings = originWarnings(file);
        }
        m_certificate.verdicts.push_back(verdict);
        return verdict.outcome == RuntimeVerdict::Outcome::Passed;
    }

    /// Warnings if the file's record of origin does not match this result or this program's
    /// runtime.
    std::vector<std::string> originWarnings(const std::string& file)
    {
        m_record = recordOfFile(path(file));
        if (!m_record)
            return {"does not say which engine, recipe and version of torch it was made with: "
                    "quantize again"};
        auto lines = recordFindings(*m_record, {m_request.converted.engine, ownTorchVersion()});
        if (!m_record->recipeSha256.empty() && !m_request.recipeSha256.empty()
            && m_record->recipeSha256 != m_request.recipeSha256)
            lines.emplace_back("made by another recipe than the one of this result");
        return lines;
    }

    /// Warnings if the runtime's torch has another version than this program's.
    std::vector<std::string> versionWarnings(const std::string& torch) const
    {
        if (!m_record)
            return {};
        auto lines = recordFindings(*m_record, {m_record->engine, torch});
        const auto own = recordFindings(*m_record, {m_record->engine, ownTorchVersion()});
        return lines == own ? std::vector<std::string>() : lines;
    }

    Result<void> runEverywhere(const std::string& form, const std::string& file)
    {
        for (const Runtime& runtime : runtimes()) {
            if (runtime.form != form || !isAsked(runtime))
                continue;
            const bool isTimed = m_request.speed && runtime.timesOperators;
            m_job.report("verify",
                         file + " in " + std::string(runtime.name) + (isTimed ? ", timed" : ""),
                         double(++m_done) / double(runsAsked() + 1));
            RuntimeVerdict verdict;
            verdict.runtime = runtime.name;
            verdict.form = form;
            verdict.file = file;
            const std::string whole = path(file);
            const OwnRun& own = m_own.of(form);
            PythonJob pythonJob {m_request.python,
                                 runtime,
                                 whole,
                                 *own.graph,
                                 m_drawing.empty() ? &own.integers : nullptr,
                                 m_certificate.state};
            FloatFiles::Written floating;
            if (isTimed && own.isPart) {
                floating.problem = "the file holds a part of the model, which alone is not timed";
            } else if (isTimed) {
                QS_TRY(floating, m_floatFiles.of(form, m_job));
                pythonJob.floatFile = floating.path;
            }
            QS_TRY(RuntimeRun run, runInPython(pythonJob, own.batches, m_job));
            verdict.versions = run.versions;
            verdict.notes = run.notes;
            if (const auto torch = run.versions.find("torch"); torch != run.versions.end())
                verdict.warnings = versionWarnings(torch->second);
            judge(verdict, runtime, run);
            if (isTimed && !run.lacks() && run.error.empty()) {
                verdict.speed = std::move(run.speed);
                if (!floating.problem.empty())
                    verdict.speed.emplace().error = std::move(floating.problem);
            }
            m_certificate.verdicts.push_back(std::move(verdict));
        }
        return {};
    }

    bool isAsked(const Runtime& runtime) const
    {
        const auto& wanted = m_request.runtimes;
        return wanted.empty()
            || std::find(wanted.begin(), wanted.end(), runtime.name) != wanted.end();
    }

    /// Number of runs, for progress.
    std::int64_t runsAsked() const
    {
        return std::count_if(runtimes().begin(), runtimes().end(), [this](const Runtime& runtime) {
            return isAsked(runtime) && m_request.exports.contains(std::string(runtime.form));
        });
    }

    void judge(RuntimeVerdict& verdict, const Runtime& runtime, const RuntimeRun& run)
    {
        if (run.lacks()) {
            verdict.reason = missingText(run, m_request.python);
            if (!run.missing.empty() && !run.isOwnPython)
                m_certificate.setup = setupAdvice(!run.makesEnvironments);
            if (!m_request.runtimes.empty()) // a named runtime is required
                verdict.outcome = RuntimeVerdict::Outcome::Failed;
            return;
        }
        verdict.outcome = RuntimeVerdict::Outcome::Failed;
        if (!run.error.empty()) {
            const auto cause = run.notes.find("known_cause");
            verdict.reason
                = run.error + (cause == run.notes.end() ? "" : " (" + cause->second + ")");
            return;
        }
        if (!m_drawing.empty()) {
            if (const auto alike = checkRanks(m_own.of(verdict.form), run.outputs); !alike) {
                verdict.reason = alike.error().message;
                return;
            }
            verdict.outcome = RuntimeVerdict::Outcome::NotCompared;
            verdict.reason = "it loads and runs; its outputs are not compared: " + m_drawing
                + ", others in each runtime; " + kDrawNothing;
            return;
        }
        const OwnRun& own = m_own.of(verdict.form);
        verdict.steps = stepsApart(own.integers, run.nodes);
        verdict.alone = countAlone(own.integers, own.outputs.front(), run.alone);
        if (const auto measured = measure(verdict, runtime, own, run.outputs); !measured)
            verdict.reason = measured.error().message;
        if (verdict.reason.empty() && runtime.isExact && verdict.alone)
            verdict.reason = faultAlone(*verdict.alone);
        if (verdict.reason.empty())
            verdict.outcome = RuntimeVerdict::Outcome::Passed;
        else if (verdict.steps && !verdict.steps->firstNode.empty())
            verdict.reason
                += "; the first node more than a step off is '" + verdict.steps->firstNode + "'";
        if (const auto cause = verdict.notes.find("cause");
            !verdict.reason.empty() && cause != verdict.notes.end() && !cause->second.empty())
            verdict.reason += " (" + cause->second + ")";
    }

    static Result<at::Tensor> returned(const OwnRun& own, const BatchOutputs& theirs,
                                       std::size_t batch, std::size_t output)
    {
        if (batch < theirs.size() && output < theirs[batch].size()
            && theirs[batch][output].defined())
            return theirs[batch][output];
        return fail(ErrorCode::Numeric, "it does not return output '" + own.names[output] + "'");
    }

    /// Checks only ranks, for random outputs, whose sizes may be random too.
    static Result<void> checkRanks(const OwnRun& own, const BatchOutputs& theirs)
    {
        const BatchOutputs& ours = own.outputs;
        for (std::size_t i = 0; i < own.names.size(); ++i)
            for (std::size_t b = 0; b < ours.size(); ++b) {
                if (i >= ours[b].size() || !ours[b][i].defined())
                    continue;
                QS_TRY(const at::Tensor other, returned(own, theirs, b, i));
                if (ours[b][i].dim() != other.dim())
                    return fail(ErrorCode::Numeric,
                                "output '" + own.names[i] + "' has other dimensions than ours");
            }
        return {};
    }

    /// Sets the verdict's outputs, and its reason if an output does not agree as required.
    Result<void> measure(RuntimeVerdict& verdict, const Runtime& runtime, const OwnRun& own,
                         const BatchOutputs& theirs) const
    {
        for (std::size_t i = 0; i < own.names.size(); ++i) {
            OutputSums sums;
            bool isThere = false;
            const int place = own.places[i];
            for (std::size_t b = 0; b < own.outputs.size(); ++b) {
                const auto& returnedHere = own.outputs[b];
                const at::Tensor made = i < returnedHere.size() ? returnedHere[i] : at::Tensor();
                if (!made.defined())
                    continue;
                isThere = true;
                QS_TRY(const at::Tensor other, returned(own, theirs, b, i));
                const auto& floats = m_own.floatOutputs()[b];
                const at::Tensor y = place < 0 ? at::Tensor() : floats.at(std::size_t(place));
                QS_CHECK(sums.add(y, made, other, own.names[i]));
            }
            if (isThere)
                QS_CHECK(judgeOutput(verdict, runtime, sums, own.names[i]));
        }
        return {};
    }

    /// Why a runtime's values differ from ours, if known; else "".
    std::string causeOf(const RuntimeVerdict& verdict, const Runtime& runtime) const
    {
        if (const auto told = verdict.notes.find("known_cause"); told != verdict.notes.end())
            return told->second;
        if (choseOthers(verdict))
            return "equal scores: 'topk' chooses among them in another order";
        if (runtime.isExact && isOnlyTies(verdict))
            return "rounding ties: sums added in another order";
        if (m_saturates && (!runtime.isExact || runtime.form == "torchscript"))
            return "saturating instructions: this processor adds products of bytes in 16 bits, "
                   "which overflow with activations of 8 bits; give them 7 (\"reduce_range\": "
                   "true)";
        return runtime.isExact ? ""
                               : "fused requantization: operators run as one and round once, where "
                                 "the file rounds after each";
    }

    Result<void> judgeOutput(RuntimeVerdict& verdict, const Runtime& runtime,
                             const OutputSums& sums, const std::string& name) const
    {
        VerifiedOutput output;
        output.name = name;
        output.maxAbs = sums.maxAbs;
        QS_TRY(output.agreementDb, sqnrOf(sums.ours));
        QS_TRY(output.floatDb, sqnrOf(sums.toFloat));
        QS_TRY(output.ownFloatDb, sqnrOf(sums.ownToFloat));
        const double agreement = output.agreementDb.value_or(kExactDb);
        const FormErrors errors {output.ownFloatDb.value_or(kExactDb),
                                 output.floatDb.value_or(kExactDb), sums.ownToFloat.count};
        const bool hasTies = isOnlyTies(verdict);
        if (agreement < kExactRuntimeDb || (sums.differing > 0 && choseOthers(verdict)))
            verdict.notes["cause"] = causeOf(verdict, runtime);
        if (choseOthers(verdict)) {
            verdict.outputs.push_back(std::move(output));
            return {};
        }
        std::string reason;
        if (sums.differing > 0)
            reason = counted(sums.differing, "value") + " of output '" + name
                + "' are other integers than ours";
        else if (runtime.isExact && !hasTies && agreement < kExactRuntimeDb)
            reason = "output '" + name + "' agrees with ours to " + dbText(agreement)
                + ", 60 dB are required";
        else if (agreement < kExactRuntimeDb && losesMore(errors))
            reason = "output '" + name + "' is at " + dbText(errors.loweredDb)
                + " against the float model, ours at " + dbText(errors.referenceDb);
        verdict.outputs.push_back(std::move(output));
        return reason.empty() ? Result<void>() : fail(ErrorCode::Numeric, std::move(reason));
    }

    const VerifyRequest& m_request;
    const JobContext& m_job;
    const std::string m_drawing; ///< `drawingText` of the model
    std::vector<Batch> m_batches;
    OwnRuns m_own;
    std::int64_t m_done = 0; ///< runs
    bool m_saturates = false; ///< 8-bit operands on a processor whose kernels saturate
    std::optional<ExportRecord> m_record; ///< record of the current file
    FloatFiles m_floatFiles;
    Certificate m_certificate;
};

} // namespace

Result<Certificate> verifyExports(const VerifyRequest& request, const JobContext& job)
{
    const InferenceScope inference;
    return guardTorchValue<Certificate>([&] {
        selectEngine(
            request.converted.engine); // another conversion may have selected another engine
        return Verifier(request, job).run();
    });
}

} // namespace qs
