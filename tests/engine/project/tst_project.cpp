// SPDX-License-Identifier: Apache-2.0
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
        QVERIFY(looksLikeProject(at("p.qsproj")));
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
    void namesAMissingFile()
    {
        const auto read = readProject(at("none.qsproj"));
        QVERIFY(!read);
        QVERIFY(read.error().code == ErrorCode::NotFound);
    }
};

QTEST_GUILESS_MAIN(TestProject)
#include "tst_project.moc"
