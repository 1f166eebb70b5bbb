// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observations.h"
#include "engine/io/npz.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cstring>

using namespace qs;

namespace {

// Runs Python with `code`; {} in the code stands for the folder. Returns its output.
QByteArray python(const QString& code)
{
    QProcess process;
    process.start(QS_PYTHON, {"-c", "import numpy as np\n" + code});
    process.waitForFinished(120000);
    return process.exitCode() == 0 ? process.readAllStandardOutput().trimmed()
                                   : process.readAllStandardError();
}

const NpyArray& named(const NpzContent& content, const std::string& name)
{
    for (const auto& array : content.arrays)
        if (array.name == name)
            return array;
    qFatal("no array %s", name.c_str());
}

} // namespace

class TestNpz : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::string path(const char* name) { return m_folder.filePath(name).toStdString(); }
    QString quoted(const char* name) { return "'" + m_folder.filePath(name) + "'"; }

private Q_SLOTS:
    void readsWhatNumpyWrites()
    {
        python("np.savez_compressed(" + quoted("a.npz")
               + ", x=np.arange(12,dtype='f4').reshape(3,4), i=np.arange(5), s=np.float64(2.5),"
                 " b=np.array([True,False]), "
                 "f=np.asfortranarray(np.arange(6,dtype='i4').reshape(2,3)),"
                 " e=np.zeros((0,3),'f2'))");
        const auto content = readNpz(path("a.npz"));
        QVERIFY2(content, content ? "" : content.error().line().c_str());
        QCOMPARE(content->arrays.size(), std::size_t(6));
        QCOMPARE(content->arrays[0].name, std::string("x"));
        const NpyArray& x = named(*content, "x");
        QCOMPARE(x.dtype, DType::Float32);
        QCOMPARE(x.shape, (std::vector<std::int64_t> {3, 4}));
        float last = 0;
        std::memcpy(&last, x.bytes.data() + 11 * sizeof last, sizeof last);
        QCOMPARE(last, 11.0f);
        QCOMPARE(named(*content, "i").dtype, DType::Int64);
        QVERIFY(named(*content, "s").shape.empty());
        QCOMPARE(named(*content, "b").dtype, DType::Bool);
        QCOMPARE(named(*content, "e").elements(), std::int64_t(0));
        std::int32_t f[6];
        std::memcpy(f, named(*content, "f").bytes.data(), sizeof f);
        for (int i = 0; i < 6; ++i)
            QCOMPARE(f[i], i);
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("objects") << "np.savez(F, x=np.array([{}, 1], dtype=object))"
                                 << "array 'x' is an object array (a pickle), which is never read";
        QTest::newRow("text") << "np.savez(F, x=np.array(['a']))"
                              << "array 'x' has type";
        QTest::newRow("big-endian") << "np.savez(F, x=np.zeros(3, '>f4'))"
                                    << "big-endian";
        QTest::newRow("records") << "np.savez(F, x=np.zeros(3, [('a','f4')]))"
                                 << "structured type";
        QTest::newRow("no zip") << "open(F,'wb').write(b'hello world, no zip here')"
                                << "not a readable .npz file";
        QTest::newRow("other zip") << "import zipfile; zipfile.ZipFile(F,'w').writestr('a.txt','x')"
                                   << "not an array";
        QTest::newRow("truncated") << "np.savez(F, x=np.zeros(3000)); d=open(F,'rb').read();"
                                      " open(F,'wb').write(d[:1000])"
                                   << "not a readable .npz file";
        QTest::newRow("flipped")
            << "np.savez_compressed(F, x=np.random.rand(3000)); d=bytearray(open(F,'rb').read());"
               " d[5000]^=0xff; open(F,'wb').write(d)"
            << "truncated or corrupt";
        QTest::newRow("bad shape")
            << "import zipfile; h=b\"{'descr': '<f4', 'fortran_order': False, 'shape':"
               " (99999999999,), }\\n\"; zipfile.ZipFile(F,'w').writestr('x.npy',"
               " b'\\x93NUMPY\\x01\\x00'+len(h).to_bytes(2,'little')+h)"
            << "truncated";
        QTest::newRow("missing") << "pass"
                                 << "no such file";
    }
    void refuses()
    {
        QFETCH(QString, code);
        QFETCH(QString, wanted);
        const QString file = m_folder.filePath(QString(QTest::currentDataTag()) + ".npz");
        const QByteArray said = python("F='" + file + "'\n" + code);
        QVERIFY2(!said.contains("Traceback"), said.constData());
        const auto content = readNpz(file.toStdString());
        QVERIFY(!content);
        const QString line = QString::fromStdString(content.error().line());
        QVERIFY2(line.contains(wanted), qPrintable(line));
        QVERIFY(line.contains(file) && !line.contains('\n'));
    }

    void numpyReadsObservations()
    {
        Observations observations;
        observations.batches = 2;
        ObserverStats stats;
        stats.id = ObserverId(3);
        stats.count = 7;
        stats.min = -1.5f;
        stats.max = 2;
        stats.batchMin = {-1, -1.5f};
        stats.batchMax = {2, 1};
        stats.exact = {-1.5f, 2, {1, 2, 4}};
        observations.observers.push_back(stats);
        QVERIFY(writeObservations(observations, path("o.npz")));
        QCOMPARE(python("d=np.load(" + quoted("o.npz")
                        + "); print(d['batches'], d['obs_3/min'], d['obs_3/count'].dtype,"
                          " d['obs_3/batch_min'].tolist(), d['obs_3/histogram/counts'].tolist(),"
                          " d['obs_3/histogram/range'].tolist())"),
                 QByteArray("2 -1.5 int64 [-1.0, -1.5] [1.0, 2.0, 4.0] [-1.5, 2.0]"));
        QVERIFY(observations.tryGet(ObserverId(3)) != nullptr);
        QVERIFY(observations.tryGet(ObserverId(4)) == nullptr);
    }

    void writingFailsCleanly()
    {
        const auto done = writeObservations({}, path("none/o.npz"));
        QVERIFY(!done);
        QCOMPARE(done.error().code, ErrorCode::Io);
        QVERIFY(!QFileInfo::exists(m_folder.filePath("none")));
    }
};

QTEST_GUILESS_MAIN(TestNpz)
#include "tst_npz.moc"
