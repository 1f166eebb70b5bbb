// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/distribute/rank_environment.h"
#include "engine/distribute/relay.h"
#include "engine/distribute/same_run.h"
#include "tests/support/thread_group.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <bit>
#include <cstdlib>
#include <fstream>
#include <random>

using namespace qs;

namespace {

constexpr int kSlots = 5;

/// A number whose sums depend on the order of adding.
float term(std::int64_t batch, int slot)
{
    std::mt19937 random(unsigned(batch * 31 + slot));
    return std::ldexp(float(random() % 1000003), int(random() % 24) - 12);
}

/// Adds the terms of all batches in order, as one process does.
std::vector<float> serialSums(std::int64_t first, std::int64_t end)
{
    std::vector<float> sums(kSlots, 1.0f);
    for (std::int64_t batch = first; batch < end; ++batch)
        for (int slot = 0; slot < kSlots; ++slot)
            sums[std::size_t(slot)] += term(batch, slot);
    return sums;
}

/// The same on the ranks. Batch `bad` fails, if it is one, before the slot `badSlot`; a later batch
/// of each rank as well.
Result<std::vector<float>> relayedSums(Group& group, std::int64_t first, std::int64_t end,
                                       std::int64_t bad = -1, int badSlot = 0)
{
    Relay relay(group, group.newName("sum"), first, end);
    std::vector<float> sums(kSlots, 1.0f);
    const auto run = [&]() -> Result<void> {
        for (std::int64_t batch = relay.firstOwn(); batch < end; batch += relay.stride()) {
            relay.begin(batch);
            for (int slot = 0; slot < kSlots; ++slot) {
                if (bad >= 0 && batch >= bad && slot == badSlot)
                    return fail(ErrorCode::Numeric, "batch " + std::to_string(batch));
                QS_TRY(const auto before, relay.take(Relay::Slot(slot), {}));
                float& sum = sums[std::size_t(slot)];
                if (before)
                    Unpacker(*before).get(sum);
                sum += term(batch, slot);
                QS_CHECK(relay.pass(Relay::Slot(slot), Packer().add(sum).take()));
            }
            QS_CHECK(relay.end());
        }
        return {};
    };
    const auto done = run();
    QS_TRY(const Relay::States states, relay.finish(done ? nullptr : &done.error(), {}, "detail"));
    for (const auto& [slot, state] : states)
        Unpacker(state).get(sums[slot]);
    return sums;
}

void setVariables(const std::vector<std::pair<const char*, const char*>>& variables)
{
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"})
        unsetenv(name);
    for (const auto& [name, value] : variables)
        setenv(name, value, 1);
}

} // namespace

class TestDistribute : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void gathersAndBroadcastsAlongATree()
    {
        for (int size = 1; size <= 9; ++size) {
            MessageBoard board(size);
            runRanks(board, size, [&](Group& group) {
                const std::string own = "r" + std::to_string(group.rank());
                for (int from = 0; from < size; ++from) {
                    const auto got = broadcast(group, group.newName("b"), own, {}, from);
                    QCOMPARE(got.value(), "r" + std::to_string(from));
                }
                const auto all = gatherEverywhere(group, group.newName("g"), own, {}).value();
                QCOMPARE(int(all.size()), size);
                for (int rank = 0; rank < size; ++rank)
                    QCOMPARE(all[std::size_t(rank)], "r" + std::to_string(rank));
            });
            QVERIFY(board.isEmpty());
        }
    }

    /// No rank reads more messages than the tree is deep.
    void treesAreShallow()
    {
        for (const int size : {2, 16, 100}) {
            MessageBoard board(size);
            runRanks(board, size, [&](Group& group) {
                QVERIFY(gather(group, "g", std::to_string(group.rank()), {}).has_value());
            });
            QCOMPARE(board.messages(0), int(std::bit_width(unsigned(size - 1))));
        }
    }

    void relayEqualsOneProcess_data()
    {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("end");
        for (int size = 1; size <= 5; ++size)
            for (const auto& [first, end] : {std::pair(0, 1), {0, 3}, {0, 13}, {4, 11}, {7, 8}})
                QTest::addRow("%d ranks, batches %d to %d", size, first, end)
                    << size << first << end;
    }
    void relayEqualsOneProcess()
    {
        QFETCH(int, size);
        QFETCH(int, first);
        QFETCH(int, end);
        const std::vector<float> expected = serialSums(first, end);
        MessageBoard board(size);
        runRanks(board, size, [&](Group& group) {
            const auto sums = relayedSums(group, first, end);
            QVERIFY(sums.has_value());
            QCOMPARE(*sums, expected); // to the bit
        });
        QVERIFY(board.isEmpty());
    }

    /// On every rank the failure is that of the earliest batch, as in one process.
    void earliestFailureWins()
    {
        for (int size = 1; size <= 4; ++size)
            for (std::int64_t bad = 0; bad < 9; ++bad) {
                MessageBoard board(size);
                runRanks(board, size, [&](Group& group) {
                    const auto sums = relayedSums(group, 0, 9, bad, int(bad % kSlots));
                    QVERIFY(!sums);
                    QCOMPARE(sums.error().message, "batch " + std::to_string(bad));
                    QCOMPARE(sums.error().code, ErrorCode::Numeric);
                });
            }
    }

    /// Each task is taken once, whoever is faster.
    void tasksAreTakenOnce()
    {
        MessageBoard board(3);
        runRanks(board, 3, [&](Group& group) {
            Packer own;
            for (std::int64_t task = group.nextTask("t").value(); task < 40;
                 task = group.nextTask("t").value())
                own.add(task);
            const auto all = gatherEverywhere(group, "taken", own.take(), {}).value();
            std::vector<int> seen(40);
            for (const std::string& bytes : all)
                for (Unpacker in(bytes); !in.isAtEnd();) {
                    std::int64_t task = 0;
                    in.get(task);
                    ++seen[std::size_t(task)];
                }
            QCOMPARE(seen, std::vector<int>(40, 1));
            QCOMPARE(group.nextTask("other").value() < 3, true);
        });
    }

    /// A rank that fails between batches returns at once, and ends the others by `Group::fail`.
    void failuresBetweenBatchesEndTheGroup()
    {
        MessageBoard board(2);
        runRanks(board, 2, [&](Group& group) {
            Relay relay(group, "between", 0, 8);
            const auto run = [&]() -> Result<void> {
                for (std::int64_t batch = relay.firstOwn(); batch < 8; batch += 2) {
                    relay.begin(batch);
                    QS_CHECK(relay.take(1, {}));
                    QS_CHECK(relay.pass(1, "state"));
                    QS_CHECK(relay.end());
                    if (batch == 2)
                        return fail(ErrorCode::Io, "the disk is full");
                }
                return {};
            };
            const auto done = run();
            const auto states = relay.finish(done ? nullptr : &done.error(), {});
            QVERIFY(!states);
            group.fail(states.error());
            QCOMPARE(states.error().message, std::string("the disk is full"));
        });
    }

    void differencesNameBothRanks()
    {
        MessageBoard board(3);
        runRanks(board, 3, [&](Group& group) {
            const bool isOther = group.rank() == 2;
            const auto same = checkSameRun(
                group, {{"models", "a"}, {"recipes", isOther ? "b" : "c"}, {"data", "d"}}, {});
            QVERIFY(!same);
            const std::string& line = same.error().message;
            QVERIFY2(line.starts_with("rank 0 on "), line.c_str());
            QVERIFY(line.find("(c) and rank 2 on ") != std::string::npos);
            QVERIFY(line.ends_with("(b) have different recipes"));
        });
        MessageBoard equal(3);
        runRanks(equal, 3, [&](Group& group) {
            QVERIFY(checkSameRun(group, {{"models", "a"}}, {}).has_value());
        });
    }

    void marksDependOnContentAlone()
    {
        const QTemporaryDir folder;
        const auto write = [&](const char* name, std::size_t size, char last) {
            const std::string path = folder.filePath(name).toStdString();
            std::ofstream(path, std::ios::binary) << std::string(size - 1, 'x') << last;
            return path;
        };
        const std::string one = write("one", 3'000'000, 'a');
        QCOMPARE(contentMark(one), contentMark(write("same", 3'000'000, 'a')));
        QVERIFY(contentMark(one) != contentMark(write("end", 3'000'000, 'b')));
        QVERIFY(contentMark(one) != contentMark(write("longer", 3'000'001, 'a')));
        QCOMPARE(contentMark("sample"), std::string());
        QVERIFY(!contentMark(folder.path().toStdString()).empty());
    }

    void readsTheEnvironment()
    {
        setVariables({});
        QVERIFY(!rankEnvironment().value());
        setVariables({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
        QVERIFY(!rankEnvironment().value());
        setVariables(
            {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "29"}});
        const auto found = rankEnvironment().value();
        QVERIFY(found.has_value());
        QCOMPARE(found->rank, 1);
        QCOMPARE(found->size, 2);
        QCOMPARE(found->host, std::string("h"));
        QCOMPARE(int(found->port), 29);
        setVariables({});
    }

    void refusesABadEnvironment_data()
    {
        QTest::addColumn<QByteArray>("rank");
        QTest::addColumn<QByteArray>("port");
        QTest::addColumn<QByteArray>("host");
        QTest::addColumn<QByteArray>("named");
        QTest::addRow("rank too high")
            << QByteArray("2") << QByteArray("29") << QByteArray("h") << QByteArray("RANK='2'");
        QTest::addRow("no number")
            << QByteArray("one") << QByteArray("29") << QByteArray("h") << QByteArray("RANK='one'");
        QTest::addRow("bad port") << QByteArray("0") << QByteArray("70000") << QByteArray("h")
                                  << QByteArray("MASTER_PORT='70000'");
        QTest::addRow("no host") << QByteArray("0") << QByteArray("29") << QByteArray("")
                                 << QByteArray("MASTER_ADDR");
    }
    void refusesABadEnvironment()
    {
        QFETCH(QByteArray, rank);
        QFETCH(QByteArray, port);
        QFETCH(QByteArray, host);
        QFETCH(QByteArray, named);
        setVariables({{"RANK", rank.constData()},
                      {"WORLD_SIZE", "2"},
                      {"MASTER_ADDR", host.constData()},
                      {"MASTER_PORT", port.constData()}});
        const auto found = rankEnvironment();
        QVERIFY(!found);
        QCOMPARE(found.error().code, ErrorCode::Usage);
        QVERIFY2(found.error().message.find(named.toStdString()) != std::string::npos,
                 found.error().message.c_str());
        setVariables({});
    }
};

QTEST_APPLESS_MAIN(TestDistribute)
#include "tst_distribute.moc"
