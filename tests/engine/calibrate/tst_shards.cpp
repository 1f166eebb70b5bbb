// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_pattern.h"
#include "engine/base/files/file_signature.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/shards/sample_index.h"
#include "engine/graph/graph_edit.h"
#include "engine/io/npy_header.h"
#include "engine/pipeline/keys/data_identity.h"
#include "engine/project/moved_files.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <array>
#include <cstring>

using namespace qs;

namespace {

/// A ustar archive of the members, as POSIX describes it.
class TarFile
{
public:
    TarFile& add(const std::string& name, const std::string& content)
    {
        std::array<char, 512> header {};
        std::memcpy(header.data(), name.data(), name.size());
        std::snprintf(header.data() + 100, 8, "%07o", 0644U);
        std::snprintf(header.data() + 124, 12, "%011zo", content.size());
        std::memcpy(header.data() + 136, "00000000000", 11);
        std::memcpy(header.data() + 148, "        ", 8);
        header[156] = '0';
        std::memcpy(header.data() + 257, "ustar\00000", 8);
        unsigned sum = 0;
        for (const char c : header)
            sum += static_cast<unsigned char>(c);
        std::snprintf(header.data() + 148, 8, "%06o", sum);
        m_bytes.append(header.data(), header.size());
        m_bytes += content;
        m_bytes.append((512 - content.size() % 512) % 512, '\0');
        return *this;
    }
    std::string write(const QString& path) const
    {
        QFile file(path);
        if (file.open(QIODevice::WriteOnly))
            file.write(QByteArray::fromStdString(m_bytes + std::string(1024, '\0')));
        return path.toStdString();
    }

private:
    std::string m_bytes;
};

std::string npy(float first)
{
    std::string content = npyHeaderText(DType::Float32, {2});
    const std::array values {first, first + 0.5F};
    content.append(reinterpret_cast<const char*>(values.data()), sizeof values);
    return content;
}

std::string member(int sample, const char* extension)
{
    return "s" + std::to_string(sample) + "." + extension;
}

/// A model of one input of two values.
Graph pairModel()
{
    GraphEdit edit;
    Node input;
    input.kind = NodeKind::Input;
    input.name = "x";
    ValueType type;
    type.dtype = DType::Float32;
    type.shapeKnown = true;
    type.shape = {{4, "s0", "s0"}, Dim::fixed(2)};
    input.outputs.push_back({"", type});
    edit.insert(input);
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    edit.insert(output);
    return edit.build();
}

std::vector<float> valuesOf(const Batch& batch)
{
    const at::Tensor all = batch.inputs.at(0).toTensor().contiguous().flatten();
    return {all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel()};
}

} // namespace

class TestShards : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::string path(const char* name) const
    {
        return m_folder.filePath(QString::fromLatin1(name)).toStdString();
    }
    /// Samples `begin` to `end`, numbered and labelled.
    std::string shard(const char* name, int begin, int end) const
    {
        TarFile tar;
        for (int i = begin; i < end; ++i)
            tar.add(member(i, "npy"), npy(float(i))).add(member(i, "cls"), std::to_string(i % 3));
        return tar.write(m_folder.filePath(QString::fromLatin1(name)));
    }

private Q_SLOTS:
    void namesOfPatterns_data();
    void namesOfPatterns();
    void starsAreInNaturalOrder();
    void aPatternHasSignatureAndHash();
    void movedShardsAreFound();
    void batchesAreReadAloneInAnyOrder();
    void aBatchReadsItsSamplesOnly();
    void aChangedArchiveIsAnError();
    void partsAreChosenByTheFirstSample();
};

void TestShards::namesOfPatterns_data()
{
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("files");
    const auto row = [](const char* pattern, const char* files) {
        QTest::newRow(pattern) << QString::fromLatin1(pattern) << QString::fromLatin1(files);
    };
    row("a.tar", "a.tar");
    row("a-{0008..0011}.tar", "a-0008.tar a-0009.tar a-0010.tar a-0011.tar");
    row("a-{8..11}.tar", "a-8.tar a-9.tar a-10.tar a-11.tar");
    row("{a,b}-{0..1}.tar", "a-0.tar a-1.tar b-0.tar b-1.tar");
    row("{a,}.tar", "a.tar .tar");
    row("a-{3..1}.tar", "a-{3..1}.tar");
    row("a-{x..y}.tar", "a-{x..y}.tar");
    row("a-{0..99999999}.tar", "a-{0..99999999}.tar");
    row("a-{0..999}{0..999}.tar", "a-{0..999}{0..999}.tar");
    row("a{.tar", "a{.tar");
    row("a{}.tar", "a{}.tar");
    row("x/{..,a}/b.tar", "x/{..,a}/b.tar");
    row("x/.{.,a}/b.tar", "x/.{.,a}/b.tar");
    row("x/{a/../../b,c}.tar", "x/{a/../../b,c}.tar");
}

void TestShards::namesOfPatterns()
{
    QFETCH(QString, pattern);
    QFETCH(QString, files);
    QStringList named;
    for (const std::string& file : namedFiles(pattern.toStdString()))
        named << QString::fromStdString(file);
    QCOMPARE(named.join(' '), files);
}

void TestShards::starsAreInNaturalOrder()
{
    for (const char* name : {"n-10.tar", "n-9.tar", "n-1.tar", ".n-2.tar", "n-3.tar.part"})
        shard(name, 0, 1);
    QCOMPARE(namedFiles(path("n-*.tar")),
             (std::vector {path("n-1.tar"), path("n-9.tar"), path("n-10.tar")}));
    QCOMPARE(namedFiles(path("q-*.tar")), std::vector {path("q-*.tar")});
}

void TestShards::aPatternHasSignatureAndHash()
{
    shard("h-0.tar", 0, 2);
    shard("h-1.tar", 2, 4);
    const std::string pattern = path("h-{0..1}.tar");
    const std::string before = fileSignature(pattern);
    const auto hash = ContentHashes().of(pattern, {}, {});
    QVERIFY(hash);
    shard("h-1.tar", 2, 5);
    QVERIFY(fileSignature(pattern) != before);
    QVERIFY(*ContentHashes().of(pattern, {}, {}) != *hash);
    shard("h-1.tar", 2, 4);
    QCOMPARE(*ContentHashes().of(pattern, {}, {}), *hash);
    QVERIFY(!ContentHashes().of(path("h-{0..2}.tar"), {}, {}));
}

void TestShards::movedShardsAreFound()
{
    shard("m-0.tar", 0, 1);
    const std::string project = path("work.project.json"), pattern = path("m-{0..1}.tar");
    QCOMPARE(findData(pattern, project), pattern);
    QCOMPARE(findData("/nowhere/m-{0..1}.tar", project), pattern);
    QCOMPARE(findData("/nowhere/m-*.tar", project), path("m-*.tar"));
    QCOMPARE(findData("/nowhere/k-{0..1}.tar", project), std::string());
}

void TestShards::batchesAreReadAloneInAnyOrder()
{
    shard("b-0.tar", 0, 5);
    shard("b-1.tar", 5, 6);
    shard("b-2.tar", 6, 10);
    const Graph graph = pairModel();
    DatasetOptions options;
    options.batchSize = 4; // the second batch is in three archives
    const auto data = openDataset(path("b-{0..2}.tar"), graph, options);
    QVERIFY2(data, data ? "" : data.error().line().c_str());
    QCOMPARE((*data)->batchCount(), 3);
    QVERIFY((*data)->hasLabels());
    for (const std::int64_t index : {2, 0, 1, 2}) {
        const auto batch = (*data)->batch(index);
        QVERIFY2(batch, batch ? "" : batch.error().line().c_str());
        QCOMPARE(batch->samples, index == 2 ? 2 : 4);
        QCOMPARE(*(*data)->samplesIn(index), batch->samples);
        std::vector<float> wanted;
        for (std::int64_t i = 0; i < batch->samples; ++i) {
            wanted.push_back(float(index * 4 + i));
            wanted.push_back(float(index * 4 + i) + 0.5F);
            QCOMPARE(batch->labels[i].item<std::int64_t>(), (index * 4 + i) % 3);
        }
        QCOMPARE(valuesOf(*batch), wanted);
    }
}

void TestShards::aBatchReadsItsSamplesOnly()
{
    TarFile tar;
    for (int i = 0; i < 6; ++i)
        tar.add(member(i, "npy"), i == 3 ? "no array" : npy(float(i)));
    const std::string file = tar.write(m_folder.filePath(QStringLiteral("alone.tar")));
    const Graph graph = pairModel();
    DatasetOptions options;
    options.batchSize = 2;
    const auto data = openDataset(file, graph, options);
    QVERIFY(data);
    QVERIFY((*data)->batch(2));
    QVERIFY((*data)->batch(0));
    const auto bad = (*data)->batch(1);
    QVERIFY(!bad);
    QCOMPARE(bad.error().line(), file + ": member 's3.npy' is not an .npy file");
}

void TestShards::aChangedArchiveIsAnError()
{
    const std::string file = shard("short.tar", 0, 8);
    const Graph graph = pairModel();
    const auto data = openDataset(file, graph, {});
    QVERIFY(data);
    QVERIFY(QFile::resize(QString::fromStdString(file), 3000));
    const auto bad = (*data)->batch(0);
    QVERIFY(!bad);
    QVERIFY2(bad.error().line().find("was changed while it was read") != std::string::npos,
             bad.error().line().c_str());
}

void TestShards::partsAreChosenByTheFirstSample()
{
    using Names = std::vector<std::string>;
    const Names one {"x"}, two {"x", "y"};
    const auto extensions = [](const Names& given, const Names& inputs) {
        const auto parts = partsOf(given, inputs);
        return parts ? parts->extensions : Names();
    };
    QCOMPARE(extensions({"cls", "npy"}, one), Names {"npy"});
    QCOMPARE(extensions({"x.npy", "jpg"}, one), Names {"x.npy"});
    QCOMPARE(extensions({"npy", "jpg"}, one), Names {""});
    QCOMPARE(extensions({"y.npy", "x.npy"}, two), (Names {"x.npy", "y.npy"}));
    QCOMPARE(extensions({"txt", "y.npy"}, one), Names());
    QVERIFY(!partsOf({"txt", "cls"}, one));
    QVERIFY(partsOf({"webp"}, one)->isImage);
}

QTEST_GUILESS_MAIN(TestShards)
#include "tst_shards.moc"
