// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/temporary_folder.h"
#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <optional>
#include <string>

namespace qs {

/// The float model in the forms of its exports, to time them against: written when first asked for,
/// gone with this object. For one thread.
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
        std::string path; ///< "" where the form cannot hold it
        std::string problem; ///< why
    };
    /// Errors: no folder can be made; Cancelled.
    Result<Written> of(const std::string& form, const JobContext& job);

private:
    const Graph& m_model;
    std::optional<TemporaryFolder> m_folder;
};

} // namespace qs
