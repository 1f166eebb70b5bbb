// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_reader.h"
#include "engine/configure/backend_config.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/configure/recipe.h"

#include <QTest>

#include <set>

using namespace qs;

namespace {

constexpr const char* kObserver
    = R"({"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"})";

/// The document that holds the example of a key.
std::string documentOf(const std::string& document, const KeyTable& table, const KeyRow& row)
{
    const std::string example = keyExample(row);
    const auto others = [&](const std::vector<std::pair<std::string, std::string>>& needed) {
        std::string text = example;
        for (const auto& [key, value] : needed)
            if (example.find("\"" + key + "\"") == std::string::npos)
                text += ", \"" + key + "\": " + value;
        return "{" + text + "}";
    };
    if (document == "backend") {
        const std::vector<std::pair<std::string, std::string>> root {
            {"format", "\"quantscope.backend\""},
            {"version", "1"},
            {"name", "\"own\""},
            {"patterns", "[]"}};
        if (table.place.empty())
            return others(root);
        std::string entry = example;
        if (table.place.ends_with("input_dtype"))
            entry = R"("dtype_configs": [{"input_dtype": )" + example + "}]";
        else if (table.place.ends_with("dtype_configs[0]"))
            entry = R"("dtype_configs": [{)" + example + "}]";
        if (entry.find("\"pattern") == std::string::npos)
            entry = R"("pattern": ["torch.nn.Linear"], )" + entry;
        return R"({"format": "quantscope.backend", "version": 1, "name": "own", "patterns": [{)"
            + entry + "}]}";
    }
    const std::string head = R"({"format": "quantscope.recipe", "version": 1, )";
    if (table.place == "qconfigs.NAME")
        return head + R"("qconfigs": {"own": )"
            + others({{"activation", kObserver}, {"weight", kObserver}}) + "}}";
    if (table.place.starts_with("qconfigs.NAME."))
        return head + R"("qconfigs": {"own": {"activation": {"observer": "minmax"}, "weight": )"
            + example + "}}}";
    return others({{"format", "\"quantscope.recipe\""}, {"version", "1"}});
}

/// Without what says nothing: nulls, empty lists and objects among an object's values.
Json withoutEmpty(const Json& value)
{
    if (!value.is_object())
        return value;
    Json out = Json::object();
    for (const auto& [key, member] : value.items())
        if (const Json kept = withoutEmpty(member);
            !kept.is_null() && !(kept.is_structured() && kept.empty()))
            out[key] = kept;
    return out;
}

/// What the reader makes of a document, written again; "error: ..." where it refuses it.
std::string meaningOf(const std::string& document, const std::string& text)
{
    if (document == "backend") {
        const auto backend = parseBackend(text, "b.json");
        return backend ? backendToJson(*backend) : "error: " + backend.error().line();
    }
    auto recipe = parseRecipe(text, "r.json");
    if (!recipe)
        return "error: " + recipe.error().line();
    recipe->backend = recipe->target(); // left out, x86 is meant
    return withoutEmpty(Json::parse(recipeToJson(*recipe))).dump();
}

/// The object in the document that has the key; the innermost, as examples hold it once.
Json* holderOf(Json& value, const std::string& key)
{
    for (auto& member : value)
        if (member.is_structured())
            if (Json* found = holderOf(member, key))
                return found;
    return value.is_object() && value.contains(key) ? &value : nullptr;
}

} // namespace

/// The tables of keys: the reader takes every example, and means the default where a key is absent.
class TestKeyTables : public QObject
{
    Q_OBJECT

    static void addRows()
    {
        QTest::addColumn<QString>("document");
        QTest::addColumn<int>("table");
        QTest::addColumn<int>("row");
        for (const std::string document : {"recipe", "backend"})
            for (std::size_t i = 0; i < keyTables(document).size(); ++i)
                for (std::size_t j = 0; j < keyTables(document)[i].rows.size(); ++j) {
                    const KeyTable& table = keyTables(document)[i];
                    const std::string name = document + " " + std::string(table.place) + " "
                        + std::string(table.rows[j].key);
                    QTest::newRow(name.c_str())
                        << QString::fromStdString(document) << int(i) << int(j);
                }
    }
    static std::tuple<std::string, const KeyTable*, const KeyRow*> row()
    {
        QFETCH(QString, document);
        QFETCH(int, table);
        QFETCH(int, row);
        const KeyTable& found = keyTables(document.toStdString())[std::size_t(table)];
        return {document.toStdString(), &found, &found.rows[std::size_t(row)]};
    }

private Q_SLOTS:
    void examplesAreRead_data() { addRows(); }
    void examplesAreRead()
    {
        const auto [document, table, row] = TestKeyTables::row();
        QVERIFY(row->example.find("\"" + std::string(row->key) + "\"") != std::string::npos);
        const std::string meaning = meaningOf(document, documentOf(document, *table, *row));
        QVERIFY2(!meaning.starts_with("error"), meaning.c_str());
    }

    void absentMeansTheDefault_data() { addRows(); }
    void absentMeansTheDefault()
    {
        const auto [document, table, row] = TestKeyTables::row();
        const Json usual = Json::parse(row->usual, nullptr, false);
        Json with = Json::parse(documentOf(document, *table, *row));
        const std::string key(row->key);
        Json without = with;
        holderOf(without, key)->erase(key);
        if (usual.is_discarded() || row->usual.empty()) {
            const bool needed = row->usual.starts_with("required");
            QCOMPARE(meaningOf(document, without.dump()).starts_with("error"), needed);
            return;
        }
        (*holderOf(with, key))[key] = usual;
        QCOMPARE(QString::fromStdString(meaningOf(document, with.dump())),
                 QString::fromStdString(meaningOf(document, without.dump())));
    }

    void anotherKeyIsRefused_data() { addRows(); }
    void anotherKeyIsRefused()
    {
        const auto [document, table, row] = TestKeyTables::row();
        Json wrong = Json::parse(documentOf(document, *table, *row));
        (*holderOf(wrong, std::string(row->key)))["no_such_key"] = 1;
        const std::string meaning = meaningOf(document, wrong.dump());
        QVERIFY2(meaning.starts_with("error") && meaning.find("no_such_key") != std::string::npos,
                 meaning.c_str());
    }

    /// The keys of the kinds of edits are those of the table, and no others; each is explained.
    void editsHaveTheKeysOfTheTable()
    {
        std::set<std::string> ofKinds {"do", "form"};
        for (const EditKeys& kind : editKeys()) {
            ofKinds.insert(kind.needed.begin(), kind.needed.end());
            ofKinds.insert(kind.others.begin(), kind.others.end());
        }
        const std::vector<std::string> keys = keyTable("recipe", "edits[0]").keys();
        QCOMPARE(ofKinds, std::set<std::string>(keys.begin(), keys.end()));
        for (const std::string& key : keys) {
            const std::string text = keyText("recipe", key);
            QVERIFY2(text.find("edits[0]." + key) != std::string::npos, text.c_str());
            QVERIFY2(text.find('$') == std::string::npos, text.c_str());
        }
    }

    /// The keys of the kinds of observers are those of the table, and no others.
    void observersHaveTheKeysOfTheTable()
    {
        std::set<std::string> ofKinds;
        for (const std::string& name : observerKindNames())
            for (std::string& key : observerKeys(*observerKindFromName(name)))
                ofKinds.insert(std::move(key));
        const std::vector<std::string> keys = keyTable("recipe", "qconfigs.NAME.activation").keys();
        QCOMPARE(ofKinds, std::set<std::string>(keys.begin(), keys.end()));
    }
};

QTEST_APPLESS_MAIN(TestKeyTables)
#include "tst_key_tables.moc"
