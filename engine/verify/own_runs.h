// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/own_integers.h"
#include "engine/verify/verifier.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

using BatchOutputs = std::vector<std::vector<at::Tensor>>; ///< outputs by batch

/// The run of one form in this program.
struct OwnRun
{
    GraphPtr graph; ///< as the file has it
    bool isPart = false; ///< an edit extracted a part of the form
    std::vector<Batch> batches; ///< its inputs: for a part, values of the whole form
    std::vector<std::string> names; ///< of its outputs
    std::vector<int> places; ///< index of each output among the model's; -1: added by an edit
    BatchOutputs outputs;
    NodeIntegers
        integers; ///< of the first batch, in order; a kernel has those of its quantize step
};

/// Runs of the model in this program: in float, and in each exported form as its file has it. A
/// value.
class OwnRuns
{
public:
    /// `batches`: at least one. May throw c10::Error (call under guardTorch). Errors: those of the
    /// runs.
    static Result<OwnRuns> create(const VerifyRequest& request, const std::vector<Batch>& batches,
                                  const JobContext& job);

    const BatchOutputs& floatOutputs() const { return m_float; }
    /// The run of an exported form, which this program must know.
    const OwnRun& of(const std::string& form) const { return m_runs.at(m_graphs.at(form)); }

private:
    BatchOutputs m_float;
    std::map<std::string, GraphPtr> m_graphs; ///< by form
    std::map<GraphPtr, OwnRun> m_runs;
};

} // namespace qs
