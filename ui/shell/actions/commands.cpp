// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/commands.h"

#include "engine/base/files/atomic_file.h"
#include "engine/configure/backend/settings.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/backend_config.h"
#include "engine/export/exporter.h"
#include "engine/extensions/load_pack.h"
#include "engine/project/outside_paths.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/recipe/qconfig_editor.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/session/worst_nodes.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/dialogs/pack_offer.h"
#include "ui/shell/dialogs/run_dialogs.h"
#include "ui/shell/empty_state.h"
#include "ui/shell/main_window.h"
#include "ui/shell/outside_question.h"
#include "ui/shell/picture/screenshot.h"
#include "ui/shell/project_files.h"
#include "ui/shell/short_paths.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>

#include <algorithm>

namespace qs {

namespace {

const QString kRecentKey = QStringLiteral("recentFiles");
constexpr int kRecentCount = 9;

/// Returns the canonical path of a file: absolute, without links.
QString placeOf(const QString& path)
{
    const QFileInfo file(path);
    const QString canonical = file.canonicalFilePath(); // empty if the file does not exist
    return canonical.isEmpty() ? QDir::cleanPath(file.absoluteFilePath()) : canonical;
}

/// Reads the stored entries, each file once. Drops relative paths: their folder is unknown.
QStringList readRecent()
{
    QStringList out;
    for (const QString& path : QSettings().value(kRecentKey).toStringList())
        if (QDir::isAbsolutePath(path) && !out.contains(placeOf(path)))
            out << placeOf(path);
    return out;
}

} // namespace

Commands::Commands(MainWindow& window)
    : QObject(&window)
    , m_window(window)
    , m_recent(readRecent())
{
    connectFile();
    connectEdit();
    connectView();
    connectGraph();
    connectRecipe();
    connectRun();
    connectWindow();
    refreshRecent();
    connect(&window.workspace().pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Open)
            addRecent(m_window.projects().openedPath());
    });
}

void Commands::openDialog()
{
    const QString from = m_recent.isEmpty() ? samplePath() : m_recent.front();
    const QString path = QFileDialog::getOpenFileName(
        &m_window, tr("Open model"), QFileInfo(from).path(),
        tr("Models and projects (*.pt2 *.pt *.ts *.pth *.json);;All files (*)"));
    if (!path.isEmpty() && m_window.projects().mayLeave())
        m_window.openModel(path);
}

void Commands::openRecipe()
{
    const QString path
        = QFileDialog::getOpenFileName(&m_window, tr("Open recipe"), {}, tr("Recipes (*.json)"));
    if (path.isEmpty())
        return;
    auto recipe = readRecipe(path.toStdString());
    if (!recipe) {
        m_window.messageBar().showError(tr("Reading the recipe"), recipe.error());
        return;
    }
    const auto take = [this, path, recipe = withLoadedPacks(*recipe)] {
        auto& workspace = m_window.workspace();
        workspace.undoStack().push(new RecipeCommand(
            workspace.document(), tr("take %1").arg(QFileInfo(path).fileName()), recipe));
    };
    if (mayReadOutside(m_window.messageBar(), path, pathsOutside(*recipe, path.toStdString()),
                       take))
        take();
}

void Commands::saveRecipe()
{
    const QString path = QFileDialog::getSaveFileName(
        &m_window, tr("Save recipe"), QStringLiteral("recipe.json"), QStringLiteral("*.json"));
    if (path.isEmpty())
        return;
    auto& workspace = m_window.workspace();
    const auto written = writeFileAtomically(
        path.toStdString(),
        recipeToJson(writtenBeside(workspace.document().recipe(), path.toStdString())));
    if (written)
        workspace.document().markSaved(!m_window.projects().projectPath().isEmpty());
    else
        m_window.messageBar().showError(tr("Saving the recipe"), written.error());
}

void Commands::savePicture()
{
    const QString path = QFileDialog::getSaveFileName(
        &m_window, tr("Save picture"), QStringLiteral("quantscope.png"), QStringLiteral("*.png"));
    if (path.isEmpty())
        return;
    if (const auto written = writePicture(m_window.grab(), path); !written)
        m_window.messageBar().showError(tr("Saving the picture"), written.error());
}

void Commands::addRecent(const QString& path)
{
    if (path.isEmpty() || !m_window.keepsRecent())
        return;
    m_recent = readRecent(); // another window may have changed the list
    m_recent.removeAll(placeOf(path));
    m_recent.prepend(placeOf(path));
    m_recent = m_recent.mid(0, kRecentCount);
    QSettings().setValue(kRecentKey, m_recent);
    refreshRecent();
}

void Commands::refreshRecent()
{
    auto& menu = m_window.actions().recentMenu();
    menu.clear();
    menu.setEnabled(!m_recent.isEmpty());
    const QStringList names = shortPaths(m_recent);
    for (qsizetype i = 0; i < names.size(); ++i) {
        const QString path = m_recent.at(i);
        auto* action = menu.addAction(QStringLiteral("&%1  %2").arg(i + 1).arg(names[i]));
        action->setToolTip(path);
        if (const QString packs = packsText(path); !packs.isEmpty())
            action->setText(action->text() + QLatin1Char('\t') + packs);
        connect(action, &QAction::triggered, &m_window, [this, path] {
            if (m_window.projects().mayLeave())
                m_window.openModel(path);
        });
    }
    if (auto* empty = m_window.findChild<EmptyState*>())
        empty->setRecentFiles(m_recent);
}

void Commands::stageClicked(Stage stage)
{
    auto& pipeline = m_window.workspace().pipeline();
    if (pipeline.status(stage).state == StageStatus::State::Running)
        return;
    switch (stage) {
    case Stage::Open:
        openDialog();
        break;
    case Stage::Backend:
        chooseBackend();
        break;
    case Stage::Plan:
        pipeline.plan();
        break;
    case Stage::Calibrate:
        if (askCalibration())
            pipeline.runUpTo(stage);
        break;
    case Stage::Export:
        askExport();
        break;
    default:
        pipeline.runUpTo(stage);
        break;
    }
}

void Commands::runAll()
{
    m_window.workspace().pipeline().runUpTo(Stage::Compare);
}

bool Commands::askCalibration()
{
    auto& workspace = m_window.workspace();
    auto& document = workspace.document();
    CalibrateDialog dialog(document.settings(), document.recipe().calibration,
                           toQString(document.model()->info().path), &m_window);
    if (dialog.exec() != QDialog::Accepted)
        return false;
    document.setSettings(dialog.settings());
    if (!(dialog.amount() == document.recipe().calibration)) {
        Recipe recipe = document.recipe();
        recipe.calibration = dialog.amount();
        workspace.undoStack().push(
            new RecipeCommand(document, tr("change the calibration"), recipe));
    }
    return true;
}

void Commands::addRequirement(QMenu& menu)
{
    auto* action = menu.addAction(tr("A recipe must name its backend"));
    action->setObjectName(QStringLiteral("requireTarget"));
    action->setToolTip(
        tr("A recipe without a backend is then an error, in window and command line"));
    action->setCheckable(true);
    const auto settings = readSettings();
    action->setChecked(settings && settings->requiresTarget);
    connect(action, &QAction::triggered, this, [this](bool required) {
        Settings changed = readSettings().value_or(Settings());
        changed.requiresTarget = required;
        if (const auto written = writeSettings(changed); !written)
            m_window.messageBar().showError(tr("Saving the settings"), written.error());
        m_window.workspace().pipeline().plan();
    });
}

void Commands::chooseBackend()
{
    auto& workspace = m_window.workspace();
    const std::string current = workspace.document().recipe().backend; // empty before one is chosen
    QMenu menu(&m_window);
    menu.setObjectName(QStringLiteral("backendMenu"));
    const auto add = [&](const QString& text, const std::string& backend) {
        // The purpose is shown in the column of shortcuts.
        const QString purpose = backendPurpose(backend);
        auto* action = menu.addAction(purpose.isEmpty() ? text : text + u'\t' + purpose);
        action->setCheckable(true);
        action->setChecked(backend == current);
        connect(action, &QAction::triggered, this,
                [&workspace, backend] { workspace.chooseBackend(backend); });
        return backend == current;
    };
    bool shipped = false;
    for (const auto& name : shippedBackends())
        shipped = add(QString::fromStdString(name), name) || shipped;
    menu.addSeparator();
    if (!shipped && !current.empty())
        add(QFileInfo(QString::fromStdString(current)).fileName(), current);
    connect(menu.addAction(tr("From a file…")), &QAction::triggered, this, [this] {
        const QString path
            = QFileDialog::getOpenFileName(&m_window, tr("Backend"), {}, tr("Backends (*.json)"));
        if (!path.isEmpty())
            m_window.workspace().chooseBackend(path.toStdString());
    });
    auto* empty = menu.addAction(tr("New, from an empty one…"));
    empty->setObjectName(QStringLiteral("emptyBackend"));
    connect(empty, &QAction::triggered, this, &Commands::newBackendWanted);
    menu.addSeparator();
    addRequirement(menu);
    auto* button = m_window.findChild<QWidget*>(QStringLiteral("stageBackend"));
    menu.exec(button ? button->mapToGlobal(QPoint(0, button->height() + 4)) : QCursor::pos());
}

void Commands::askExport()
{
    auto& workspace = m_window.workspace();
    const QFileInfo model(QString::fromStdString(workspace.document().model()->info().path));
    ExportDialog dialog(exportForms(),
                        model.dir().filePath(model.completeBaseName() + QStringLiteral("-int8")),
                        &m_window);
    if (dialog.exec() == QDialog::Accepted)
        workspace.pipeline().exportTo(dialog.choices());
}

void Commands::newQConfig()
{
    auto& workspace = m_window.workspace();
    const auto& recipe = workspace.document().recipe();
    const auto* decided
        = workspace.facts().plan(workspace.facts().leader(workspace.selection().nodes()));
    QConfig start = decided && decided->qconfig
        ? *decided->qconfig
        : findQConfig(recipe, presetOf(recipe.target())).value_or(QConfig());
    QConfigDialog dialog(start, workspace.qconfigNames(), &m_window);
    if (dialog.exec() != QDialog::Accepted || dialog.name().isEmpty())
        return;
    Recipe with = recipe;
    with.qconfigs[dialog.name().toStdString()] = dialog.config();
    const AssignTarget target = workspace.nodeTarget();
    if (!target.keys.empty())
        with = assignQConfig(with, target, dialog.name().toStdString());
    workspace.undoStack().push(
        new RecipeCommand(workspace.document(), tr("make qconfig %1").arg(dialog.name()), with));
}

void Commands::assignSelection(const std::optional<std::string>& name)
{
    auto& workspace = m_window.workspace();
    const auto& selection = workspace.selection();
    AssignTarget target = workspace.nodeTarget();
    const std::string module = selection.modulePath().toStdString();
    if (selection.isModule() && !module.empty()
        && workspace.document().model()->modules().tryGet(module))
        target = {RuleKind::ModuleName, {module}};
    workspace.assign(target, name);
}

void Commands::cyclePrecision()
{
    auto& workspace = m_window.workspace();
    const auto& nodes = workspace.selection().nodes();
    if (nodes.empty())
        return;
    const bool own = workspace.facts().isOverridden(nodes);
    const bool isFloat = workspace.facts().qconfigText(nodes) == QLatin1String("float");
    const std::string preset = presetOf(workspace.document().recipe().target());
    if (!own)
        assignSelection(std::string());
    else if (isFloat && !preset.empty())
        assignSelection(preset);
    else
        assignSelection(std::nullopt);
}

void Commands::selectWorst(int direction)
{
    auto& workspace = m_window.workspace();
    const ComparisonPtr& shown = workspace.facts().comparison();
    const auto order = shown ? worstFirst(*shown, workspace.facts()) : std::vector<NodeId>();
    if (order.empty())
        return;
    const auto at = std::find_if(order.begin(), order.end(),
                                 [&](NodeId id) { return workspace.selection().contains(id); });
    const auto count = qint64(order.size());
    const qint64 next = at == order.end() ? 0 : ((at - order.begin()) + direction + count) % count;
    workspace.selectNode(order[std::size_t(next)]);
    m_window.graphPane().revealSelection();
    m_window.graphPane().view().setFocus(); // for the arrow keys
}

void Commands::walk(bool down)
{
    auto& workspace = m_window.workspace();
    const auto& model = workspace.document().model();
    const auto& nodes = workspace.selection().nodes();
    if (nodes.empty())
        return;
    NodeId next;
    if (down) {
        const auto users = model->users({nodes.back(), 0});
        if (!users.empty())
            next = users.front().node;
    } else {
        for (const auto& arg : model->get(nodes.front()).args)
            forEachRef(arg.value, [&](ValueRef ref) {
                if (!next && workspace.foldTree()->unitOf(ref.node) >= 0)
                    next = ref.node;
            });
    }
    if (next) {
        workspace.selectNode(next);
        m_window.graphPane().revealSelection();
    }
}

} // namespace qs
