// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/json_view.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace qs;

namespace {

/// The document's text as it was read, or what was wrong with it.
std::string reread(const std::string& text)
{
    const auto document = JsonDocument::parse(text, "the text");
    return document ? document->root().dump() : document.error().message;
}

JsonDocument parsed(const std::string& text)
{
    auto document = JsonDocument::parse(text, "the text");
    if (!document)
        qFatal("%s: %s", text.c_str(), document.error().message.c_str());
    return std::move(*document);
}

} // namespace

/// Large JSON, read only.
class TestJsonView : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void keepsWholeNumbersOf64Bits()
    {
        const JsonDocument document
            = parsed("[9223372036854775807, -9223372036854775808, -0, 7.9]");
        std::vector<std::int64_t> read;
        for (const JsonView item : document.root().items())
            read.push_back(item.integer());
        const std::vector<std::int64_t> wanted {std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min(), 0, 7};
        QCOMPARE(read, wanted);
    }
    void keepsDoublesToTheBit()
    {
        const std::vector<double> wanted {0.1, 1.7976931348623157e308, 5e-324, -0.0, 1e22, 2.5};
        const JsonDocument document
            = parsed("[0.1, 1.7976931348623157e308, 5e-324, -0.0, 1e22, 2.5]");
        std::size_t at = 0;
        for (const JsonView item : document.root().items()) {
            QCOMPARE(item.number(), wanted[at]);
            QCOMPARE(std::signbit(item.number()), std::signbit(wanted[at]));
            ++at;
        }
        QCOMPARE(at, wanted.size());
    }
    void widerWholeNumbersBecomeDoubles()
    {
        const JsonDocument document
            = parsed("{\"wide\": 123456789012345678901234567890, \"below\": -9223372036854775809, "
                     "\"most\": 9223372036854775807, \"text\": \"12345678901234567890123, 1\"}");
        const JsonView root = document.root();
        QCOMPARE(root.at("wide").number(), 123456789012345678901234567890.0);
        QCOMPARE(root.at("below").number(), -9223372036854775808.0);
        QCOMPARE(root.at("most").integer(), std::numeric_limits<std::int64_t>::max());
        QCOMPARE(root.at("text").text(), std::string_view("12345678901234567890123, 1"));
        QVERIFY_EXCEPTION_THROWN(root.at("wide").integer(), JsonShapeError);
    }
    void theLastOfSeveralMembersCounts()
    {
        const JsonDocument document
            = parsed(R"({"a": 1, "b": null, "a": 2, "b": 3, "c": 4, "c": null})");
        QCOMPARE(document.root().at("a").integer(), std::int64_t(2));
        QCOMPARE(document.root().at("b").integer(), std::int64_t(3));
        QVERIFY(!document.root().find("c"));
        QCOMPARE(document.root().at("c").dump(), std::string("null"));
        QVERIFY_EXCEPTION_THROWN(document.root().at("d"), JsonShapeError);
        QCOMPARE(document.root().text("d", "else"), std::string_view("else"));
    }
    void anotherShapeIsToldInOneLine()
    {
        const JsonDocument document = parsed(R"({"a": [1, "x"], "b": 1e300, "c": 3000000000})");
        const JsonView root = document.root();
        QVERIFY_EXCEPTION_THROWN(root.items(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("a").members(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("a").text(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("a").boolean(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("a").number(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("b").integer(), JsonShapeError);
        QVERIFY_EXCEPTION_THROWN(root.at("c").smallInteger(), JsonShapeError);
        try {
            root.at("a").integer();
            QFAIL("read a list as a number");
        } catch (const JsonShapeError& error) {
            QCOMPARE(std::string(error.what()),
                     std::string(R"([1,"x"] is not a whole number of 64 bits)"));
        }
    }
    void refusesWhatIsNoJson_data()
    {
        QTest::addColumn<QByteArray>("text");
        for (const char* text :
             {"",          " ",          "{\"a\": ",       "{\"a\": 1",   "[1,]",
              "[1] 2",     "[NaN]",      "[Infinity]",     "[-Infinity]", "[1e400]",
              "[01]",      "[+1]",       "[1-2]",          "[tru]",       "[\"\\ud800\"]",
              "[\"\\x\"]", "[\"\xff\"]", "[\"\xc0\x80\"]", "[\"a\nb\"]",  "['a']",
              "\xff\xfe"})
            QTest::newRow(QByteArray(text).toHex()) << QByteArray(text);
        QTest::newRow("zero") << QByteArray("[\"a\0b\"]", 7);
    }
    void refusesWhatIsNoJson()
    {
        QFETCH(QByteArray, text);
        const std::string line = reread(text.toStdString());
        QVERIFY2(line.starts_with("the text is not valid JSON ("), line.c_str());
        QVERIFY(line.find('\n') == std::string::npos);
    }
    void nesting()
    {
        const auto nested = [](std::size_t depth, const std::string& open, char close) {
            std::string text;
            for (std::size_t i = 0; i < depth; ++i)
                text += open;
            return text + "1" + std::string(depth, close);
        };
        QVERIFY(reread(nested(400, "[", ']')).starts_with("[[["));
        for (const std::size_t depth : {401u, 1000u, 1000000u}) {
            const std::string wanted = "the text is nested too deeply";
            QCOMPARE(reread(nested(depth, "[", ']')), wanted);
            QCOMPARE(reread(nested(depth, "{\"a\":", '}')), wanted);
            QCOMPARE(reread(std::string(depth, '[')), wanted);
        }
        QCOMPARE(reread("[\"" + std::string(1000, '[') + "\"]").size(), std::size_t(1004));
    }
    void everyTruncationIsRefused()
    {
        const std::string whole
            = R"({"a": [1, 2.5e3, "x\u00e4\\", true, null], "b": {"c": -9223372036854775809}})";
        QVERIFY(reread(whole).starts_with("{\"a\":[1,2500.0"));
        for (std::size_t size = 0; size < whole.size(); ++size)
            QVERIFY(reread(whole.substr(0, size)).starts_with("the text is not valid JSON"));
    }
    void aByteOrderMarkIsSkipped() { QCOMPARE(reread("\xEF\xBB\xBF[1]"), std::string("[1]")); }
};

QTEST_GUILESS_MAIN(TestJsonView)
#include "tst_json_view.moc"
