// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/own_integers.h"
#include "engine/verify/verifier.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

using BatchOutputs = std::vector<std::vector<at::Tensor>>; ///< of each batch the model's outputs

/// The run of one form here.
struct OwnRun
{
    GraphPtr graph; ///< as the file has it
    bool isPart = false; ///< an edit took a part out of the form
    std::vector<Batch> batches; ///< its inputs: for a part, values of the whole form
    std::vector<std::string> names; ///< of its outputs
    std::vector<int> places; ///< of its outputs among the model's; -1: an edit added it
    BatchOutputs outputs;
    NodeIntegers integers; ///< of the first batch, in order; a kernel has its quantize's
};

/// Runs of the model here: in float, and in each exported form as its file has it. A
/// value.
class OwnRuns
{
public:
    /// `batches`: at least one. May throw c10::Error (call under guardTorch). Errors: those of the
    /// runs.
    static Result<OwnRuns> create(const VerifyRequest& request, const std::vector<Batch>& batches,
                                  const JobContext& job);

    const BatchOutputs& floatOutputs() const { return m_float; }
    /// Of an exported form that this program knows.
    const OwnRun& of(const std::string& form) const { return m_runs.at(m_graphs.at(form)); }

private:
    BatchOutputs m_float;
    std::map<std::string, GraphPtr> m_graphs; ///< by form
    std::map<GraphPtr, OwnRun> m_runs;
};

} // namespace qs
