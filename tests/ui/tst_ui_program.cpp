// SPDX-License-Identifier: GPL-3.0-or-later
#include <QDirIterator>
#include <QFile>
#include <QImage>
#include <QJsonArray>
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
    QByteArray m_errors, m_output;
    int run(const QStringList& arguments, const char* program = "quantscope-ui")
    {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        // No display at all: the program itself sees that a picture needs none.
        for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
            environment.remove(QLatin1String(name));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/") + QLatin1String(program), arguments);
        if (!process.waitForFinished(240000))
            return -1;
        m_errors = process.readAllStandardError();
        m_output = process.readAllStandardOutput();
        return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    }

private Q_SLOTS:
    void photographsTheSample();
    void photographsResults();
    void comparesAsTheCommandLineDoes_data();
    void comparesAsTheCommandLineDoes();
    void picturesLeaveTheRecentFilesAlone();
    void tellsWhereASizeIsTooSmall();
    void helpNamesWhatIsWritten();
    void refusesAMissingModelInOneLine();
    void loadsPacksThatAreNamed();
    void refusesWrongWords();
    void saysThatAWindowNeedsADisplay();
    void desktopEntryIsInstalled();
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
    QVERIFY2(!m_errors.contains("--size"), m_errors.constData());
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

void TestProgram::comparesAsTheCommandLineDoes_data()
{
    QTest::addColumn<QStringList>("words");
    const QString samples = QStringLiteral(QS_SOURCE_DIR "/resources/samples/");
    QTest::newRow("data") << QStringList {"--data", samples + "calib.npz"};
    QTest::newRow("other data") << QStringList {"--data", samples + "calib.npz", "--compare-on",
                                                samples + "test.npz"};
}

/// The same words give the same figures, from the same samples: test.npz beside the model is taken
/// where it is named alone.
void TestProgram::comparesAsTheCommandLineDoes()
{
    QFETCH(QStringList, words);
    const QString model = QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2");
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    const int code = run(QStringList {model, "--screenshot", picture} + words);
    QVERIFY2(code == 0, m_errors.constData());
    QFile file(picture + QStringLiteral(".json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto shown = QJsonDocument::fromJson(file.readAll()).object();
    QProcess process;
    process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                  QStringList {"quantize", model, "--export", "none", "--json", "--out",
                               folder.filePath(QStringLiteral("out"))}
                      + words);
    QVERIFY(process.waitForFinished(240000));
    const auto told = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    const auto output = told["outputs"].toArray()[0].toObject()["lowered"].toObject();
    QVERIFY2(output["sqnr_db"].isDouble(), process.readAllStandardError().constData());
    QCOMPARE(shown["output_db"].toDouble(), output["sqnr_db"].toDouble());
    QCOMPARE(shown["compared_samples"].toInt(),
             told["data"].toObject()["compared_samples"].toInt());
    QCOMPARE(shown["compared_on"].toString(), words.back());
}

void TestProgram::picturesLeaveTheRecentFilesAlone()
{
    QTemporaryDir folder;
    QVERIFY(QFile::copy(QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                        folder.filePath(QStringLiteral("seldom.pt2"))));
    qputenv("XDG_CONFIG_HOME", folder.path().toLocal8Bit());
    const int code = run({folder.filePath(QStringLiteral("seldom.pt2")), "--screenshot",
                          folder.filePath(QStringLiteral("shot.png"))});
    qunsetenv("XDG_CONFIG_HOME");
    QVERIFY2(code == 0, m_errors.constData());
    QDirIterator files(folder.path(), QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        QFile file(files.next());
        if (!file.fileName().endsWith(QLatin1String(".conf")))
            continue;
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY2(!text.contains("seldom"), text.constData());
    }
}

void TestProgram::tellsWhereASizeIsTooSmall()
{
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    const int code = run({QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                          QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
                          QStringLiteral("330x250")});
    QVERIFY2(code == 0, m_errors.constData());
    QCOMPARE(m_errors.trimmed().count('\n'), 0);
    const QSize made = QImage(picture).size();
    QVERIFY(made.width() > 330 && made.height() > 250);
    QVERIFY2(m_errors.contains("330x250"), m_errors.constData());
    const QString size = QStringLiteral("%1x%2").arg(made.width()).arg(made.height());
    QVERIFY2(m_errors.contains(size.toUtf8()), m_errors.constData());
}

void TestProgram::helpNamesWhatIsWritten()
{
    QCOMPARE(run({QStringLiteral("--help")}), 0);
    for (const char* word : {"--screenshot", "FILE.json", "--size", "stderr"})
        QVERIFY2(m_output.contains(word), m_output.constData());
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

/// `--extension`, in the window's program and through the command line's verb `ui`.
void TestProgram::loadsPacksThatAreNamed()
{
    QTemporaryDir folder;
    const QString pack = QStringLiteral(QS_BINARY_DIR "/extensions/sites");
    const QString model = folder.filePath(QStringLiteral("m.pt"));
    const QString script = QStringLiteral(
        "import os, sys, pathlib; os.environ['QUANTSCOPE'] = os.environ['QUANTSCOPE_SOURCE'] = "
        "sys.argv[3]; sys.path.insert(0, sys.argv[1]); import site_models as s; "
        "s.scripted(pathlib.Path(sys.argv[2]), s.Whole)");
    QProcess python;
    python.start(QStringLiteral(QS_PYTHON),
                 {QStringLiteral("-c"), script, QStringLiteral(QS_SOURCE_DIR "/tests/cli"),
                  folder.path(), QStringLiteral(QS_BINARY_DIR "/bin/quantscope")});
    QVERIFY(python.waitForFinished(120000));
    QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
    const QString picture = folder.filePath(QStringLiteral("shot.png"));
    const QStringList words {model, QStringLiteral("--screenshot"), picture};
    QCOMPARE(run(words), 1);
    QVERIFY2(m_errors.contains("--extension DIR"), m_errors.constData());
    QVERIFY2(run(words + QStringList {QStringLiteral("--extension"), pack}) == 0,
             m_errors.constData());
    QVERIFY(QFile::exists(picture));
    QCOMPARE(run(words + QStringList {QStringLiteral("--extension"), folder.path()}), 1);
    QVERIFY2(m_errors.contains("extension.json"), m_errors.constData());
    // The verb hands the words on: without a display, the window's program says so itself.
    QCOMPARE(run({QStringLiteral("ui"), model, QStringLiteral("--extension"), folder.path()},
                 "quantscope"),
             1);
    QVERIFY2(m_errors.contains("extension.json") || m_errors.contains("no display"),
             m_errors.constData());
}

void TestProgram::refusesWrongWords()
{
    QCOMPARE(run({QStringLiteral("--no-such-option")}), 2);
    QCOMPARE(run({QStringLiteral("--size"), QStringLiteral("big")}), 2);
    QCOMPARE(run({QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                  QStringLiteral("--compare-on"), QStringLiteral("test.npz")}),
             2);
    QVERIFY2(m_errors.contains("--data is required"), m_errors.constData());
}

void TestProgram::desktopEntryIsInstalled()
{
    QTemporaryDir prefix;
    QProcess install;
    install.start(QStringLiteral("cmake"),
                  {QStringLiteral("--install"), QStringLiteral(QS_BINARY_DIR),
                   QStringLiteral("--component"), QStringLiteral("desktop"),
                   QStringLiteral("--prefix"), prefix.path()});
    QVERIFY(install.waitForFinished(60000));
    QVERIFY2(install.exitCode() == 0, install.readAllStandardError().constData());
    QFile entry(prefix.filePath(QStringLiteral("share/applications/quantscope.desktop")));
    QVERIFY(entry.open(QIODevice::ReadOnly));
    QMap<QString, QString> keys;
    for (const QString& line : QString::fromUtf8(entry.readAll()).split(QLatin1Char('\n')))
        if (line.contains(QLatin1Char('=')))
            keys[line.section(QLatin1Char('='), 0, 0)] = line.section(QLatin1Char('='), 1);
    QCOMPARE(keys[QStringLiteral("Type")], QStringLiteral("Application"));
    const QString program = keys[QStringLiteral("Exec")].section(QLatin1Char(' '), 0, 0);
    QVERIFY2(QFile::exists(QStringLiteral(QS_BINARY_DIR "/bin/") + program), qPrintable(program));
    const QString icon = prefix.filePath(QStringLiteral("share/icons/hicolor/scalable/apps/%1.svg")
                                             .arg(keys[QStringLiteral("Icon")]));
    QVERIFY2(QFile::exists(icon), qPrintable(icon));
}

QTEST_GUILESS_MAIN(TestProgram)
#include "tst_ui_program.moc"
