// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/json_reader.h"
#include "engine/base/log.h"
#include "engine/project/project.h"

#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

using namespace qs;

class TestProject : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::string at(const QString& name) const { return m_folder.filePath(name).toStdString(); }
    void write(const QString& name, const QByteArray& text) const
    {
        QFile file(m_folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }

private Q_SLOTS:
    void roundTrips()
    {
        Project project;
        project.modelPath = at("models/a.pt2");
        project.modelSha256 = "abc";
        project.dataPath = "/elsewhere/calib.npz";
        project.recipe = defaultRecipe();
        project.recipe.calibration.batchSize = 3;
        project.windowState = R"({"zoom":1.5})";
        QVERIFY(writeProject(project, at("p.qsproj")));
        QVERIFY(isProjectFile(at("p.qsproj")));
        const auto read = readProject(at("p.qsproj"));
        QVERIFY2(read, read ? "" : read.error().line().c_str());
        QVERIFY(*read == project);
        QVERIFY(!QFile::exists(m_folder.filePath("p.qsproj.tmp")));
    }
    void keepsPathsRelative()
    {
        Project project;
        project.modelPath = at("models/a.pt2");
        project.recipe = defaultRecipe();
        QVERIFY(writeProject(project, at("rel.qsproj")));
        QFile file(m_folder.filePath("rel.qsproj"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("\"models/a.pt2\""));
    }
    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("cause");
        QTest::newRow("not json") << QByteArray("nonsense") << "not a JSON file";
        QTest::newRow("foreign") << QByteArray("{}") << "not a Quantscope project";
        QTest::newRow("newer") << QByteArray(
            R"({"format":"quantscope.project","version":9,"model":"a"})")
                               << "newer";
        QTest::newRow("unknown key")
            << QByteArray(R"({"format":"quantscope.project","version":1,"model":"a","modle":1})")
            << "'modle'";
        QTest::newRow("no model") << QByteArray(R"({"format":"quantscope.project","version":1})")
                                  << "no model";
        QTest::newRow("bad recipe") << QByteArray(
            R"({"format":"quantscope.project","version":1,"model":"a","recipe":{"format":"quantscope.recipe","version":1,"zzz":1}})")
                                    << "zzz";
    }
    void refuses()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, cause);
        write("bad.qsproj", text);
        const auto read = readProject(at("bad.qsproj"));
        QVERIFY(!read);
        const QString line = QString::fromStdString(read.error().line());
        QVERIFY2(line.contains(cause), qPrintable(line));
        QVERIFY2(line.contains("bad.qsproj"), qPrintable(line));
    }
    /// Eight steps, each of another batch size; `current` of the decisions that stand.
    Project withHistory(std::size_t current) const
    {
        Project project;
        project.modelPath = at("a.pt2");
        for (int size = 1; size <= 9; ++size) {
            Recipe recipe = defaultRecipe();
            recipe.calibration.batchSize = size;
            Rule rule;
            rule.kind = RuleKind::Node;
            rule.key = "conv" + std::to_string(size);
            recipe.mapping.rules.push_back(rule);
            project.history.recipes.push_back(recipe);
            if (size > 1)
                project.history.texts.push_back("batches of " + std::to_string(size));
        }
        project.history.current = current;
        project.recipe = project.history.recipes[current];
        return project;
    }
    void historyRoundTrips()
    {
        for (const std::size_t current : {0u, 5u, 8u}) {
            const Project project = withHistory(current);
            QVERIFY(writeProject(project, at("history.qsproj")));
            const auto read = readProject(at("history.qsproj"));
            QVERIFY2(read, read ? "" : read.error().line().c_str());
            QVERIFY(read->history == project.history);
        }
    }
    void historyIsBounded()
    {
        const Project project = withHistory(5);
        const auto kept = [&](const HistoryLimits& limits) {
            const Json json = historyToJson(project.history, at("p.qsproj"), limits);
            return readHistory(json, at("p.qsproj"), project.recipe);
        };
        const auto four = kept({4, 1 << 20});
        QVERIFY2(four, four ? "" : four.error().line().c_str());
        // The oldest went first.
        QCOMPARE(four->texts.front(), std::string("batches of 6"));
        QCOMPARE(four->texts.back(), std::string("batches of 9"));
        QCOMPARE(four->current, std::size_t(1));
        const std::size_t all = historyToJson(project.history, at("p.qsproj")).dump().size();
        const auto half = kept({100, all * 3 / 4});
        QVERIFY(half && !half->texts.empty() && half->texts.size() < 8);
        QVERIFY(half->recipes[half->current] == project.recipe);
        QVERIFY(historyToJson(project.history, at("p.qsproj"), {0, 0}).is_null());
    }
    void damagedHistoryLosesNothingElse_data()
    {
        QTest::addColumn<QByteArray>("from");
        QTest::addColumn<QByteArray>("to");
        QTest::addColumn<QString>("cause");
        QTest::newRow("newer") << QByteArray("\"history\": {\n    \"version\": 1")
                               << QByteArray("\"history\": {\n    \"version\": 7") << "newer";
        QTest::newRow("no list") << QByteArray("\"steps\"") << QByteArray("\"stops\"") << "missing";
        QTest::newRow("beyond") << QByteArray("\"current\": 5") << QByteArray("\"current\": 50")
                                << "no step 50";
        QTest::newRow("another recipe")
            << QByteArray("\"current\": 5") << QByteArray("\"current\": 4")
            << "does not lead to the project's decisions";
        QTest::newRow("not a rule")
            << QByteArray("\"conv7\"") << QByteArray("17") << "history cannot be read";
    }
    void damagedHistoryLosesNothingElse()
    {
        QFETCH(QByteArray, from);
        QFETCH(QByteArray, to);
        QFETCH(QString, cause);
        const Project project = withHistory(5);
        QVERIFY(writeProject(project, at("damaged.qsproj")));
        QFile file(m_folder.filePath("damaged.qsproj"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        QVERIFY(text.contains(from));
        file.close();
        write("damaged.qsproj", text.replace(from, to));
        std::string told;
        setLogSink([&told](LogLevel level, const std::string& line) {
            if (level == LogLevel::Warning)
                told = line;
        });
        const auto read = readProject(at("damaged.qsproj"));
        setLogSink({});
        QVERIFY2(read, read ? "" : read.error().line().c_str());
        QVERIFY(read->recipe == project.recipe);
        QVERIFY(read->history == DecisionHistory());
        QVERIFY2(told.find(cause.toStdString()) != std::string::npos, told.c_str());
        QVERIFY2(told.find("damaged.qsproj") != std::string::npos, told.c_str());
    }
    void namesAMissingFile()
    {
        const auto read = readProject(at("none.qsproj"));
        QVERIFY(!read);
        QVERIFY(read.error().code == ErrorCode::NotFound);
    }
};

QTEST_GUILESS_MAIN(TestProject)
#include "tst_project.moc"
