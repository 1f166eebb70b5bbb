// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/pack_offer.h"

#include "engine/base/process/missing_pack.h"
#include "engine/configure/extension_packs.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/dialogs/packs_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <set>

namespace qs {

namespace {

const QString kNeededKey = QStringLiteral("recentPacks");

QString keyOf(const QString& path)
{
    return QFileInfo(path).canonicalFilePath();
}

/// Returns the folders of the packs that the file was used with.
QStringList neededPacks(const QString& path)
{
    return QSettings().value(kNeededKey).toMap().value(keyOf(path)).toStringList();
}

QStringList notLoaded(QStringList folders)
{
    folders.removeIf([](const QString& folder) {
        return std::ranges::any_of(loadedPacks(), [&folder](const ExtensionPackPtr& pack) {
            return toQString(pack->folder) == folder;
        });
    });
    return folders;
}

QString packNames(const QStringList& folders)
{
    QStringList names;
    for (const QString& folder : folders)
        names << QDir(folder).dirName();
    return names.join(QStringLiteral(", "));
}

/// Returns "sites" for "sites.linear" and "sites::linear".
std::string namespaceOf(const std::string& target)
{
    return target.substr(0, target.find_first_of(".:"));
}

/// True if the graph has operators or modules of the pack.
bool isUsed(const ExtensionPack& pack, const Graph& graph)
{
    std::set<std::string> own;
    for (const OperatorFacts& one : pack.operators)
        own.insert(namespaceOf(one.target));
    for (const PackClassSpec& one : pack.classes)
        own.insert(namespaceOf(one.name));
    const bool calls = std::ranges::any_of(graph.nodes(), [&own](const NodePtr& node) {
        return node->isOperator() && own.contains(namespaceOf(node->target));
    });
    return calls || std::ranges::any_of(pack.modules, [&graph](const PackModuleSpec& spec) {
               return std::ranges::any_of(graph.modules().inOrder(), [&](const auto* module) {
                   return module->moduleClass == spec.floatClass;
               });
           });
}

} // namespace

QString packsText(const QString& path)
{
    const QStringList folders = neededPacks(path);
    return folders.isEmpty() ? QString() : PackOffer::tr("needs %1").arg(packNames(folders));
}

PackOffer::PackOffer(MainWindow& window, QObject* parent)
    : QObject(parent)
    , m_window(window)
{
    connect(&window.workspace().pipeline(), &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage == Stage::Open) {
            m_refused.reset();
            m_isNew = true;
        } else if (stage == Stage::Plan)
            onPlanned();
    });
}

void PackOffer::noteOpening(const QString& path, const Recipe& recipe)
{
    m_refused.reset();
    m_noted = {path, recipe};
}

bool PackOffer::offer(Stage stage, const Error& error)
{
    const Document& document = m_window.workspace().document();
    if (stage == Stage::Plan) {
        const auto loaded = checkPacksLoaded(document.recipe().extensions);
        if (!loaded)
            show(toQString(loaded.error().message), tr("The recipe asks for it."), true);
        if (!loaded)
            return true;
    }
    if (!lacksPack(error))
        return false;
    if (stage == Stage::Open)
        m_refused = m_noted;
    Error plain = error;
    plain.hint.clear();
    // Remove the hint for the command line from the message.
    const auto way = plain.message.find(std::string("; ") + kLoadPackHint);
    plain.message = plain.message.substr(0, way);
    show(stageText(stage) + QStringLiteral(": ") + toQString(plain.line()),
         tr("An extension pack has what it needs."), true);
    return true;
}

void PackOffer::show(const QString& headline, const QString& detail, bool isError)
{
    const QString path = m_refused ? m_refused->path : m_window.projects().openedPath();
    std::vector<MessageBar::Choice> choices;
    for (const QString& folder : notLoaded(neededPacks(path)))
        choices.push_back({tr("Add %1").arg(QDir(folder).dirName()),
                           tr("It was used with this file: %1").arg(folder),
                           [this, folder] { add(folder); }});
    choices.push_back(
        {tr("Add pack…"), tr("Choose the folder of an extension pack"), [this] { add({}); }});
    m_window.messageBar().showChoices(
        isError ? MessageBar::Kind::Error : MessageBar::Kind::Warning, kPacksTopic, headline,
        detail + QLatin1Char(' ') + tr("Nothing is loaded unless you add its folder."), {},
        std::move(choices));
}

PacksDialog& PackOffer::openDialog()
{
    auto* dialog = new PacksDialog(m_window.workspace(), &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setRetry([this] { return retry(); });
    dialog->open();
    return *dialog;
}

/// Opens the dialog and reads the folder; if it is empty, asks for one.
void PackOffer::add(const QString& folder)
{
    PacksDialog* dialog = &openDialog();
    if (folder.isEmpty())
        dialog->chooseFolder();
    else
        dialog->readFolder(folder);
}

bool PackOffer::retry()
{
    if (!m_refused)
        return false;
    const File file = *m_refused; // a copy: opening clears `m_refused`
    m_window.openModel(file.path, file.recipe);
    return true;
}

void PackOffer::onPlanned()
{
    const QString path = m_window.projects().openedPath();
    const QStringList lacking = notLoaded(neededPacks(path));
    if (std::exchange(m_isNew, false) && !lacking.isEmpty())
        QMetaObject::invokeMethod(
            this,
            [this, path, lacking] {
                show(tr("%1 was used with %2").arg(QFileInfo(path).fileName(), packNames(lacking)),
                     tr("That extension pack is not loaded."), false);
            },
            Qt::QueuedConnection);
    if (lacking.isEmpty() && m_window.keepsRecent())
        remember();
}

/// Stores in the settings which loaded packs the open file uses.
void PackOffer::remember()
{
    const Document& document = m_window.workspace().document();
    const QString key = keyOf(m_window.projects().openedPath());
    if (key.isEmpty() || !document.model())
        return;
    QStringList folders;
    for (const ExtensionPackPtr& pack : loadedPacks())
        if (isUsed(*pack, *document.model()))
            folders << toQString(pack->folder);
    QVariantMap all = QSettings().value(kNeededKey).toMap();
    if (all.value(key).toStringList() == folders)
        return;
    if (folders.isEmpty())
        all.remove(key);
    else
        all.insert(key, folders);
    QSettings().setValue(kNeededKey, all);
    m_window.commands().refreshRecent();
}

} // namespace qs
