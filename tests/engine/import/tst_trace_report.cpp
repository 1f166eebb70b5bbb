// SPDX-License-Identifier: Apache-2.0
// The record of the export helper: what is read, what of it is merged, and that a bad one refuses
// nothing.
#include "engine/base/log.h"
#include "engine/import/trace_report.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace qs;

class TestTraceReport : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::vector<std::string> m_notes;
    std::string model() const { return m_folder.filePath("net.pt2").toStdString(); }
    void write(const std::string& text) { std::ofstream(model() + ".trace.json") << text; }
    static std::string sample()
    {
        std::ifstream in(QS_SOURCE_DIR "/tests/support/trace_record.json");
        return {std::istreambuf_iterator<char>(in), {}};
    }

private Q_SLOTS:
    void init()
    {
        m_notes.clear();
        setLogSink([this](LogLevel, const std::string& text) { m_notes.push_back(text); });
    }
    void cleanup() { setLogSink({}); }

    void noRecordIsNothing()
    {
        QVERIFY(!readTraceReport(model()));
        QVERIFY(m_notes.empty());
    }

    void everyMemberIsRead()
    {
        write(sample());
        const auto report = readTraceReport(model(), "ab12");
        QVERIFY(report);
        QCOMPARE(report->mode, std::string("draft"));
        QCOMPARE(report->producer, std::string("torch 2.11.0"));
        QStringList kinds;
        for (const auto& finding : report->findings)
            kinds << traceKindName(finding.kind);
        QCOMPARE(kinds.join(' '),
                 QString("failure frozen failure untaken untaken training stub advice"));
        const TraceFinding& failure = report->findings[0];
        QCOMPARE(failure.module, std::string("block.relu1"));
        QCOMPARE(failure.moduleClass, std::string("net.Decides"));
        QCOMPARE(failure.place(), std::string("net.py:12: if x.sum() > 0:"));
        QCOMPARE(failure.hint, std::string("use torch.where"));
        // Two attempts failed at one place: reported once.
        QVERIFY((failure.attempts == std::vector<std::string> {"strict", "non-strict"}));
        QCOMPARE(report->findings[2].what,
                 std::string("torch.export cannot trace this line (frames)"));
        QCOMPARE(report->findings[2].place(), std::string());
        const TraceFinding& untaken = report->findings[3];
        QCOMPARE(untaken.what, std::string("not run, lines 21 to 23, wanted self.training"));
        QVERIFY((untaken.modules == std::vector<std::string> {"block", "head"}));
        QVERIFY(!untaken.takenElsewhere);
        QVERIFY(report->findings[4].takenElsewhere);
        QCOMPARE(report->findings[5].what,
                 std::string("in training mode, as are 2 modules inside"));
        QVERIFY(m_notes.empty());
    }

    void badRecordsAreNoted_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("why");
        QTest::newRow("empty") << ""
                               << "is not valid JSON";
        QTest::newRow("cut") << QString::fromStdString(sample()).left(300) << "is not valid JSON";
        QTest::newRow("list") << "[1, 2]"
                              << "is not a JSON object";
        QTest::newRow("foreign") << "{\"format\": 7}"
                                 << "is not a record of the export helper";
        QTest::newRow("newer") << "{\"format\": \"quantscope.trace\", \"version\": 9}"
                               << "has version 9";
        QTest::newRow("other") << QString::fromStdString(sample()).replace("ab12", "cd34")
                               << "belongs to another export";
    }
    void badRecordsAreNoted()
    {
        QFETCH(QString, text);
        QFETCH(QString, why);
        write(text.toStdString());
        QVERIFY(!readTraceReport(model(), "ab12"));
        QCOMPARE(m_notes.size(), std::size_t(1));
        QVERIFY2(m_notes[0].find(why.toStdString()) != std::string::npos, m_notes[0].c_str());
        QVERIFY(m_notes[0].find("net.pt2.trace.json") != std::string::npos);
    }

    void oddMembersAreLeftOut()
    {
        write("{\"format\": \"quantscope.trace\", \"version\": 1, \"failures\": {\"a\": 1}, "
              "\"exported\": 3, \"untaken\": [{\"line\": \"x\", \"module\": null, \"modules\": "
              "[1]}], \"training\": [{\"modules\": -4, \"line\": -7}]}");
        const auto report = readTraceReport(model());
        QVERIFY(report);
        QCOMPARE(report->findings.size(), std::size_t(2));
        QCOMPARE(report->findings[0].what, std::string("not run"));
        QVERIFY(report->findings[0].modules.empty());
        QCOMPARE(report->findings[1].line, 0);
        QVERIFY(report->mode.empty());
    }
};

QTEST_GUILESS_MAIN(TestTraceReport)
#include "tst_trace_report.moc"
