// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/text/model_words.h"
#include "engine/base/job_context.h"

namespace qs {

/// The job of the one command that the program runs, and its global options. Borrows the
/// words.
class CommandRun : public JobContext
{
public:
    CommandRun(JobContext job, bool readsOutside, ModelWords& words)
        : JobContext(std::move(job))
        , m_readsOutside(readsOutside)
        , m_words(words)
    {
    }
    /// `--outside`: recipes and projects may name files outside their folders.
    bool readsOutside() const { return m_readsOutside; }
    /// Names of nodes of the models that the command has opened so far.
    ModelWords& words() const { return m_words; }

private:
    bool m_readsOutside;
    ModelWords& m_words;
};

} // namespace qs
