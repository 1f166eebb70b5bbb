// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QImage>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

/// The program itself, as scripts start it.
class TestProgram : public QObject
{
    Q_OBJECT

private:
    QByteArray m_errors;
    int run(const QStringList& arguments)
    {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        // No display at all: the program itself sees that a picture needs none.
        for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
            environment.remove(QLatin1String(name));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope-ui"), arguments);
        if (!process.waitForFinished(240000))
            return -1;
        m_errors = process.readAllStandardError();
        return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    }

private Q_SLOTS:
    void photographsTheSample();
    void photographsResults();
    void refusesAMissingModelInOneLine();
    void refusesWrongWords();
    void saysThatAWindowNeedsADisplay();
};

void TestProgram::saysThatAWindowNeedsADisplay()
{
    QCOMPARE(run({}), 1);
    QCOMPARE(m_errors.trimmed().count('\n'), 0);
    QVERIFY2(m_errors.contains("no display"), m_errors.constData());
}

void TestProgram::photographsTheSample()
{
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    const int code = run({QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                          QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
                          QStringLiteral("1280x800")});
    QVERIFY2(code == 0, m_errors.constData());
    QCOMPARE(QImage(picture).size(), QSize(1280, 800));
    QFile file(picture + QStringLiteral(".json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto facts = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(facts[QStringLiteral("layout")].toString(), QStringLiteral("done"));
    QVERIFY(facts[QStringLiteral("nodes_drawn")].toInt() > 3);
    QVERIFY(facts[QStringLiteral("nodes_total")].toInt()
            >= facts[QStringLiteral("nodes_drawn")].toInt());
    QVERIFY(facts[QStringLiteral("seconds")].toDouble() > 0);
}

void TestProgram::photographsResults()
{
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    const int code = run({QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                          QStringLiteral("--data"),
                          QStringLiteral(QS_SOURCE_DIR "/resources/samples/calib.npz"),
                          QStringLiteral("--screenshot"), picture});
    QVERIFY2(code == 0, m_errors.constData());
    QCOMPARE(QImage(picture).size(), QSize(1600, 1000));
}

void TestProgram::refusesAMissingModelInOneLine()
{
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    QCOMPARE(
        run({QStringLiteral("/nonexistent/model.pt2"), QStringLiteral("--screenshot"), picture}),
        1);
    QCOMPARE(m_errors.trimmed().count('\n'), 0);
    QVERIFY2(m_errors.contains("/nonexistent/model.pt2"), m_errors.constData());
    QVERIFY(!QFile::exists(picture));
}

void TestProgram::refusesWrongWords()
{
    QCOMPARE(run({QStringLiteral("--no-such-option")}), 2);
    QCOMPARE(run({QStringLiteral("--size"), QStringLiteral("big")}), 2);
}

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_ui_program.moc"
