// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/backend_check.h"

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
    for (const auto& problem : checkBackend(*backend))
        lines << (problem.error ? "error: " : "warning: ") + QString::fromStdString(problem.text);
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
            QVERIFY2(name == "empty" ? backend->patterns.empty() : backend->patterns.size() > 50,
                     name.c_str());
            QVERIFY2(!backend->description.empty(), name.c_str());
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
                .contains("is set without its partner"));
        QVERIFY(
            problemsOf(
                R"({"pattern": ["a"], "dtype_configs": [{"input_dtype": {"dtype": "quint8", "quant_min_lower_bound": 9, "quant_max_upper_bound": 3}}]})")
                .contains("nothing can satisfy"));
        QVERIFY(problemsOf(R"({"pattern": ["a"]}, {"pattern": ["a"]})").contains("second time"));
    }
    void findsEachProblem_data()
    {
        QTest::addColumn<QString>("entry");
        QTest::addColumn<QString>("words");
        const auto entry = [](const char* keys) {
            return QStringLiteral(R"({"pattern": ["torch.nn.Linear"], "dtype_configs": [{}], %1})")
                .arg(keys);
        };
        QTest::newRow("module")
            << R"({"pattern": ["torch.nn.Conv2D"], "dtype_configs": [{}]})"
            << "error: patterns[0] (torch.nn.Conv2D): pattern 'torch.nn.Conv2D' is not in "
               "PyTorch; did you mean 'torch.nn.Conv2d'?";
        QTest::newRow("method") << R"({"pattern": ["reshap"], "dtype_configs": [{}]})"
                                << "did you mean 'reshape'?";
        QTest::newRow("root") << entry(R"("root_module": "torch.nn.Linaer")")
                              << "root_module 'torch.nn.Linaer' is not in PyTorch";
        QTest::newRow("nested")
            << R"({"pattern_complex_format": ["torch.nn.ReLU", ["torch.nn.Conv9d", "*"]], "dtype_configs": [{}]})"
            << "'torch.nn.Conv9d' is not in PyTorch";
        QTest::newRow("own module")
            << R"({"pattern": ["models.Head"], "dtype_configs": [{}]})"
            << "warning: patterns[0] (models.Head): pattern 'models.Head' is unknown to PyTorch";
        QTest::newRow("fusion of one")
            << entry(R"("fuser_method": "sequential", "fused_module": "torch.nn.Linear")")
            << "error: patterns[0] (torch.nn.Linear): a fusion needs two or three";
        QTest::newRow("no fuser")
            << R"({"pattern": ["torch.nn.Conv2d", "torch.nn.ReLU"], "fused_module": "torch.ao.nn.intrinsic.ConvReLU2d"})"
            << "without a fuser_method";
        QTest::newRow("does nothing") << R"({"pattern": ["torch.nn.Linear"]})"
                                      << "it does nothing";
        QTest::newRow("index of a module")
            << entry(R"("input_type_to_index": {"weight": 1})") << "this pattern has modules only";
        QTest::newRow("index below 0")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{}], "input_type_to_index": {"weight": -1}})"
            << "arguments count from 0";
        QTest::newRow("index twice")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{}], "input_type_to_index": {"weight": 1, "bias": 1}})"
            << "gives argument 1 two roles";
        QTest::newRow("tensor counts")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{}], "num_tensor_args_to_observation_type": {"0": "input_output_not_observed", "1": "input_output_not_observed"}})"
            << "says nothing of 2 tensors";
        QTest::newRow("three tensors")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{}], "num_tensor_args_to_observation_type": {"0": "input_output_not_observed", "1": "input_output_not_observed", "2": "input_output_not_observed", "3": "input_output_not_observed"}})"
            << "3 cannot be";
    }
    void findsEachConstraint_data()
    {
        QTest::addColumn<QString>("entry");
        QTest::addColumn<QString>("words");
        const auto dtype = [](const char* constraints) {
            return QStringLiteral(
                       R"({"pattern": ["torch.add"], "dtype_configs": [{"input_dtype": {"dtype": "quint8", %1}}]})")
                .arg(constraints);
        };
        QTest::newRow("empty range")
            << dtype(R"("quant_min_lower_bound": 9, "quant_max_upper_bound": 3)")
            << "error: patterns[0] (torch.add).dtype_configs[0].input_dtype: the range 9..3 is "
               "empty";
        QTest::newRow("no zero") << dtype(
            R"("quant_min_lower_bound": 1, "quant_max_upper_bound": 9)")
                                 << "does not hold 0";
        QTest::newRow("outside") << dtype(
            R"("quant_min_lower_bound": -9, "quant_max_upper_bound": -1)")
                                 << "the range lies outside quint8";
        QTest::newRow("scales") << dtype(
            R"("scale_min_lower_bound": 2, "scale_max_upper_bound": 1)")
                                << "lies above scale_max_upper_bound";
        QTest::newRow("exact below") << dtype(
            R"("scale_exact_match": 0.1, "zero_point_exact_match": 0, "scale_min_lower_bound": 0.2)")
                                     << "scale_exact_match 0.1 lies below scale_min_lower_bound "
                                        "0.2";
        QTest::newRow("exact above") << dtype(
            R"("scale_exact_match": 3, "zero_point_exact_match": 0, "scale_max_upper_bound": 2)")
                                     << "lies above scale_max_upper_bound 2";
        QTest::newRow("exact zero point")
            << dtype(R"("scale_exact_match": 0.1, "zero_point_exact_match": 300)")
            << "zero_point_exact_match 300 lies outside 0..255";
        QTest::newRow("negative scale")
            << dtype(R"("scale_exact_match": -1, "zero_point_exact_match": 0)")
            << "must be above 0";
        QTest::newRow("lone bound")
            << dtype(R"("quant_max_upper_bound": 9)")
            << "warning: patterns[0] (torch.add).dtype_configs[0].input_dtype: "
               "quant_max_upper_bound is set without its partner; PyTorch then ignores it";
        QTest::newRow("lone scale") << dtype(R"("scale_exact_match": 0.1)")
                                    << "scale_exact_match is set without its partner";
        QTest::newRow("largest scale")
            << dtype(R"("scale_max_upper_bound": 1)") << "PyTorch ignores scale_max_upper_bound";
        QTest::newRow("dtype")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{"weight_dtype": "int64"}]})"
            << "error: patterns[0] (torch.add).dtype_configs[0].weight_dtype: int64 cannot be "
               "quantized to";
        QTest::newRow("float bound")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{"input_dtype": {"dtype": "float16", "scale_min_lower_bound": 1}}]})"
            << "constraints on float16 have no effect";
        QTest::newRow("dynamic")
            << R"({"pattern": ["torch.add"], "dtype_configs": [{"input_dtype": "quint8", "output_dtype": "quint8", "is_dynamic": true}]})"
            << "a dynamic operator returns float";
    }
    void findsEachConstraint() { findsEachProblem(); }
    void findsEachProblem()
    {
        QFETCH(QString, entry);
        QFETCH(QString, words);
        const QString found = problemsOf(entry.toStdString());
        QVERIFY2(found.contains(words), qPrintable(found));
    }
    void shippedBackendsPassTheCheck()
    {
        for (const auto& name : shippedBackends())
            for (const auto& problem : checkBackend(*findBackend(name)))
                QVERIFY2(!problem.error, (name + ": " + problem.text).c_str());
        for (const char* name : {"x86", "fbgemm", "qnnpack"})
            QVERIFY2(checkBackend(*findBackend(name)).empty(), name);
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
