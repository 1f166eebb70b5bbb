// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/pipeline/run_settings.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QStringList>

#include <map>

namespace qs::test {

/// The folder of the sample network and its data, with a slash.
inline const QString kSamples = QStringLiteral(QS_SOURCE_DIR "/resources/samples/");

} // namespace qs::test

namespace qs {

/// Runs the built command line on decisions and caches its documents.
class CommandLine
{
public:
    /// Recipes and results are written into `folder`; `words` are added to each command.
    CommandLine(QString model, QString folder, QStringList words = {})
        : m_model(std::move(model))
        , m_folder(std::move(folder))
        , m_words(std::move(words))
    {
    }

    /// The document of `quantize --json` on the CPU; a run that fails ends the test program.
    QJsonObject quantize(const Recipe& recipe, const RunSettings& settings)
    {
        const QByteArray text = QByteArray::fromStdString(recipeToJson(recipe));
        const QStringList words = quantizing(settings, QStringLiteral("pt2-reference"));
        const QByteArray key = text + words.join(' ').toUtf8();
        if (const auto it = m_told.find(key); it != m_told.end())
            return it->second;
        return m_told[key] = run(words + QStringList {"--recipe", written(text), "--json"});
    }

    /// Returns the error of `quantize` with this export; empty if it succeeds.
    QString refusal(const Recipe& recipe, const RunSettings& settings, const QString& form)
    {
        const QByteArray text = QByteArray::fromStdString(recipeToJson(recipe));
        QProcess process;
        process.start(kProgram,
                      quantizing(settings, form) + QStringList {"--recipe", written(text)});
        const bool refused = process.waitForFinished(120000) && process.exitCode() != 0;
        return refused ? QString::fromUtf8(process.readAllStandardError()) : QString();
    }

    /// The document of `plan --json`; a run that fails ends the test program.
    QJsonObject plan(const Recipe& recipe)
    {
        const QByteArray text = QByteArray::fromStdString(recipeToJson(recipe));
        return run({"plan", m_model, "--recipe", written(text), "--json"});
    }

private:
    /// The arguments of `quantize` on the CPU, without the recipe.
    QStringList quantizing(const RunSettings& settings, const QString& form) const
    {
        const QString data = QString::fromStdString(settings.calibrationData);
        const QString against = settings.againstOriginal ? "original" : "edited";
        QStringList words {"quantize",  m_model,    "--data", data,    "--device",
                           "cpu",       "--export", form,     "--out", m_folder + "/cli",
                           "--against", against};
        if (!settings.comparisonData.empty())
            words << "--compare-on" << QString::fromStdString(settings.comparisonData);
        if (settings.allLocalTerms)
            words << "--local-terms"
                  << "all";
        return words + m_words;
    }

    QString written(const QByteArray& recipe)
    {
        QFile file(m_folder + "/recipe.json");
        if (!file.open(QIODevice::WriteOnly) || file.write(recipe) != recipe.size())
            qFatal("the recipe cannot be written");
        return file.fileName();
    }

    inline static const QString kProgram = QStringLiteral(QS_BINARY_DIR "/bin/quantscope");

    static QJsonObject run(const QStringList& words)
    {
        QProcess process;
        process.start(kProgram, words);
        if (!process.waitForFinished(120000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }

    QString m_model, m_folder;
    QStringList m_words;
    std::map<QByteArray, QJsonObject> m_told; ///< by decisions and data
};

} // namespace qs
