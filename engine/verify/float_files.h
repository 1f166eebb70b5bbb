// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/temporary_folder.h"
#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <optional>
#include <string>

namespace qs {

/// Files of the float model in the forms of its exports, for timing. Writes each at its first
/// request; the destructor removes them. For one thread.
class FloatFiles
{
public:
    /// Borrows the model.
    explicit FloatFiles(const Graph& model)
        : m_model(model)
    {
    }

    struct Written
    {
        std::string path; ///< "" if the form cannot hold the model
        std::string problem; ///< why `path` is ""
    };
    /// The file in that form. Errors: the temporary folder cannot be created; Cancelled.
    Result<Written> of(const std::string& form, const JobContext& job);

private:
    const Graph& m_model;
    std::optional<TemporaryFolder> m_folder;
};

} // namespace qs
