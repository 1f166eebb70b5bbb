// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/batch_reader.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <algorithm>
#include <semaphore>
#include <set>

using namespace qs;

namespace {

// What happened to a dataset, seen from all threads.
struct Record
{
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::int64_t> begun, read;
    std::set<std::thread::id> threads;
    int alive = 0, mostAlive = 0;

    bool waitUntilRead(std::size_t batches)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(30),
                                [&] { return read.size() >= batches; });
    }
    std::size_t begunSoFar()
    {
        const std::lock_guard lock(mutex);
        return begun.size();
    }
};

// Batches that hold their own number; `gate` lets one read pass for each permit.
class WatchedData : public Dataset
{
public:
    WatchedData(Record& record, std::int64_t count)
        : m_record(record)
        , m_count(count)
    {
    }
    std::int64_t batchCount() const override { return m_count; }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t index) const override
    {
        {
            const std::lock_guard lock(m_record.mutex);
            m_record.begun.push_back(index);
            m_record.threads.insert(std::this_thread::get_id());
            m_record.mostAlive = std::max(m_record.mostAlive, ++m_record.alive);
        }
        if (gate)
            gate->acquire();
        if (index == throwsAt)
            throw std::runtime_error("thrown by batch 2");
        if (index == failsAt)
            return fail(ErrorCode::BadInput, "batch cannot be read");
        auto number = std::make_unique<float>(float(index));
        float* memory = number.get();
        const auto release = [record = &m_record, kept = number.release()](void*) {
            delete kept;
            const std::lock_guard lock(record->mutex);
            --record->alive;
        };
        const at::Tensor tensor = at::from_blob(memory, {1}, release, at::kFloat);
        const std::lock_guard lock(m_record.mutex);
        m_record.read.push_back(index);
        m_record.changed.notify_all();
        return Batch {{tensor}, {}, 1};
    }

    std::counting_semaphore<>* gate = nullptr;
    std::int64_t failsAt = -1, throwsAt = -1;

private:
    Record& m_record;
    std::int64_t m_count;
};

float numberIn(const Batch& batch)
{
    return batch.inputs.at(0).toTensor().item<float>();
}

} // namespace

class TestBatchReader : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void handsOutAllInOrder()
    {
        Record record;
        const WatchedData data(record, 20);
        BatchReader reader(data);
        QCOMPARE(reader.count(), std::int64_t(20));
        for (int i = 0; i < 20; ++i) {
            const auto batch = reader.next();
            QVERIFY(batch);
            QCOMPARE(numberIn(*batch), float(i));
        }
        const auto more = reader.next();
        QVERIFY(!more);
        QCOMPARE(more.error().code, ErrorCode::Internal);
        QCOMPARE(record.read.size(), std::size_t(20));
        QCOMPARE(record.threads.size(), std::size_t(1));
        QVERIFY(!record.threads.contains(std::this_thread::get_id()));
    }

    void mayBeginLater()
    {
        Record record;
        const WatchedData data(record, 5);
        BatchReader reader(data, {}, 3);
        QCOMPARE(reader.count(), std::int64_t(5));
        for (const float number : {3.0f, 4.0f})
            QCOMPARE(numberIn(*reader.next()), number);
        QVERIFY(!reader.next());
        QCOMPARE(record.read, (std::vector<std::int64_t> {3, 4}));
        QCOMPARE(numberIn(*BatchReader(data, {}, 4).next()), 4.0f);
        QVERIFY(!BatchReader(data, {}, 5).next());
    }

    // The caller asks for nothing between the first batch and the moment when the second has been
    // read: only a thread of the reader can have read it.
    void readsOneAheadAndNoMore()
    {
        Record record;
        const WatchedData data(record, 5);
        BatchReader reader(data);
        for (std::size_t i = 0; i < 5; ++i) {
            const auto batch = reader.next();
            QVERIFY(batch);
            const std::size_t ahead = std::min<std::size_t>(i + 2, 5);
            QVERIFY(record.waitUntilRead(ahead));
            QCOMPARE(record.begunSoFar(), ahead);
        }
        QCOMPARE(record.mostAlive, 2);
    }

    void aSingleBatchNeedsNoThread()
    {
        Record record;
        const WatchedData data(record, 1);
        BatchReader reader(data);
        QCOMPARE(record.begunSoFar(), std::size_t(0));
        QVERIFY(reader.next());
        QVERIFY(record.threads.contains(std::this_thread::get_id()));
        QVERIFY(!BatchReader(WatchedData(record, 0)).next());
    }

    void errorsComeInTheirTurn_data()
    {
        QTest::addColumn<bool>("throws");
        QTest::newRow("returned") << false;
        QTest::newRow("thrown") << true;
    }
    void errorsComeInTheirTurn()
    {
        QFETCH(bool, throws);
        Record record;
        WatchedData data(record, 6);
        (throws ? data.throwsAt : data.failsAt) = 2;
        BatchReader reader(data);
        QVERIFY(reader.next());
        QVERIFY(reader.next());
        const auto bad = reader.next();
        QVERIFY(!bad);
        QCOMPARE(QString::fromStdString(bad.error().message),
                 QString(throws ? "thrown by batch 2" : "batch cannot be read"));
        QVERIFY(!reader.next());
        QCOMPARE(record.begunSoFar(), std::size_t(3));
    }

    void aCancelEndsTheWait()
    {
        Record record;
        std::counting_semaphore<> gate(1);
        WatchedData data(record, 4);
        data.gate = &gate;
        std::stop_source stop;
        {
            BatchReader reader(data, JobContext(stop.get_token()));
            QVERIFY(reader.next());
            // The second batch stands before the gate: without the cancel this would wait for ever.
            std::jthread user([&] {
                while (record.begunSoFar() < 2)
                    std::this_thread::yield();
                stop.request_stop();
            });
            const auto batch = reader.next();
            QVERIFY(!batch);
            QCOMPARE(batch.error().code, ErrorCode::Cancelled);
            gate.release();
        }
        QCOMPARE(record.begunSoFar(), std::size_t(2));
        QCOMPARE(record.alive, 0);
    }

    void mayBeLeftEarly()
    {
        Record record;
        {
            const WatchedData data(record, 50);
            BatchReader reader(data);
            QVERIFY(reader.next());
        }
        QVERIFY(record.begunSoFar() <= 2);
        QCOMPARE(record.alive, 0);
    }
};

QTEST_GUILESS_MAIN(TestBatchReader)
#include "tst_batch_reader.moc"
