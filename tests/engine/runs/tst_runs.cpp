// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/qconfig_presets.h"
#include "engine/runs/run_store.h"
#include "engine/runs/run_table.h"

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace qs;
using Json = nlohmann::ordered_json;

namespace {

/// One operator of a made-up result.
struct Op
{
    std::string name, op, module;
    int call = 0;
    double db = 30;
    std::string qconfig = "x86";
};

std::string documentOf(const std::string& sha256, const std::vector<Op>& ops)
{
    const auto metrics = [](double db) {
        return Json {{"sqnr_db", db}, {"cosine", 1}, {"mse", db / 100}, {"max_abs", nullptr}};
    };
    Json nodes = Json::array();
    for (const Op& op : ops)
        nodes.push_back({{"name", op.name},
                         {"op", op.op},
                         {"module", op.module},
                         {"call_index", op.call},
                         {"verdict", op.qconfig.empty() ? "float_by_rule" : "quantized"},
                         {"qconfig", op.qconfig.empty() ? Json(nullptr) : Json(op.qconfig)},
                         {"output", {{"dtype", "quint8"}}},
                         {"error", {{"cumulative", metrics(op.db)}, {"born_here", nullptr}}}});
    return Json {
        {"format", "quantscope.result"},
        {"version", 1},
        {"model", {{"path", "m.pt2"}, {"sha256", sha256}}},
        {"outputs", {{{"name", "y"}, {"cumulative", metrics(31.5)}, {"lowered", nullptr}}}},
        {"coverage", {{"quantized", 1}, {"eligible", 2}, {"total", 3}}},
        {"nodes", nodes}}
        .dump();
}

RunRecordPtr runOf(const std::string& sha256, const std::vector<Op>& ops)
{
    const auto document = ResultDocument::fromText(documentOf(sha256, ops), "made.json");
    auto run = document ? runFromDocument(*document) : fail(document.error());
    return run ? std::make_shared<const RunRecord>(std::move(*run)) : nullptr;
}

/// Two blocks of the same layers with sums in the blocks' own forward, as residual networks have.
std::vector<Op> blocks()
{
    std::vector<Op> ops;
    int number = 0;
    for (const std::string block : {"layer1.0", "layer1.1"}) {
        for (const std::string layer : {"conv1", "relu", "conv2"}) {
            const std::string kind = layer == "relu" ? "aten.relu.default" : "aten.conv2d.default";
            ops.push_back(
                {kind.substr(5, 4) + std::to_string(number++), kind, block + '.' + layer});
        }
        for (const std::string sum : {"aten.add.Tensor", "aten.add.Tensor"})
            ops.push_back({"add" + std::to_string(number++), sum, block});
    }
    return ops;
}

/// "conv0=conv0 relu1=- -=extra": the names in each run, row by row.
QString rowsOf(const RunTable& table)
{
    QStringList rows;
    for (const RunRow& row : table.rows()) {
        QStringList names;
        for (const RunNode* node : row.nodes)
            names << (node ? QString::fromStdString(node->name) : QStringLiteral("-"));
        rows << names.join('=');
    }
    return rows.join(' ');
}

const RunRow* rowNamed(const RunTable& table, const std::string& name)
{
    for (const RunRow& row : table.rows())
        if (row.name == name)
            return &row;
    return nullptr;
}

} // namespace

class TestRuns : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::string at(const QString& name) const { return m_folder.filePath(name).toStdString(); }
    static RunDocuments documents(const std::vector<Op>& ops = blocks())
    {
        return {documentOf("a", ops), recipeToJson(defaultRecipe()), {}};
    }

private Q_SLOTS:
    void sameGraphHasTheSameNames()
    {
        const auto table = matchRuns({runOf("a", blocks()), runOf("a", blocks())});
        QVERIFY(table);
        QCOMPARE(table->rows().size(), blocks().size());
        for (std::size_t i = 0; i < table->rows().size(); ++i) {
            const RunRow& row = table->rows()[i];
            QCOMPARE(row.name, blocks()[i].name);
            QVERIFY(row.nodes[0] && row.nodes[1]);
            QCOMPARE(row.nodes[1]->name, row.name);
            QCOMPARE(row.state, RunRow::State::Same);
        }
    }
    /// Of one file, where an edit put another sum before those of a block and took one away.
    void editsKeepNames()
    {
        auto ops = blocks();
        ops.insert(ops.begin() + 3, {"more", "aten.add.Tensor", "layer1.0"});
        ops.erase(ops.begin() + 9); // the last block's first sum
        const auto table = matchRuns({runOf("a", blocks()), runOf("a", ops)});
        QVERIFY(table);
        QCOMPARE(rowsOf(*table),
                 QString("conv0=conv0 relu1=relu1 conv2=conv2 -=more add3=add3 add4=add4 "
                         "conv5=conv5 relu6=relu6 conv7=conv7 add8=- add9=add9"));
        QCOMPARE(rowNamed(*table, "more")->state, RunRow::State::Added);
        QCOMPARE(table->stateText(*rowNamed(*table, "more")), std::string("only in B"));
        QCOMPARE(table->stateText(*rowNamed(*table, "add8")), std::string("only in A"));
    }
    void renamedNodesAreTheSame()
    {
        auto ops = blocks();
        ops[4].name = "residual";
        const auto table = matchRuns({runOf("a", blocks()), runOf("a", ops)});
        QVERIFY(table);
        QVERIFY(rowsOf(*table).contains("add3=add3 add4=residual conv5"));
    }
    /// Another export: other names throughout, which must not be taken for the old ones.
    void anotherExport()
    {
        auto ops = blocks();
        std::rotate(ops.begin(), ops.begin() + 5, ops.end());
        for (std::size_t i = 0; i < ops.size(); ++i)
            ops[i].name = blocks()[i].name;
        const auto table = matchRuns({runOf("a", blocks()), runOf("b", ops)});
        QVERIFY(table);
        QCOMPARE(table->rows().size(), blocks().size());
        for (const RunRow& row : table->rows()) {
            QVERIFY(row.nodes[0] && row.nodes[1]);
            QCOMPARE(row.nodes[0]->module, row.nodes[1]->module);
            QCOMPARE(row.nodes[0]->op, row.nodes[1]->op);
            QVERIFY(row.nodes[0]->name != row.nodes[1]->name);
        }
    }
    /// A sum that another export has more stands between certain neighbours: no count of sums.
    void neighboursTellEqualsApart()
    {
        const std::vector<Op> first {{"c1", "aten.conv2d.default", "a"},
                                     {"s1", "aten.add.Tensor", ""},
                                     {"c2", "aten.conv2d.default", "b"},
                                     {"s2", "aten.add.Tensor", ""},
                                     {"c3", "aten.conv2d.default", "c"}};
        const std::vector<Op> second {{"k1", "aten.conv2d.default", "a"},
                                      {"k2", "aten.conv2d.default", "b"},
                                      {"t2", "aten.add.Tensor", ""},
                                      {"k3", "aten.conv2d.default", "c"}};
        const auto table = matchRuns({runOf("a", first), runOf("b", second)});
        QVERIFY(table);
        QCOMPARE(rowsOf(*table), QString("c1=k1 s1=- c2=k2 s2=t2 c3=k3"));
    }
    void modulesCalledTwice()
    {
        const std::vector<Op> twice {{"r0", "aten.relu.default", "relu", 0},
                                     {"r1", "aten.relu.default", "relu", 1}};
        const std::vector<Op> second {{"q1", "aten.relu.default", "relu", 1}};
        const auto table = matchRuns({runOf("a", twice), runOf("b", second)});
        QVERIFY(table);
        QCOMPARE(rowsOf(*table), QString("r0=- r1=q1"));
    }
    void fourRuns()
    {
        auto changed = blocks();
        changed[0].qconfig = "";
        changed[0].db = 12;
        auto shorter = blocks();
        shorter.erase(shorter.begin() + 1);
        auto longer = shorter;
        longer.push_back({"head", "aten.linear.default", "fc"});
        const auto table = matchRuns(
            {runOf("a", blocks()), runOf("a", changed), runOf("a", shorter), runOf("a", longer)});
        QVERIFY(table);
        QCOMPARE(rowNamed(*table, "conv0")->state, RunRow::State::Changed);
        QCOMPARE(rowNamed(*table, "relu1")->state, RunRow::State::Removed);
        QCOMPARE(table->stateText(*rowNamed(*table, "relu1")),
                 std::string("in A and B, not in C and D"));
        QCOMPARE(rowNamed(*table, "head")->state, RunRow::State::Added);
        QCOMPARE(table->stateText(*rowNamed(*table, "head")), std::string("only in D"));
        const RunColumn* difference = table->tryColumn("B-A.cumulative.sqnr_db");
        QVERIFY(difference);
        QCOMPARE(table->number(0, *difference).value_or(0), 12.0 - 30.0);
        QVERIFY(!table->number(0, *table->tryColumn("A.cumulative.max_abs"))); // not finite
        QVERIFY(!table->number(0, *table->tryColumn("B.born_here.sqnr_db")));
        QCOMPARE(table->word(0, *table->tryColumn("B.qconfig")), std::string("float"));
        QCOMPARE(table->worstFirst().front(), std::size_t(0));
        const auto sorted = table->sortedBy(*table->tryColumn("D.cumulative.sqnr_db"));
        QVERIFY(!table->number(sorted.back(), *table->tryColumn("D.cumulative.sqnr_db")));
        QVERIFY(!matchRuns({runOf("a", blocks())}));
        const RunRecordPtr run = runOf("a", blocks());
        QVERIFY(!matchRuns({run, run, run, run, run}));
    }
    void recipeDifferencesInWords()
    {
        const Recipe before = defaultRecipe();
        QVERIFY(diffRecipes(before, before).empty());
        Recipe after = before;
        after.mapping.rules.push_back({RuleKind::ModuleName, "layer1.0.conv1", "", 0, {}});
        after.calibration.batches = 4;
        after.edits.emplace_back().kind = EditKind::Fold;
        QStringList lines;
        for (const RecipeDifference& difference : diffRecipes(before, after))
            lines << QString::fromStdString(difference.text());
        QCOMPARE(lines.size(), 3);
        QVERIFY2(lines[0].startsWith("edit: now fold"), qPrintable(lines[0]));
        QCOMPARE(lines[1], QString("layer1.0.conv1: now float"));
        QCOMPARE(lines[2], QString("batches: 16 ► 4"));
        QCOMPARE(diffRecipes(after, before).size(), std::size_t(3));
        Recipe other = after;
        other.mapping.rules.back().qconfig = {"x86", presetQConfig("x86")};
        QCOMPARE(diffRecipes(after, other).front().text(),
                 std::string("layer1.0.conv1: float ► x86"));
        QCOMPARE(changeInWords(after, other), std::string("layer1.0.conv1 x86"));
        QCOMPARE(changeInWords(other, after), std::string("layer1.0.conv1 float"));
        QCOMPARE(changeInWords(after, before),
                 "without " + editText(after.edits.front()) + " and 2 more");
        QCOMPARE(changeInWords(after, after), std::string());
        QCOMPARE(recipeInWords(after), std::string("x86, 1 rule, 1 edit"));
        // The order of rules alone is a difference too.
        Recipe turned = after;
        turned.mapping.rules.push_back({RuleKind::ModuleName, "fc", "", 0, {}});
        Recipe back = turned;
        std::swap(back.mapping.rules.end()[-1], back.mapping.rules.end()[-2]);
        QCOMPARE(diffRecipes(turned, back).size(), std::size_t(1));
    }
    void keepsListsRenamesRemoves()
    {
        const std::string runs = at("p.runs");
        QVERIFY(listRuns(runs).empty());
        RunLabel label;
        label.name = "seven bits";
        label.created = "2026-01-02T03:04:05Z";
        const auto first = keepRun(runs, documents(), label);
        QVERIFY2(first, first ? "" : first.error().line().c_str());
        QCOMPARE(first->headline.outputDb().value_or(0), 31.5);
        QCOMPARE(first->headline.quantizedOps.value_or(0), 1);
        QCOMPARE(first->decisions, std::string("x86"));
        label.created = "2026-01-02T03:04:06Z";
        const auto second = keepRun(runs, documents(), label);
        QVERIFY(second);
        QCOMPARE(second->label.name, std::string("seven bits 2"));
        QCOMPARE(listRuns(runs).front().label.name, std::string("seven bits 2")); // newest first
        QVERIFY(!renameRun(runs, *second, "seven bits"));
        QVERIFY(!renameRun(runs, *second, "  "));
        QVERIFY(renameRun(runs, *second, "eight/bits"));
        const auto renamed = findRun(runs, "eight/bits");
        QVERIFY(renamed);
        QCOMPARE(QDir(QString::fromStdString(renamed->folder)).dirName(), QString("eight-bits"));
        QVERIFY(noteRun(*renamed, "a note"));
        QCOMPARE(findRun(runs, "eight/bits")->label.note, std::string("a note"));
        const auto whole = readRun(renamed->folder);
        QVERIFY(whole && whole->recipe == defaultRecipe());
        QCOMPARE(whole->label.name, std::string("eight/bits"));
        QVERIFY(removeRun(runs, *renamed));
        QCOMPARE(listRuns(runs).size(), std::size_t(1));
        QCOMPARE(QDir(QString::fromStdString(runs))
                     .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
                 QStringList("seven bits"));
        RunEntry outside = *first;
        outside.folder = m_folder.path().toStdString();
        QVERIFY(!removeRun(runs, outside));
        QVERIFY(copyRuns(runs, at("q.runs")) && copyRuns(runs, at("q.runs")));
        QCOMPARE(listRuns(at("q.runs")).size(), std::size_t(1));
        QCOMPARE(listRuns(at("q.runs")).front().label.created, std::string("2026-01-02T03:04:05Z"));
    }
    void theOldestUnnamedGoFirst()
    {
        const std::string runs = at("many.runs");
        for (int i = 0; i < 5; ++i) {
            RunLabel label;
            label.name = "run " + std::to_string(i);
            label.created = "2026-01-01T00:00:0" + std::to_string(i) + "Z";
            label.isNamed = i == 0;
            QVERIFY(keepRun(runs, documents(), label));
        }
        QVERIFY(trimRuns(runs, 2));
        QStringList left;
        for (const RunEntry& run : listRuns(runs))
            left << QString::fromStdString(run.label.name);
        QCOMPARE(left, QStringList({"run 4", "run 3", "run 0"}));
    }
    void damagedRunsSayWhy_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("label cut") << "run.json" << QByteArray("{\"format\": \"quantsc");
        QTest::newRow("label of others") << "run.json" << QByteArray("{}");
        QTest::newRow("label without name")
            << "run.json" << QByteArray(R"({"format":"quantscope.run","version":1,"result":{}})");
        QTest::newRow("recipe cut") << "recipe.json" << QByteArray("{");
        QTest::newRow("result gone") << "result.json" << QByteArray();
    }
    void damagedRunsSayWhy()
    {
        QFETCH(QString, file);
        QFETCH(QByteArray, text);
        QTemporaryDir folder;
        const std::string runs = folder.path().toStdString();
        RunLabel label;
        label.name = "kept";
        QVERIFY(keepRun(runs, documents(), label));
        label.name = "good";
        QVERIFY(keepRun(runs, documents(), label));
        QFile damaged(folder.filePath("kept/" + file));
        if (text.isEmpty()) {
            QVERIFY(damaged.remove());
        } else {
            QVERIFY(damaged.open(QIODevice::WriteOnly));
            damaged.write(text);
            damaged.close();
        }
        const auto found = findRun(runs, "kept");
        QVERIFY(found);
        QVERIFY2(found->problem.find(file.toStdString()) != std::string::npos,
                 found->problem.c_str());
        QVERIFY(findRun(runs, "good")->problem.empty());
        QVERIFY(removeRun(runs, *found));
    }
    void refusesWhatIsNoResult()
    {
        for (const char* text : {"", "[]", "{}", R"({"format":"quantscope.result","version":2})",
                                 R"({"format":"quantscope.result","version":1,"model":3})"}) {
            const auto document = ResultDocument::fromText(text, "odd.json");
            const auto run = document ? runFromDocument(*document) : fail(document.error());
            QVERIFY2(!run, text);
            QVERIFY(run.error().line().find("odd.json") != std::string::npos);
        }
        QVERIFY(!keepRun(at("none.runs"), {"{}", "", ""}, {}));
        QVERIFY(!QDir(m_folder.filePath("none.runs")).exists());
    }
};

QTEST_GUILESS_MAIN(TestRuns)
#include "tst_runs.moc"
