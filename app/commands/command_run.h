// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/text/model_words.h"
#include "engine/base/job_context.h"
#include "engine/distribute/group.h"

namespace qs {

/// The job of the one command that the program runs, and its global options. Borrows the
/// words.
class CommandRun : public JobContext
{
public:
    CommandRun(JobContext job, bool readsOutside, ModelWords& words, std::shared_ptr<Group> group)
        : JobContext(std::move(job))
        , m_readsOutside(readsOutside)
        , m_words(words)
        , m_group(std::move(group))
    {
    }
    /// `--outside`: recipes and projects may name files outside their folders.
    bool readsOutside() const { return m_readsOutside; }
    /// Names of nodes of the models that the command has opened so far.
    ModelWords& words() const { return m_words; }
    /// The processes that run this command together. Rank 0 alone prints and writes.
    const std::shared_ptr<Group>& group() const { return m_group; }

private:
    bool m_readsOutside;
    ModelWords& m_words;
    std::shared_ptr<Group> m_group;
};

} // namespace qs
