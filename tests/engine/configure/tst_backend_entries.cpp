// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/backend_check.h"
#include "engine/configure/backend/entry_fields.h"
#include "engine/configure/backend/entry_json.h"
#include "engine/configure/backend/fusion_entries.h"
#include "engine/configure/backend/target.h"

#include <QtTest/QtTest>

#include <fstream>

using namespace qs;

namespace {

const std::vector<std::string> kConvNormRelu {"torch.nn.Conv2d", "torch.nn.BatchNorm2d",
                                              "torch.nn.ReLU"};

Backend myBackend()
{
    return *readBackend(QS_SOURCE_DIR "/tests/engine/plan/my_backend.json");
}

bool isSound(const Backend& backend)
{
    const auto problems = checkBackend(backend);
    return std::none_of(problems.begin(), problems.end(), [](const BackendProblem& problem) {
        if (problem.error)
            qWarning("%s", problem.text.c_str());
        return problem.error;
    });
}

} // namespace

/// Entries of a backend as they are edited: field by field, as text, and fusions with their
/// partners.
class TestBackendEntries : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fieldsAndTextSayTheWholeEntry()
    {
        for (const auto& name : shippedBackends()) {
            const Backend backend = *findBackend(name);
            for (const BackendPattern& entry : backend.patterns) {
                const auto again = withFields(entry, fieldsOf(entry), "patterns[0]");
                QVERIFY2(again && *again == entry, entryText(entry).c_str());
                const auto read = parseEntry(entryText(entry), "patterns[0]");
                QVERIFY2(read && *read == entry, entryText(entry).c_str());
            }
        }
    }
    void fieldsAreReadAsAFileIs_data()
    {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("line");
        QTest::newRow("range") << "quantMin"
                               << "12x"
                               << "patterns[2].dtype_configs[0].input_dtype.quant_min_lower_bound: "
                                  "expected an integer, not a string";
        QTest::newRow("dtype") << "dtype"
                               << "quint"
                               << "patterns[2].dtype_configs[0].input_dtype.dtype: unknown dtype";
        QTest::newRow("observation") << "observation"
                                     << "output_share"
                                     << "patterns[2].observation_type: unknown observation type";
        QTest::newRow("pattern") << "pattern"
                                 << "a, b, c, d"
                                 << "patterns[2].pattern: a pattern has one, two or three";
        QTest::newRow("nothing") << "pattern"
                                 << " , "
                                 << "patterns[2].pattern: a pattern has one, two or three";
        QTest::newRow("complex") << "pattern"
                                 << "[\"torch.add\", "
                                 << "patterns[2].pattern_complex_format: not JSON: line 1";
    }
    void fieldsAreReadAsAFileIs()
    {
        QFETCH(QString, field);
        QFETCH(QString, text);
        QFETCH(QString, line);
        const BackendPattern entry = myBackend().patterns[0];
        EntryFields fields = fieldsOf(entry);
        std::map<QString, std::string*> places {{"quantMin", &fields.configs[0].input.quantMin},
                                                {"dtype", &fields.configs[0].input.dtype},
                                                {"observation", &fields.observationType},
                                                {"pattern", &fields.pattern}};
        *places.at(field) = text.toStdString();
        const auto read = withFields(entry, fields, "patterns[2]");
        QVERIFY(!read);
        QVERIFY2(QString::fromStdString(read.error().line()).startsWith(line),
                 read.error().line().c_str());
    }
    void emptyFieldsAreAbsentKeys()
    {
        const BackendPattern entry = myBackend().patterns[0];
        EntryFields fields = fieldsOf(entry);
        fields.configs[0].input.scaleMin = " ";
        fields.configs[0].bias.clear();
        fields.qatModule.clear();
        const auto read = withFields(entry, fields, "patterns[0]");
        QVERIFY(read);
        QVERIFY(!read->dtypeConfigs[0].input.scaleMinLowerBound
                && !read->dtypeConfigs[0].biasDType);
        QVERIFY(read->qatModule.empty() && read->rootModule == "torch.nn.Linear");
    }
    void problemsNameTheirEntry()
    {
        Backend backend = myBackend();
        backend.patterns.erase(backend.patterns.begin() + 2);
        const auto problems = checkBackend(backend);
        QCOMPARE(problems.size(), std::size_t(1));
        QVERIFY(problems[0].error && problems[0].entry == 1);
        QVERIFY(lacksPartner(backend, backend.patterns[1]));
    }
    void aFusionComesWithItsPartner()
    {
        // The quantization entry is there already: the fusion alone is added.
        const Backend before = myBackend();
        QVERIFY(!hasFusion(before, kConvNormRelu));
        const auto fused = withFusion(before, kConvNormRelu);
        QVERIFY(fused && isSound(*fused) && hasFusion(*fused, kConvNormRelu));
        QCOMPARE(fused->patterns.size(), before.patterns.size() + 1);
        QCOMPARE(fusedModuleInEval(fused->patterns.back()),
                 std::string("torch.ao.nn.intrinsic.ConvReLU2d"));
        QVERIFY(fused->patterns.back().dtypeConfigs.empty());
        // Without it both are, with the dtypes that the target takes elsewhere.
        Backend bare = before;
        bare.patterns.resize(1);
        const auto both = withFusion(bare, kConvNormRelu);
        QVERIFY(both && isSound(*both));
        QCOMPARE(both->patterns.size(), std::size_t(3));
        const BackendPattern& partner = both->patterns.back();
        QCOMPARE(partner.pattern, std::vector<std::string> {"torch.ao.nn.intrinsic.ConvReLU2d"});
        QCOMPARE(partner.rootModule, std::string("torch.nn.Conv2d"));
        QCOMPARE(partner.referenceModule, std::string("torch.ao.nn.quantized.reference.Conv2d"));
        QVERIFY(partner.dtypeConfigs == bare.patterns[0].dtypeConfigs);
        // Added twice is added once.
        QCOMPARE(withFusion(*both, kConvNormRelu)->patterns, both->patterns);
    }
    void everyKnownFusionMakesASoundBackend()
    {
        QVERIFY(knownFusions().size() > 20);
        Backend bare = myBackend();
        bare.patterns.resize(1);
        for (const auto& pattern : knownFusions()) {
            const auto fused = withFusion(bare, pattern);
            QVERIFY2(fused && hasFusion(*fused, pattern),
                     fused ? pattern[0].c_str() : fused.error().line().c_str());
            QVERIFY(isSound(*fused));
        }
    }
    void aFileHasThePresetThatItNames()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath("mine.json").toStdString();
        std::ofstream(path) << backendToJson(*findBackend("executorch"));
        QCOMPARE(presetOf(path), std::string("symmetric_qnnpack"));
        QCOMPARE(presetOf("executorch"), std::string("symmetric_qnnpack"));
        QCOMPARE(presetOf("qnnpack"), std::string("qnnpack"));
        QCOMPARE(presetOf("/nowhere/mine.json"), std::string());
    }
    void aPatternThatNobodyFusesIsRefused()
    {
        const auto fused = withFusion(myBackend(), {"torch.nn.Conv2d", "torch.nn.GELU"});
        QVERIFY(!fused && fused.error().code == ErrorCode::NotFound);
        QCOMPARE(fused.error().line(),
                 std::string("no shipped backend fuses (torch.nn.Conv2d, torch.nn.GELU)"));
    }
    void operatorsWithoutWeightsTakeTheTargetsActivations()
    {
        const auto fused = withFusion(myBackend(), {"torch.nn.BatchNorm2d", "torch.nn.ReLU"});
        QVERIFY(fused && isSound(*fused));
        const DTypeConfig& config = fused->patterns.back().dtypeConfigs.at(0);
        QVERIFY(config.input == myBackend().patterns[0].dtypeConfigs[0].input);
        QVERIFY(!config.weight.dtype && !config.biasDType);
    }
};

QTEST_GUILESS_MAIN(TestBackendEntries)
#include "tst_backend_entries.moc"
