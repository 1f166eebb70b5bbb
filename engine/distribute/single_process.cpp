// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/group.h"

#include <map>
#include <mutex>

namespace qs {

namespace {

class SingleProcess : public Group
{
public:
    SingleProcess()
        : Group(0, 1, 0)
    {
    }
    Result<void> send(int, const std::string&, std::string) override { return refused(); }
    Result<std::string> receive(int, const std::string&, const JobContext&) override
    {
        return refused();
    }
    Result<std::int64_t> nextTask(const std::string& name) override
    {
        const std::lock_guard lock(m_mutex);
        return m_tasks[name]++;
    }
    Result<void> check() override { return {}; }
    void fail(const Error&) override { }

private:
    static tl::unexpected<Error> refused()
    {
        return ::qs::fail(ErrorCode::Internal, "one process exchanges no messages");
    }
    std::mutex m_mutex;
    std::map<std::string, std::int64_t> m_tasks;
};

} // namespace

Error sequenceNeedsOneProcess()
{
    return makeError(
               ErrorCode::Usage,
               "the batches of a sequence follow each other in time, so one process runs them "
               "all")
        .withHint("start quantscope without torchrun");
}

std::shared_ptr<Group> singleProcess()
{
    return std::make_shared<SingleProcess>();
}

} // namespace qs
