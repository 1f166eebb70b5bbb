// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/verify/certificate.h"

namespace qs {

struct VerifyRequest
{
    const ConvertedModel& converted; ///< made anew from the model, the recipe and the parameters
    const Dataset& data;
    std::string folder;
    std::map<std::string, std::string> exports; ///< form to file name
    std::map<std::string, std::string> hashes; ///< file name to SHA-256 when it was written
    std::vector<std::string> saturatingFiles; ///< names of those with `SaturatingForm`
    std::string recipeSha256; ///< of the result's recipe.json; "" = not known
    std::string python;
    std::vector<std::string> runtimes; ///< names; empty = all
    /// Time the float model, written in the export's form, and the export, in each runtime that
    /// `timesOperators`.
    bool speed = false;
};

/// Loads every export in its runtimes, each in a separate process, runs the data and compares the
/// outputs with those of the converted model here and with the float model's; not for a model that
/// draws random numbers, since each runtime draws its own.
///
/// A file fails if its bytes are not those that were written; if a runtime cannot load or run it,
/// or returns other shapes; in a runtime that computes operator by operator, if an output agrees
/// with ours to less than 60 dB, unless the departure starts with rounding ties
/// (`VerifiedSteps::startsWithTies`); there, and in one that fuses and rounds elsewhere, if an
/// output loses more against the float model than ours does (`losesMore`). Differences in engine,
/// recipe and version of torch between the record inside a file and the runtime here are warnings.
/// Fills all of the certificate except the names of model, recipe and data. Errors: the data's,
/// Python cannot be started.
Result<Certificate> verifyExports(const VerifyRequest& request, const JobContext& job);

} // namespace qs
