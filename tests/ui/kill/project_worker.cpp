// SPDX-License-Identifier: GPL-3.0-or-later
// Works on a project in the window as somebody in a hurry does, until it is killed: decisions and
// edits, every few a save, now and then a calibration. Each decision is written to a log before the
// next one: the time and the hash of the recipe. With QS_CRASH it crashes where an edited graph is
// shown.
#include "engine/base/sha256.h"
#include "engine/pipeline/engine_service.h"
#include "ui/edit/graph_editor.h"
#include "ui/frame/message_bar.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QDateTime>
#include <QFile>
#include <QPushButton>
#include <QTimer>

#include <csignal>
#include <cstdio>
#include <random>

using namespace qs;

namespace {

class Worker : public QObject
{
public:
    Worker(MainWindow& window, const QString& project, const QString& log, unsigned seed)
        : m_window(window)
        , m_project(project)
        , m_log(log)
        , m_random(seed)
    {
        m_log.open(QIODevice::WriteOnly | QIODevice::Append);
        connect(&workspace().document(), &Document::recipeChanged, this, [this] { tell(); });
        connect(&workspace().pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
            if (stage == Stage::Plan && !m_begun) {
                m_begun = true;
                begin();
            }
        });
        if (qEnvironmentVariableIsSet("QS_CRASH"))
            connect(&workspace().document(), &Document::graphEdited, this,
                    [] { std::raise(SIGSEGV); });
        window.openModel(project);
    }

private:
    Workspace& workspace() { return m_window.workspace(); }
    std::size_t pick(std::size_t count) { return m_random() % count; }

    /// Once what was not saved has been offered, which moves its file away.
    void begin()
    {
        if (QFile::exists(unsavedFileFor(m_project))) {
            QTimer::singleShot(20, this, [this] { begin(); });
            return;
        }
        for (auto* button : m_window.messageBar().findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Bring back"))
                button->click();
        tell();
        std::puts("ready");
        std::fflush(stdout);
        next();
    }

    void next()
    {
        QTimer::singleShot(20 + int(pick(250)), this, [this] {
            step();
            next();
        });
    }

    void step()
    {
        const auto& document = workspace().document();
        std::vector<std::string> names;
        for (const auto& node : document.model()->nodes())
            if (node->isOperator())
                names.push_back(node->name);
        const std::string name = names[pick(names.size())];
        switch (pick(10)) {
        case 0:
            m_window.projects().saveTo(m_project);
            break;
        case 1:
            workspace().pipeline().runUpTo(Stage::Compare);
            break;
        case 2:
        case 3:
            workspace().undoStack().undo();
            break;
        case 4:
        case 5: {
            EditStep step;
            step.op = "aten.clamp.default";
            step.json = R"({"min":-4})";
            step.at = m_window.graphEditor().addressOf({document.model()->tryFind(name)->id, 0});
            step.name = m_window.graphEditor().freeName(step.op);
            m_window.graphEditor().attempt(step, [](const QString&) {});
            break;
        }
        default:
            workspace().assign({RuleKind::Node, {name}},
                               pick(2) ? std::optional<std::string>("") : std::nullopt);
            break;
        }
    }

    void tell()
    {
        Sha256 hash;
        const std::string recipe = recipeToJson(workspace().document().recipe());
        hash.update(recipe.data(), recipe.size());
        m_log.write(QByteArray::number(QDateTime::currentMSecsSinceEpoch()) + ' '
                    + QByteArray::fromStdString(hash.hex()) + '\n');
        m_log.flush();
    }

    MainWindow& m_window;
    QString m_project;
    QFile m_log;
    std::mt19937 m_random;
    bool m_begun = false;
};

/// The hash of the recipe in a project file as the worker prints it.
int tellOf(const QString& file)
{
    const auto project = readProject(file.toStdString());
    if (!project) {
        std::fputs((project.error().line() + "\n").c_str(), stderr);
        return 1;
    }
    Sha256 hash;
    const std::string recipe = recipeToJson(project->recipe);
    hash.update(recipe.data(), recipe.size());
    std::puts(hash.hex().c_str());
    return 0;
}

} // namespace

/// PROJECT LOG SEED works; --unsaved PROJECT names the file of what was not saved; --recipe FILE
/// prints the hash of a project's recipe.
int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QStringList words = app.arguments();
    if (words.size() == 3 && words[1] == QStringLiteral("--unsaved")) {
        std::puts(qPrintable(unsavedFileFor(words[2])));
        return 0;
    }
    if (words.size() == 3 && words[1] == QStringLiteral("--recipe"))
        return tellOf(words[2]);
    if (words.size() != 4)
        return 2;
    applyTheme(app, false);
    const auto engine = makeEngine();
    MainWindow window(*engine);
    window.resize(1280, 800);
    window.show();
    Worker worker(window, words[1], words[2], words[3].toUInt());
    return app.exec();
}
