// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/relay.h"

#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"

namespace qs {

namespace {

constexpr std::chrono::milliseconds kLongestDelay {10};

enum class RelayPart : std::uint8_t
{
    More,
    End,
    Failed ///< the batch, or one before it
};

void packStates(Packer& out, const Relay::States& states)
{
    out.add(std::uint64_t(states.size()));
    for (const auto& [slot, state] : states)
        out.add(slot).add(state);
}

Result<void> unpackStates(Unpacker& in, Relay::States& into)
{
    std::uint64_t count = 0;
    in.get(count);
    QS_CHECK(in.check());
    for (std::uint64_t i = 0; i < count; ++i) {
        Relay::Slot slot = 0;
        std::string state;
        in.get(slot).get(state);
        QS_CHECK(in.check());
        into.insert_or_assign(slot, std::move(state));
    }
    return {};
}

} // namespace

std::string packError(const Error& error)
{
    Packer out;
    out.add(error.code);
    for (const std::string* text : {&error.message, &error.file, &error.node, &error.hint})
        out.add(*text);
    return out.take();
}

Result<Error> unpackError(const std::string& bytes)
{
    Error error;
    Unpacker in(bytes);
    in.get(error.code);
    for (std::string* text : {&error.message, &error.file, &error.node, &error.hint})
        in.get(*text);
    QS_CHECK(in.check());
    return error;
}

Relay::Relay(Group& group, std::string name, std::int64_t first, std::int64_t end)
    : m_group(group)
    , m_name(std::move(name))
    , m_first(first)
    , m_end(end)
{
}

std::int64_t Relay::firstOwn() const
{
    const std::int64_t size = m_group.size();
    return m_first + ((m_group.rank() - m_first) % size + size) % size;
}

std::string Relay::nameOf(std::int64_t batch, std::int64_t part) const
{
    return m_name + "/" + std::to_string(batch) + "/" + std::to_string(part);
}

void Relay::begin(std::int64_t batch)
{
    m_batch = batch;
    m_received.clear();
    m_partsReceived = m_partsSent = 0;
    m_isAllReceived = batch == m_first;
    m_isEnded = false;
}

Result<std::optional<std::string>> Relay::take(Slot slot, const JobContext& job)
{
    if (!isActive() || m_batch == m_first)
        return std::nullopt;
    for (;;) {
        if (auto found = m_received.extract(slot))
            return std::move(found.mapped());
        if (m_isAllReceived)
            return fail(ErrorCode::Internal, "a state was not passed on by the batch before");
        QS_CHECK(flush(false)); // whoever waits for it may be the one that this rank waits for
        QS_CHECK(receivePart(job));
    }
}

Result<void> Relay::receivePart(const JobContext& job)
{
    const int from = int((m_batch - 1) % m_group.size());
    QS_TRY(const std::string message,
           m_group.receive(from, nameOf(m_batch - 1, m_partsReceived++), job));
    Unpacker in(message);
    RelayPart kind = RelayPart::More;
    in.get(kind);
    m_isAllReceived = kind != RelayPart::More;
    if (kind != RelayPart::Failed)
        return unpackStates(in, m_received);
    std::string text;
    in.get(text).get(m_detail);
    QS_CHECK(in.check());
    QS_TRY(m_failure, unpackError(text));
    return fail(*m_failure);
}

Result<void> Relay::pass(Slot slot, std::string state)
{
    if (!isActive())
        return {};
    const auto now = std::chrono::steady_clock::now();
    if (m_batch + 1 == m_end) {
        m_last.insert_or_assign(slot, std::move(state));
        return {};
    }
    if (m_outgoing.empty())
        m_outgoingSince = now;
    m_outgoing.insert_or_assign(slot, std::move(state));
    return now - m_outgoingSince >= kLongestDelay ? flush(false) : Result<void>();
}

Result<void> Relay::flush(bool isEnd)
{
    if ((m_outgoing.empty() && !isEnd) || m_batch + 1 >= m_end)
        return {};
    Packer out;
    out.add(isEnd ? RelayPart::End : RelayPart::More);
    packStates(out, m_outgoing);
    m_outgoing.clear();
    return m_group.send(int((m_batch + 1) % m_group.size()), nameOf(m_batch, m_partsSent++),
                        out.take());
}

Result<void> Relay::end()
{
    m_isEnded = true;
    return isActive() ? flush(true) : Result<void>();
}

/// Reads what the batch before still sends: its failure comes first.
Result<void> Relay::drain(const JobContext& job)
{
    while (!m_isAllReceived)
        QS_CHECK(receivePart(job));
    return {};
}

Result<Relay::States> Relay::finish(const Error* failure, const JobContext& job,
                                    const std::string& detail)
{
    if (!isActive())
        return failure ? Result<States>(fail(*failure)) : States();
    if (failure && (m_isEnded || failure->code == ErrorCode::Cancelled))
        return fail(*failure);
    if (failure && !m_failure) {
        const auto before = drain(job);
        if (!before && !m_failure) // the group failed
            return fail(before.error());
        if (!m_failure) {
            m_failure = *failure;
            m_detail = detail;
        }
    }
    if (m_failure && m_batch + 1 < m_end) {
        Packer out;
        out.add(RelayPart::Failed).add(packError(*m_failure)).add(m_detail);
        QS_CHECK(m_group.send(int((m_batch + 1) % m_group.size()), nameOf(m_batch, m_partsSent++),
                              out.take()));
    }
    const int last = int((std::max(m_end, std::int64_t(1)) - 1) % m_group.size());
    Packer out;
    out.add(m_failure.has_value());
    out.add(m_failure ? packError(*m_failure) : std::string()).add(m_detail);
    packStates(out, m_last);
    QS_TRY(const std::string all, broadcast(m_group, m_name + "/end", out.take(), job, last));
    Unpacker in(all);
    bool hasFailed = false;
    std::string text;
    in.get(hasFailed).get(text).get(m_detail);
    QS_CHECK(in.check());
    if (hasFailed) {
        QS_TRY(Error error, unpackError(text));
        return fail(std::move(error));
    }
    States states;
    QS_CHECK(unpackStates(in, states));
    return states;
}

} // namespace qs
