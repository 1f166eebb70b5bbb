// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/saved_tensors.h"
#include "engine/io/npz.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

class TestStoredTensor : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;

    static at::Tensor rows(std::int64_t begin, std::int64_t end)
    {
        constexpr std::int64_t kRow = 3 * 65 * 64;
        return at::arange(begin * kRow, end * kRow, at::kFloat).reshape({end - begin, 3, 65, 64});
    }
    std::string path(const QString& name) { return m_folder.filePath(name).toStdString(); }

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(
            QS_PYTHON,
            {QS_SOURCE_DIR "/tests/engine/calibrate/make_stored_arrays.py", m_folder.path()});
        QVERIFY(python.waitForFinished(120000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
    }

    void rowsOfSavedTensors_data()
    {
        QTest::addColumn<QString>("file");
        for (const char* file :
             {"plain.pt", "channels_last.pt", "columns.pt", "slice.pt", "every_second.pt"})
            QTest::newRow(file) << file;
    }
    void rowsOfSavedTensors()
    {
        QFETCH(QString, file);
        const auto saved = SavedTensors::open(path(file));
        QVERIFY2(saved, saved ? "" : saved.error().line().c_str());
        const auto stored = saved->locate(saved->value().toTensor(), "tensor 0");
        QVERIFY2(stored, stored ? "" : stored.error().line().c_str());
        for (const auto& [begin, end] :
             {std::pair(0, 8), std::pair(8, 16), std::pair(192, 200), std::pair(3, 4)}) {
            const auto part = readRows(*stored, begin, end);
            QVERIFY2(part, part ? "" : part.error().line().c_str());
            QVERIFY(part->is_contiguous());
            QVERIFY(part->equal(rows(begin, end)));
        }
        QVERIFY(readWhole(*stored)->equal(rows(0, 200)));
    }

    void callsOfOneStorage()
    {
        const auto saved = SavedTensors::open(path("calls.pt"));
        QVERIFY(saved);
        const auto calls = saved->value().toListRef();
        QCOMPARE(calls.size(), std::size_t(3));
        const at::IValue& second = calls[1];
        const auto stored = saved->locate(second.toTensor(), "tensor 0 of call 1");
        QVERIFY(stored);
        QVERIFY(readWhole(*stored)->equal(rows(60, 120)));
    }

    void rowsOfArrays_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("columns");
        QTest::newRow("stored") << "rows.npz" << false;
        QTest::newRow("deflated") << "rows_packed.npz" << false;
        QTest::newRow("stored, column by column") << "columns.npz" << true;
        QTest::newRow("deflated, column by column") << "columns_packed.npz" << true;
    }
    void rowsOfArrays()
    {
        QFETCH(QString, file);
        QFETCH(bool, columns);
        const auto directory = openNpz(path(file));
        QVERIFY2(directory, directory ? "" : directory.error().line().c_str());
        const NpzPlace& place = directory->arrays.at(0);
        QCOMPARE(place.header.fortranOrder, columns);
        TensorLayout layout {"", place.header.dtype, place.header.shape, {}, 0};
        layout.strides = columns ? std::vector<std::int64_t> {1, 200, 600, 39000}
                                 : std::vector<std::int64_t> {12480, 4160, 64, 1};
        const StoredTensor stored {directory->archive, place.entry, place.start, layout};
        QVERIFY(fitsEntry(stored));
        // Forward, then back to the start, then the end with its checksum.
        for (const auto& [begin, end] : {std::pair(16, 24), std::pair(24, 32), std::pair(0, 8),
                                         std::pair(0, 200), std::pair(192, 200)}) {
            const auto part = readRows(stored, begin, end);
            QVERIFY2(part, part ? "" : part.error().line().c_str());
            QVERIFY(part->equal(rows(begin, end)));
        }
    }

    // A file that is read in order needs no copy; one that is read backwards is copied as far as
    // read.
    void whatIsInflatedIsKeptAsFarAsNeeded()
    {
        const auto copied = [] {
            qint64 bytes = -1;
            for (const QFileInfo& handle :
                 QDir("/proc/self/fd").entryInfoList(QDir::System | QDir::Files))
                if (QFile::symLinkTarget(handle.filePath()).contains("/quantscope-"))
                    bytes = std::max(bytes, QFile(handle.filePath()).size());
            return bytes;
        };
        const auto directory = openNpz(path("noise_packed.npz"));
        QVERIFY2(directory, directory ? "" : directory.error().line().c_str());
        const NpzPlace& place = directory->arrays.at(0);
        const TensorLayout layout {"", place.header.dtype, place.header.shape, {16384, 1}, 0};
        const StoredTensor stored {directory->archive, place.entry, place.start, layout};
        for (int pass = 0; pass < 10; ++pass)
            for (std::int64_t row = 0; row + 8 <= 60; row += 8)
                QVERIFY(readRows(stored, row, row + 8));
        QCOMPARE(copied(), qint64(-1));
        const auto whole = readWhole(stored);
        for (std::int64_t row = 16; row-- > 0;) {
            const auto part = readRows(stored, row, row + 1);
            QVERIFY(part && part->equal(whole->slice(0, row, row + 1)));
        }
        const qint64 rowBytes = 16384 * 4;
        QVERIFY2(copied() > 0 && copied() <= 17 * rowBytes, qPrintable(QString::number(copied())));
        QVERIFY(readRows(stored, 60, 64)->equal(whole->slice(0, 60, 64)));
        QVERIFY(copied() >= 64 * rowBytes);
    }

    // Data that lie column by column are begun again for each batch: no more than a few times.
    void deflatedDataOutOfOrderAreInflatedAFewTimes()
    {
        const auto bytesRead = [] {
            QFile file("/proc/self/io");
            if (!file.open(QIODevice::ReadOnly))
                return qint64(-1);
            return file.readLine().split(' ').last().trimmed().toLongLong(); // "rchar: 123"
        };
        const auto directory = openNpz(path("noise_packed.npz"));
        QVERIFY2(directory, directory ? "" : directory.error().line().c_str());
        const NpzPlace& place = directory->arrays.at(0);
        const TensorLayout layout {"", place.header.dtype, place.header.shape, {16384, 1}, 0};
        const StoredTensor stored {directory->archive, place.entry, place.start, layout};
        const auto whole = readWhole(stored);
        QVERIFY(whole);
        const qint64 before = bytesRead();
        for (std::int64_t row = 64; row-- > 0;) {
            const auto part = readRows(stored, row, row + 1);
            QVERIFY2(part, part ? "" : part.error().line().c_str());
            QVERIFY(part->equal(whole->slice(0, row, row + 1)));
        }
        const qint64 size = QFileInfo(m_folder.filePath("noise_packed.npz")).size();
        if (before < 0)
            QSKIP("this system does not count what is read");
        // Inflating it for each row would read half of it on average, 32 times its size.
        QVERIFY2(bytesRead() - before < 15 * size,
                 qPrintable(QString::number((bytesRead() - before) / size)));
    }

    void aLayoutBeyondItsEntryIsSeen()
    {
        const auto directory = openNpz(path("rows.npz"));
        QVERIFY(directory);
        const NpzPlace& place = directory->arrays.at(0);
        const TensorLayout layout {"", DType::Float32, {201, 12480}, {12480, 1}, 0};
        QVERIFY(!fitsEntry({directory->archive, place.entry, place.start, layout}));
    }

    void damageIsFoundWhenTheEndIsRead()
    {
        for (const char* name : {"rows.npz", "rows_packed.npz"}) {
            QFile file(m_folder.filePath(name));
            QVERIFY(file.open(QIODevice::ReadWrite));
            QVERIFY(file.seek(file.size() / 2));
            const char byte = file.read(1).at(0);
            QVERIFY(file.seek(file.size() / 2));
            file.write(QByteArray(1, char(byte ^ 0x55)));
            file.close();
            const auto directory = openNpz(path(name));
            QVERIFY(directory);
            const NpzPlace& place = directory->arrays.at(0);
            const TensorLayout layout {"", DType::Float32, {200, 12480}, {12480, 1}, 0};
            const StoredTensor stored {directory->archive, place.entry, place.start, layout};
            Error error;
            for (int begin = 0; begin < 200 && error.message.empty(); begin += 8)
                if (auto part = readRows(stored, begin, begin + 8); !part)
                    error = part.error();
            QCOMPARE(error.message, std::string("is truncated or corrupt"));
            QCOMPARE(error.file, path(name));
        }
    }
};

QTEST_GUILESS_MAIN(TestStoredTensor)
#include "tst_stored_tensor.moc"
