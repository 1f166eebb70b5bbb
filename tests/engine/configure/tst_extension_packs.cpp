// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/extension_packs.h"
#include "engine/plan/names/op_vocabulary.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

namespace {

using Names = std::vector<std::string>;

ExtensionPackPtr smallPack()
{
    ExtensionPack pack;
    pack.name = "small";
    pack.sha256 = "12ab";
    OperatorFacts linear;
    linear.target = "small.linear";
    linear.input = "x";
    linear.weight = "w";
    linear.bias = "b";
    linear.carried = {"places"};
    linear.weighted = OperatorFacts::Weighted::Other;
    linear.pack = pack.name;
    OperatorFacts turn;
    turn.target = "small.turn";
    turn.movesValues = true;
    turn.pack = pack.name;
    pack.operators = {linear, turn};
    BackendPattern pattern;
    pattern.pattern = {"torch.ops.small.linear"};
    pattern.dtypeConfigs.emplace_back();
    pack.patterns = {pattern};
    KernelRow row;
    row.pattern = {"small.linear"};
    row.kernel = "small::linear_int8";
    KernelArgument argument;
    argument.name = "x";
    row.arguments = {argument};
    row.pack = pack.name;
    pack.rows = {row};
    return std::make_shared<const ExtensionPack>(std::move(pack));
}

Node call(const char* target, std::vector<NamedArgument> args)
{
    Node node;
    node.target = target;
    node.args = std::move(args);
    return node;
}

} // namespace

/// What a pack adds to the engine's tables once it is loaded; nothing of it is there before.
class TestExtensionPacks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void spellsOperators()
    {
        for (const char* written :
             {"small::linear", "torch.ops.small.linear", "torch.ops.small.linear.default",
              "small.linear.default", "small::linear.default"})
            QCOMPARE(operatorTarget(written), std::string("small.linear"));
        QCOMPARE(operatorTarget("linear"), std::string());
        for (const char* written : {"small::linear", "torch.ops.small.linear"}) {
            QCOMPARE(operatorKindsOfName(written), Names {"small.linear"});
            QCOMPARE(canonicalTypeName(written), std::string("torch.ops.small.linear"));
        }
        QCOMPARE(operatorKindsOfName("aten::conv2d"), Names {"conv2d"});
        QCOMPARE(operatorKindsOfName("my.Linear"), Names {"my.Linear"});
    }

    void knowsPyTorchsOperatorsWithoutPacks()
    {
        const auto addmm = operatorFacts("aten.addmm.default");
        QVERIFY(addmm && addmm->weighted == OperatorFacts::Weighted::Linear);
        QCOMPARE(addmm->weight, std::string("mat2"));
        QVERIFY(movesValues("view") && movesValues("aten.permute.default") && !movesValues("relu"));
        QVERIFY(isKernelTarget("quantized.linear.default"));
        QVERIFY(isPrepackTarget("quantized.linear_prepack.default"));
        QVERIFY(!packOperator("aten.addmm.default") && !operatorFacts("small.linear.default"));
    }

    void addsWhatAPackTells()
    {
        QVERIFY(loadedPacksKey().empty());
        QVERIFY(!checkPacksLoaded({"small"}));
        const std::size_t rows = defaultKernelRows().size();
        Backend backend;
        QVERIFY(withPackPatterns(backend).patterns.empty());

        addLoadedPack(smallPack());
        QCOMPARE(loadedPacksKey(), std::string("12ab"));
        QVERIFY(checkPacksLoaded({"small"}));
        const auto missing = checkPacksLoaded({"smal"});
        QVERIFY(!missing
                && missing.error().line().find("did you mean 'small'?") != std::string::npos);

        const auto table = kernelRows(Recipe {});
        QVERIFY(table && table->size() == rows + 1);
        const auto own = std::find_if(table->begin(), table->end(), [](const KernelRow& row) {
            return row.pattern == Names {"small.linear"};
        });
        QVERIFY(own != table->end() && own->arguments.size() == 1);
        QCOMPARE(withPackPatterns(backend).patterns.size(), std::size_t(1));
        // A backend's own pattern stays.
        backend.patterns = smallPack()->patterns;
        backend.patterns[0].rootModule = "mine";
        const auto merged = withPackPatterns(backend).patterns;
        QVERIFY(merged.size() == 1 && merged[0].rootModule == "mine");
    }

    void givesArgumentsTheirRoles()
    {
        const Node node = call("small.linear.default",
                               {{"x", 1}, {"w", 2}, {"b", 3}, {"places", 4}, {"weight", 5}});
        const OpName name = opNameOf(node);
        QCOMPARE(name.name, std::string("torch.ops.small.linear"));
        QVERIFY(name.kind == OpName::Kind::Function);
        const ArgumentRole roles[] {ArgumentRole::Activation, ArgumentRole::Weight,
                                    ArgumentRole::Bias, ArgumentRole::State,
                                    ArgumentRole::Activation};
        for (std::size_t i = 0; i < std::size(roles); ++i)
            QVERIFY2(argumentRole(node, name, i) == roles[i], node.args[i].name.c_str());
        QVERIFY(movesValues("small.turn.default") && !movesValues("small.linear"));
    }

    void removesAndReplacesItsRows()
    {
        Recipe recipe;
        recipe.loweringRemove.push_back({{"torch.ops.small.linear"}, ""});
        QVERIFY(loweringWarnings(recipe).empty());
        const auto left = kernelRows(recipe);
        QVERIFY(left && std::none_of(left->begin(), left->end(), [](const KernelRow& row) {
                    return !row.pack.empty();
                }));
        // The pack's kernel for another operator takes its arguments from the same places.
        recipe.loweringRemove.clear();
        recipe.loweringAdd.push_back({{"torch.nn.Linear"}, "small::linear_int8"});
        const auto added = kernelRows(recipe);
        QVERIFY(added);
        const auto row = std::find_if(added->begin(), added->end(), [](const KernelRow& one) {
            return one.pattern == Names {"linear"} && one.mode == KernelMode::Static;
        });
        QVERIFY(row != added->end() && row->kernel == "small::linear_int8"
                && row->arguments.size() == 1);
        recipe.loweringAdd = {{{"small::liner"}, "small::linear_int8"}};
        const auto wrong = kernelRows(recipe);
        QVERIFY(!wrong && wrong.error().line().find("'small.linear'") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestExtensionPacks)
#include "tst_extension_packs.moc"
