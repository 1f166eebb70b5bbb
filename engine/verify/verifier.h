// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/verify/certificate.h"

namespace qs {

struct VerifyRequest
{
    const ConvertedModel& converted; ///< converted again with the result's recipe and parameters
    const Dataset& data;
    std::string folder;
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> hashes; ///< file name to SHA-256 when it was written
    std::vector<std::string> saturatingFiles; ///< names of files with `SaturatingForm`
    std::string recipeSha256; ///< of the result's recipe.json; "" = not known
    std::string python;
    std::vector<std::string> runtimes; ///< names; empty = all
    /// Time the float model, written in the export's form, and the export, in each runtime that
    /// `timesOperators`.
    bool speed = false;
};

/// Loads every export in its runtimes, each in a separate process, runs it on the data, and
/// compares its outputs with those of the converted model in this program and of the float model.
/// Outputs of a model that draws random numbers are not compared, since each runtime draws its own.
///
/// A file fails if
/// - its bytes differ from those that were written;
/// - a runtime cannot load or run it, or returns other shapes;
/// - in a runtime that runs operator by operator, an output agrees with ours to less than 60 dB,
///   unless the difference starts with rounding ties (`VerifiedSteps::startsWithTies`);
/// - in any runtime, an output loses more against the float model than ours does (`losesMore`).
///
/// Differences in engine, recipe and version of torch between a file's record of origin and this
/// program's runtime are warnings. Sets all of the certificate except the names of model, recipe
/// and data. Errors: those of the data; Python cannot be started.
Result<Certificate> verifyExports(const VerifyRequest& request, const JobContext& job);

} // namespace qs
