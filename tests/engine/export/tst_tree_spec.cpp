// SPDX-License-Identifier: Apache-2.0
#include "engine/export/tree_spec.h"

#include <QtTest/QtTest>

using namespace qs;

class TestTreeSpec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsNestedContainers()
    {
        const auto spec = parseTreeSpec(
            R"([1, {"type": "builtins.dict", "context": "[\"a\", \"t\"]", "children_spec": [
                {"type": null, "context": null, "children_spec": []},
                {"type": "builtins.tuple", "context": "null", "children_spec": [
                    {"type": null, "context": null, "children_spec": []},
                    {"type": "builtins.list", "context": "null", "children_spec": [
                        {"type": null, "context": null, "children_spec": []}]}]}]}])");
        QVERIFY(spec);
        QCOMPARE(spec->kind, TreeSpec::Kind::Dict);
        QCOMPARE(spec->keys, (std::vector<std::string> {"a", "t"}));
        QCOMPARE(spec->leafCount(), std::size_t(3));
        QCOMPARE(spec->children[1].kind, TreeSpec::Kind::Tuple);
        QCOMPARE(spec->children[1].children[1].kind, TreeSpec::Kind::List);
    }

    void readsNamedTuplesAndUnknownClasses()
    {
        const std::string leaf = R"({"type": null, "context": null, "children_spec": []})";
        const NamedTupleFields fields {{"pkg.Outputs", {"logits", "aux"}}};
        const auto named = parseTreeSpec(
            R"([1, {"type": "collections.namedtuple", "context": "pkg.Outputs", "children_spec": [)"
                + leaf + "," + leaf + "]}]",
            fields);
        QVERIFY(named);
        QCOMPARE(named->kind, TreeSpec::Kind::NamedTuple);
        QCOMPARE(named->keys[1], std::string("aux"));
        const auto mapping = parseTreeSpec(
            R"([1, {"type": "pkg.ModelOutput", "context": "[\"last\"]", "children_spec": [)" + leaf
            + "]}]");
        QVERIFY(mapping);
        QCOMPARE(mapping->kind, TreeSpec::Kind::Dict);
        const auto odd = parseTreeSpec(
            R"([1, {"type": "pkg.Thing", "context": "null", "children_spec": [)" + leaf + "]}]");
        QVERIFY(odd);
        QCOMPARE(odd->kind, TreeSpec::Kind::Tuple);
    }

    void writesFlatSpecsItReads()
    {
        const auto inputs = parseTreeSpec(flatInputSpec(3));
        QVERIFY(inputs);
        QCOMPARE(inputs->leafCount(), std::size_t(3));
        QCOMPARE(inputs->children[1].kind, TreeSpec::Kind::Dict);
        QCOMPARE(parseTreeSpec(flatOutputSpec(1))->kind, TreeSpec::Kind::Leaf);
        QCOMPARE(parseTreeSpec(flatOutputSpec(2))->children.size(), std::size_t(2));
    }

    void refusesNonsense_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("empty") << QString();
        QTest::newRow("number") << QString("7");
        QTest::newRow("keys that do not fit")
            << QString(R"([1, {"type": "builtins.dict", "context": "[\"a\", \"b\"]",
                       "children_spec": [{"type": null, "context": null, "children_spec": []}]}])");
    }
    void refusesNonsense()
    {
        QFETCH(QString, text);
        const auto spec = parseTreeSpec(text.toStdString());
        QVERIFY(!spec);
        QCOMPARE(spec.error().code, ErrorCode::BadInput);
    }
};

QTEST_GUILESS_MAIN(TestTreeSpec)
#include "tst_tree_spec.moc"
