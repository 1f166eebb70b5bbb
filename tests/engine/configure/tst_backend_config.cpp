// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend_config.h"

#include <QtTest/QtTest>

#include <fstream>

using namespace qs;

namespace {

std::string backendText(const std::string& patterns)
{
    return R"({"format": "quantscope.backend", "version": 1, "name": "mine", "patterns": [)"
        + patterns + "]}";
}

std::string errorOf(const std::string& patterns)
{
    const auto backend = parseBackend(backendText(patterns), "b.json");
    return backend ? "" : backend.error().line();
}

QString problemsOf(const std::string& patterns)
{
    const auto backend = parseBackend(backendText(patterns), "b.json");
    if (!backend)
        return QString::fromStdString("unreadable: " + backend.error().line());
    QStringList lines;
    for (const auto& line : checkBackend(*backend))
        lines << QString::fromStdString(line);
    return lines.join("\n");
}

} // namespace

class TestBackendConfig : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsEveryShippedBackend()
    {
        const auto names = shippedBackends();
        QVERIFY(names.size() >= 7);
        for (const auto& name : names) {
            const auto backend = findBackend(name);
            QVERIFY2(backend.has_value(), name.c_str());
            QCOMPARE(backend->name, name);
            QVERIFY(backend->patterns.size() > 50);
            const auto again = parseBackend(backendToJson(*backend), name);
            QVERIFY(again.has_value());
            QVERIFY2(again->patterns == backend->patterns, name.c_str());
            QCOMPARE(backendToJson(*again), backendToJson(*backend));
        }
    }
    void environmentWins()
    {
        QTemporaryDir folder;
        QDir(folder.path()).mkdir("backends");
        std::ofstream(folder.filePath("backends/mine.json").toStdString()) << backendText("");
        qputenv("QUANTSCOPE_RESOURCES", folder.path().toUtf8());
        const auto names = shippedBackends();
        qunsetenv("QUANTSCOPE_RESOURCES");
        QCOMPARE(names.size(), std::size_t(1));
        QCOMPARE(names[0], std::string("mine"));
    }
    void findsByNameOrPath()
    {
        const auto unknown = findBackend("x68");
        QVERIFY(!unknown);
        QVERIFY(unknown.error().code == ErrorCode::NotFound);
        QVERIFY(QString::fromStdString(unknown.error().line()).contains("did you mean 'x86'?"));
        const auto missing = findBackend("/nowhere/mine.json");
        QVERIFY(!missing);
        QVERIFY(QString::fromStdString(missing.error().line()).contains("/nowhere/mine.json"));
    }
    void refuses_data()
    {
        QTest::addColumn<QString>("entry");
        QTest::addColumn<QString>("words");
        QTest::newRow("key") << R"({"pattern": ["a"], "observation_typ": "x"})"
                             << "observation_type";
        QTest::newRow("observation") << R"({"pattern": ["a"], "observation_type": "output_share"})"
                                     << "patterns[0].observation_type";
        QTest::newRow("dtype")
            << R"({"pattern": ["a"], "dtype_configs": [{"input_dtype": "uint9"}]})"
            << "uint9";
        QTest::newRow("bound")
            << R"({"pattern": ["a"], "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min": 0}}]})"
            << "quant_min_lower_bound";
        QTest::newRow("long") << R"({"pattern": ["a", "b", "c", "d"]})"
                              << "not 4";
        QTest::newRow("none") << R"({"root_module": "a"})"
                              << "pattern_complex_format";
    }
    void refuses()
    {
        QFETCH(QString, entry);
        QFETCH(QString, words);
        const QString line = QString::fromStdString(errorOf(entry.toStdString()));
        QVERIFY2(line.contains(words) && line.startsWith("b.json"), qPrintable(line));
    }
    void checksWhatWouldSurprise()
    {
        const QString lonely = problemsOf(
            R"({"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "fused_module": "torch.ao.nn.intrinsic.ConvReLU2d", "fuser_method": "sequential"})");
        QVERIFY2(lonely.contains("has no entry with dtype_configs"), qPrintable(lonely));
        const std::string partner
            = R"(, {"pattern": ["torch.ao.nn.intrinsic.ConvReLU2d"], "dtype_configs": [{"input_dtype": "quint8"}]})";
        QCOMPARE(
            problemsOf(
                R"({"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "fused_module": "torch.ao.nn.intrinsic.ConvReLU2d", "fuser_method": "sequential"})"
                + partner),
            QString());
        QVERIFY(
            problemsOf(
                R"({"pattern": ["a"], "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 0}}]})")
                .contains("stands alone"));
        QVERIFY(
            problemsOf(
                R"({"pattern": ["a"], "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 9, "quant_max_upper_bound": 3}}]})")
                .contains("nothing can satisfy"));
        QVERIFY(problemsOf(R"({"pattern": ["a"]}, {"pattern": ["a"]})").contains("twice"));
    }
    void shippedBackendsPassTheCheck()
    {
        for (const char* name : {"x86", "fbgemm", "qnnpack"}) {
            const auto problems = checkBackend(*findBackend(name));
            QVERIFY2(problems.empty(), problems.empty() ? "" : problems[0].c_str());
        }
    }
    void namesWhatAFusionLeaves()
    {
        BackendPattern entry;
        entry.pattern = {"torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"};
        entry.fusedModule = "torch.ao.nn.intrinsic.ConvBnReLU2d";
        QCOMPARE(fusedModuleInEval(entry), std::string());
        entry.fuserMethod = "fuse_conv_bn_relu";
        QCOMPARE(fusedModuleInEval(entry), std::string("torch.ao.nn.intrinsic.ConvReLU2d"));
        entry.pattern.pop_back();
        QCOMPARE(fusedModuleInEval(entry), std::string("torch.nn.Conv2d"));
    }
};

QTEST_GUILESS_MAIN(TestBackendConfig)
#include "tst_backend_config.moc"
