// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/collectives.h"

#include "engine/distribute/packed.h"

#include <bit>

namespace qs {

namespace {

/// The lowest set bit of a rank of the tree; for its root the first power of two that no rank
/// reaches.
int treeSpan(int place, int size)
{
    return place > 0 ? place & -place : int(std::bit_ceil(unsigned(size)));
}

std::string packList(const std::vector<std::string>& parts)
{
    Packer out;
    for (const std::string& part : parts)
        out.add(part);
    return out.take();
}

Result<std::vector<std::string>> unpackList(const std::string& bytes)
{
    std::vector<std::string> parts;
    Unpacker in(bytes);
    while (!in.isAtEnd()) {
        in.get(parts.emplace_back());
        QS_CHECK(in.check());
    }
    return parts;
}

} // namespace

Result<std::string> broadcast(Group& group, const std::string& name, std::string bytes,
                              const JobContext& job, int from)
{
    const int size = group.size(), place = (group.rank() - from + size) % size;
    const auto rankAt = [&](int of) { return (of + from) % size; };
    const int span = treeSpan(place, size);
    if (place > 0) {
        QS_TRY(bytes, group.receive(rankAt(place - span), name, job));
    }
    for (int step = span / 2; step > 0; step /= 2)
        if (place + step < size)
            QS_CHECK(group.send(rankAt(place + step), name, bytes));
    return bytes;
}

Result<std::vector<std::string>> gather(Group& group, const std::string& name, std::string bytes,
                                        const JobContext& job)
{
    std::vector<std::string> parts {std::move(bytes)};
    const int span = treeSpan(group.rank(), group.size());
    for (int step = 1; step < span && group.rank() + step < group.size(); step *= 2) {
        QS_TRY(const std::string message, group.receive(group.rank() + step, name, job));
        QS_TRY(std::vector<std::string> more, unpackList(message));
        for (std::string& part : more)
            parts.push_back(std::move(part));
    }
    if (group.isFirst())
        return parts;
    QS_CHECK(group.send(group.rank() - span, name, packList(parts)));
    return std::vector<std::string>();
}

Result<std::vector<std::string>> gatherEverywhere(Group& group, const std::string& name,
                                                  std::string bytes, const JobContext& job)
{
    QS_TRY(const std::vector<std::string> parts, gather(group, name, std::move(bytes), job));
    QS_TRY(const std::string all, broadcast(group, name + "/all", packList(parts), job));
    return unpackList(all);
}

} // namespace qs
