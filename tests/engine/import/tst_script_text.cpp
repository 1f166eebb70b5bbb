// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/script_text.h"

#include <QtTest>

using namespace qs;

namespace {

constexpr auto kFunction = "builtin_function_or_method.";
constexpr auto kMethod = "method_descriptor.";

/// The record for the part of the function's text that stands between two bars.
QString recordOf(QString text, const char* word)
{
    const auto start = text.indexOf('|');
    text.remove(start, 1);
    const auto end = text.indexOf('|');
    text.remove(end, 1);
    return QString::fromStdString(
        calledInText(text.toStdString(), std::size_t(start), std::size_t(end), word));
}

} // namespace

/// What the text of a scripted model says about a call. The bars stand where TorchScript's own
/// record of the expression begins and ends, which leaves out parentheses around operands.
class TestScriptText : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void records_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QByteArray>("word");
        QTest::addColumn<QString>("record");
        const auto row = [](const char* line, const char* word, const QString& record) {
            QTest::addRow("%s: %s", word, line) << QString(line) << QByteArray(word) << record;
        };
        const auto function = [&row](const char* line, const char* word) {
            row(line, word, QString(kFunction) + word);
        };
        const auto method = [&row](const char* line, const char* word) {
            row(line, word, QString(kMethod) + word);
        };
        function("|torch.permute|(x, [1, 0])", "permute");
        function("|th.permute|(x, [1, 0])", "permute");
        function("|permute|(x, [1, 0])", "permute");
        function("|F.conv2d|(x, y)", "conv2d");
        function("|torch.nn.functional.gelu|(x)", "gelu");
        method("|x.permute|(1, 0)", "permute");
        method("|self.w.permute|(1, 0)", "permute");
        method("|x[0].permute|(1, 0)", "permute");
        method("|torch.cat([x, y]).permute|(1, 0)", "permute");
        method("(|x + y).permut|e(1, 0)", "permute");
        method("(((|x + y))|).t()", "t");
        method("self.f(|x.flatten(2).transpo|se(1, 2))", "transpose");
        function("|torch \\\n    .add|(x, 1)", "add");
        function("(|torch.add|)(x, 1)", "add");
        function("|torch. add|(x, 1)", "add");
        method("|x + y|", "add");
        method("|x + torch.add(x, 1|)", "add");
        method("|x * (torch.mul(y, 3)|)", "mul");
        method("(|x + y) * |2", "mul");
        method("|x += y.flatten(1|)", "add_");
        method("|x @ torch.matmul(x, x|)", "matmul");
        method("|x  # torch.add(\n    + torch.mul(y, 3|)", "add");
        row("|x[:, None|]", "unsqueeze", "wrapper_descriptor.__getitem__");
        row("|x[0|]", "select", "wrapper_descriptor.__getitem__");
        row("|x ** 2|", "mul", "");
        row("|x // 2|", "div", "");
        row("|foo(x)|", "add", "");
        method("|if self.flat:\n    x = x.flatten(2).t()\nelse:\n    x = y.flatten(|1)", "flatten");
        row("|if self.flat:\n    x = x.flatten(2)\nelse:\n    x = torch.flatten(|y, 1)", "flatten",
            "");
    }

    void records()
    {
        QFETCH(QString, line);
        QFETCH(QByteArray, word);
        const QString plain = "def forward(self, x, y):\n    \"\"\"Plain torch, no th and no "
                              "F.\"\"\"\n    # torch\n    z = "
            + line + "\n    assert z.dim() == 2, \"torch\"\n    return z.add(1)\n";
        QTEST(recordOf(plain, word.constData()), "record");
    }

    /// TorchScript's own code for `1 - x`, `1 / x`, `2 * x`.
    void aNumberOnTheLeft()
    {
        const QString code = "\ndef mul(a : int, b : Tensor) -> Tensor:\n  return b * a\n"
                             "def sub(a : int, b : Tensor) -> Tensor:\n  return torch.neg(b) + a\n"
                             "def div(a : int, b : Tensor) -> Tensor:\n"
                             "  return torch.reciprocal(b) * a\n";
        const auto told = [&](const QString& part, const char* word) {
            return recordOf(QString(code).replace(part, "|" + part + "|"), word);
        };
        QCOMPARE(told("torch.neg(b) + a", "add"), "function.__rsub__");
        QCOMPARE(told("torch.neg", "neg"), "function.__rsub__");
        QCOMPARE(told("torch.reciprocal(b) * a", "mul"), "function.__rdiv__");
        QCOMPARE(told("b * a", "mul"), QString(kMethod) + "mul");
    }

    void nothingOfNothing()
    {
        QCOMPARE(calledInText("", 0, 0, "add"), "");
        QCOMPARE(calledInText("x + y", 3, 3, "add"), "");
        QCOMPARE(calledInText("x + y", 0, 99, "add"), "");
        QCOMPARE(calledInText("'open", 0, 5, "add"), "");
        QCOMPARE(calledInText("# only", 0, 6, "add"), "");
    }
};

QTEST_GUILESS_MAIN(TestScriptText)
#include "tst_script_text.moc"
