// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/lowering_table.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

namespace {

using Names = std::vector<std::string>;

const KernelRow* find(const std::vector<KernelRow>& rows, const Names& pattern)
{
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const KernelRow& row) { return row.pattern == pattern; });
    return it == rows.end() ? nullptr : &*it;
}

/// The row of that pattern for values between dequantize and quantize.
const KernelRow* findStatic(const std::vector<KernelRow>& rows, const Names& pattern)
{
    const auto it = std::find_if(rows.begin(), rows.end(), [&](const KernelRow& row) {
        return row.pattern == pattern && row.mode == KernelMode::Static;
    });
    return it == rows.end() ? nullptr : &*it;
}

} // namespace

class TestLoweringTable : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void knowsTheNamesOfUsers()
    {
        QCOMPARE(operatorKindsOfName("torch.nn.Conv2d"), Names {"conv2d"});
        QCOMPARE(operatorKindsOfName("torch.nn.AdaptiveAvgPool2d"), Names {"adaptive_avg_pool2d"});
        QCOMPARE(operatorKindsOfName("torch.nn.ConvTranspose1d"), Names {"conv_transpose1d"});
        QCOMPARE(operatorKindsOfName("torch.nn.LeakyReLU"), Names {"leaky_relu"});
        QCOMPARE(operatorKindsOfName("torch.nn.functional.linear"), Names {"linear"});
        QCOMPARE(operatorKindsOfName("operator.add"), Names {"add"});
        QCOMPARE(operatorKindsOfName("aten.conv2d.default"), Names {"conv2d"});
        QCOMPARE(operatorKindsOfName("torch.ao.nn.quantized.reference.Linear"), Names {"linear"});
        QCOMPARE(operatorKindsOfName("torch.ao.nn.intrinsic.ConvReLU2d"),
                 (Names {"conv2d", "relu"}));
        QCOMPARE(operatorKindsOfName("torch.ao.nn.intrinsic.LinearReLU"),
                 (Names {"linear", "relu"}));
        QCOMPARE(operatorKindsOfName("torch.ao.nn.intrinsic.ConvAddReLU2d"),
                 (Names {"conv2d", "add", "relu"}));
        QCOMPARE(operatorKindsOfName("torch.ao.nn.intrinsic.BNReLU3d"),
                 (Names {"batch_norm3d", "relu"}));
    }

    void longestPatternComesFirst()
    {
        const auto rows = kernelRows(Recipe {});
        QVERIFY(rows);
        for (std::size_t i = 1; i < rows->size(); ++i)
            QVERIFY((*rows)[i - 1].pattern.size() >= (*rows)[i].pattern.size());
    }

    /// The plain Linear row and the fused one are two rows.
    void removesOneRowByItsPattern()
    {
        Recipe recipe;
        recipe.loweringRemove.push_back({{"torch.nn.Linear"}, ""});
        const auto rows = kernelRows(recipe);
        QVERIFY(rows);
        QVERIFY(!find(*rows, {"linear"}));
        QVERIFY(find(*rows, {"linear", "relu"}));
    }

    void addsAndReplaces()
    {
        Recipe recipe;
        recipe.loweringAdd.push_back({{"torch.nn.Conv2d", "torch.nn.ReLU"}, "quantized::other"});
        recipe.loweringAdd.push_back({{"torch.nn.functional.celu"}, "quantized::celu"});
        const auto rows = kernelRows(recipe);
        QVERIFY(rows);
        QCOMPARE(findStatic(*rows, {"conv2d", "relu"})->kernel, std::string("quantized::other"));
        QCOMPARE(find(*rows, {"celu"})->kernel, std::string("quantized::celu"));
    }

    /// Requirement 0.1: the classes of torch.ao's own tables name rows too.
    void knowsTorchAoClasses()
    {
        QCOMPARE(operatorKindsOfName("nni.ConvReLU2d"), (Names {"conv2d", "relu"}));
        Recipe recipe;
        recipe.loweringRemove.push_back({{"nni.ConvReLU2d"}, ""});
        recipe.loweringRemove.push_back({{"torch.ao.nn.quantized.reference.LSTM"}, ""});
        recipe.loweringRemove.push_back({{"torch.ao.nn.quantized.dynamic.RNNCell"}, ""});
        recipe.loweringRemove.push_back({{"torch.ao.nn.quantized.dynamic.Linear"}, ""});
        recipe.loweringAdd.push_back(
            {{"torch.ao.nn.quantized.reference.Conv1d"}, "torch.ao.nn.quantized.Conv2d"});
        const auto rows = kernelRows(recipe);
        QVERIFY(rows);
        QVERIFY(!find(*rows, {"conv2d", "relu"}));
        QVERIFY(!find(*rows, {"lstm.input"}));
        QVERIFY(!find(*rows, {"rnn_tanh_cell"}) && !find(*rows, {"rnn_relu_cell"}));
        QVERIFY(find(*rows, {"linear"}));
        QCOMPARE(find(*rows, {"linear"})->mode, KernelMode::Static);
        QCOMPARE(findStatic(*rows, {"conv1d"})->kernel, std::string("quantized::conv2d.new"));
    }

    /// A row can be taken out and put back under the name of its quantized class.
    void addsWhatAClassStandsFor()
    {
        Recipe recipe;
        recipe.loweringRemove.push_back({{"torch.nn.GRU"}, ""});
        recipe.loweringAdd.push_back(
            {{"torch.ao.nn.quantized.reference.GRU"}, "torch.ao.nn.quantized.dynamic.GRU"});
        const auto rows = kernelRows(recipe);
        QVERIFY(rows);
        int found = 0;
        for (const KernelRow& row : *rows)
            found += row.pattern == Names {"gru.input"};
        QCOMPARE(found, 2); // int8 and float16
    }

    void warnsOfARemovalThatFindsNothing()
    {
        const auto warning = [](Names pattern) {
            Recipe recipe;
            recipe.loweringRemove.push_back({std::move(pattern), ""});
            const auto lines = loweringWarnings(recipe);
            return lines.empty() ? std::string() : lines.front();
        };
        QVERIFY(warning({"torch.nn.Bilinear"}).find("[torch.nn.Bilinear] removes nothing")
                != std::string::npos);
        const std::string typo = warning({"torch.nn.Conv2d", "torch.nn.RelU6"});
        QVERIFY2(typo.find("did you mean 'torch.nn.ReLU6'?") != std::string::npos, typo.c_str());
        for (const char* known :
             {"torch.nn.Linear", "torch.nn.modules.linear.Linear", "linear", "nnqd.LSTM",
              "aten.linear.default", "torch.conv2d", "lstm.input", "torch.nn.functional.relu_"})
            QVERIFY2(warning({known}).empty(), known);
    }

    /// A class of another package is not the torch class of that name.
    void heedsTheModuleOfAName()
    {
        Recipe recipe;
        recipe.loweringRemove.push_back({{"my.Linear"}, ""});
        const auto rows = kernelRows(recipe);
        QVERIFY(rows && find(*rows, {"linear"}));
        QVERIFY(loweringWarnings(recipe).front().find("PyTorch has no 'my.Linear'; did you mean '")
                != std::string::npos);
        const auto refusal = [](Names pattern, const std::string& kernel) {
            Recipe added;
            added.loweringAdd.push_back({std::move(pattern), kernel});
            const auto made = kernelRows(added);
            return made ? std::string() : made.error().line();
        };
        const std::string kernel = refusal({"torch.nn.Linear"}, "my.Linear");
        QVERIFY2(kernel.find("[torch.nn.Linear] requires the kernel 'my.Linear'")
                         != std::string::npos
                     && kernel.find("did you mean '") != std::string::npos,
                 kernel.c_str());
        const std::string pattern = refusal({"torch.nn.Lineer"}, "quantized::linear");
        QVERIFY2(pattern.find("'torch.nn.Lineer'") != std::string::npos
                     && pattern.find("did you mean 'torch.nn.Linear'?") != std::string::npos,
                 pattern.c_str());
    }

    void refusesARowWithoutKernel()
    {
        Recipe recipe;
        recipe.loweringAdd.push_back({{"torch.nn.Linear"}, ""});
        const auto rows = kernelRows(recipe);
        QVERIFY(!rows);
        QCOMPARE(rows.error().code, ErrorCode::BadInput);
    }
};

QTEST_GUILESS_MAIN(TestLoweringTable)
#include "tst_lowering_table.moc"
