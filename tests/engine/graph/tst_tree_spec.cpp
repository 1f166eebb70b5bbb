// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/tree_spec.h"
#include "tests/engine/graph/tree_spec_texts.h"

#include <QtTest/QtTest>

using namespace qs;
using namespace qs::test;

class TestTreeSpec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsNestedContainers()
    {
        const auto spec = parseTreeSpec(nestedSpec());
        QVERIFY(spec);
        QCOMPARE(spec->kind, TreeSpec::Kind::Dict);
        QCOMPARE(spec->keys, (std::vector<std::string> {"a", "t"}));
        QCOMPARE(spec->leafCount(), std::size_t(3));
        QCOMPARE(spec->children[1].kind, TreeSpec::Kind::Tuple);
        QCOMPARE(spec->children[1].children[1].kind, TreeSpec::Kind::List);
    }

    void readsNamedTuplesAndUnknownClasses()
    {
        const NamedTupleFields fields {{"pkg.Outputs", {"logits", "aux"}}};
        const auto named = parseTreeSpec(
            specOf("collections.namedtuple", "pkg.Outputs", leafSpec() + "," + leafSpec()), fields);
        QVERIFY(named);
        QCOMPARE(named->kind, TreeSpec::Kind::NamedTuple);
        QCOMPARE(named->keys[1], std::string("aux"));
        const auto mapping
            = parseTreeSpec(specOf("pkg.ModelOutput", keyContext({"last"}), leafSpec()));
        QVERIFY(mapping);
        QCOMPARE(mapping->kind, TreeSpec::Kind::Dict);
        const auto odd = parseTreeSpec(specOf("pkg.Thing", "null", leafSpec()));
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
            << QString::fromStdString(specOf("builtins.dict", keyContext({"a", "b"}), leafSpec()));
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
