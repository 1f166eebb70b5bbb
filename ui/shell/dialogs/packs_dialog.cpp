// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/packs_dialog.h"

#include "engine/extensions/load_pack.h"
#include "engine/extensions/pack_file.h"
#include "engine/extensions/pack_report.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFrame>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QStatusBar>
#include <QTreeWidget>

#include <algorithm>

namespace qs {

namespace {

const QString kReadTag = QStringLiteral("readPack");
const QString kLoadTag = QStringLiteral("loadPack");
const QString kAllowedKey = QStringLiteral("allowedPacks");

bool isAllowed(const ExtensionPack& pack)
{
    return QSettings().value(kAllowedKey).toStringList().contains(toQString(pack.sha256));
}

void keepAllowed(const ExtensionPack& pack)
{
    QStringList allowed = QSettings().value(kAllowedKey).toStringList();
    allowed << toQString(pack.sha256);
    allowed.removeDuplicates();
    QSettings().setValue(kAllowedKey, allowed);
}

bool isLoaded(const ExtensionPack& wanted)
{
    return std::ranges::any_of(loadedPacks(), [&wanted](const ExtensionPackPtr& pack) {
        return pack->sha256 == wanted.sha256;
    });
}

/// Returns the names of the loaded packs that the recipe does not request.
QStringList packsThatStay(const Recipe& recipe)
{
    QStringList names;
    for (const ExtensionPackPtr& pack : loadedPacks())
        if (std::ranges::find(recipe.extensions, pack->name) == recipe.extensions.end())
            names << toQString(pack->name);
    return names;
}

/// Adds a loaded pack to the recipe and plans again; works after the dialog was closed.
void takeUpPacks(Workspace& workspace, const ExtensionPack& loaded)
{
    Document& document = workspace.document();
    if (!document.model())
        return;
    document.refreshKeys();
    Recipe recipe = withLoadedPacks(document.recipe());
    if (recipe == document.recipe())
        workspace.pipeline().plan();
    else
        workspace.change(PacksDialog::tr("load the pack %1").arg(toQString(loaded.name)),
                         std::move(recipe));
}

} // namespace

void tellPacksThatStay(Workspace& workspace, QStatusBar& status)
{
    const auto tell = [&workspace, &status, told = QStringList()]() mutable {
        const Document& document = workspace.document();
        const QStringList names
            = document.model() ? packsThatStay(document.recipe()) : QStringList();
        if (!names.isEmpty() && names != told)
            status.showMessage(
                PacksDialog::tr("The recipe no longer asks for %1; it stays loaded, and its "
                                "patterns apply, until the program is closed.")
                    .arg(names.join(QStringLiteral(", "))),
                8000);
        told = names;
    };
    QObject::connect(&workspace.document(), &Document::recipeChanged, &status, tell);
}

PacksDialog::PacksDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_jobs(&workspace.pipeline().jobs())
    , m_packs(new QTreeWidget(this))
    , m_problem(makeProblemLabel("packProblem", this))
    , m_busy(makeParagraph(QString(), this))
    , m_question(buildQuestion())
    , m_add(makeButton("packAdd", tr("&Add…"), tr("Choose the folder of a pack"), this))
{
    setObjectName(QStringLiteral("packsDialog"));
    setWindowTitle(tr("Extension packs"));
    resize(px(820), px(560));
    auto* intro = makeParagraph(
        tr("A pack brings operators, patterns and kernels of your own. Its libraries and scripts "
           "are programs that run inside this one: no model, recipe or project loads one, only you "
           "do. Add shows the content that a folder declares, and asks before any of it runs."),
        this);
    setNames(*m_packs, "packs", tr("Extension packs and what they add"));
    m_packs->setHeaderLabels({tr("Pack"), tr("Kind and content")});
    m_packs->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    m_packs->setSelectionMode(QAbstractItemView::SingleSelection);
    for (QLabel* label : {m_problem, m_busy})
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_busy->setObjectName(QStringLiteral("packBusy"));
    m_busy->hide();
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* last = new QHBoxLayout;
    addItems(*last, {m_add, {m_busy, 1}});
    last->addStretch();
    last->addWidget(close);
    addItems(*makeVBox(this, {20, 16, 20, 14}, 10),
             {intro, {m_packs, 1}, m_question, m_problem, last});
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_add, &QPushButton::clicked, this, &PacksDialog::chooseFolder);
    refresh();
    m_add->setFocus();
    if (const auto loaded = checkPacksLoaded(workspace.document().recipe().extensions); !loaded)
        say(toQString(loaded.error().message));
}

PacksDialog::~PacksDialog()
{
    if (m_jobs) // already destroyed if the window itself closes
        m_jobs->cancel(kReadTag);
}

QWidget* PacksDialog::buildQuestion()
{
    auto* box = new QFrame(this);
    box->setObjectName(QStringLiteral("packQuestion"));
    box->setStyleSheet(QStringLiteral("QFrame#packQuestion { background: %1; border-radius: 6px; }")
                           .arg(theme().warningFill.name()));
    m_questionText = new QLabel(box);
    m_questionText->setObjectName(QStringLiteral("packQuestionText"));
    m_questionText->setWordWrap(true);
    m_questionText->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_load
        = makeButton("packLoad", tr("&Load"),
                     tr("Run its code inside this program; not asked again for these files"), box);
    m_load->setProperty("primary", true);
    auto* leave = new QPushButton(tr("Do &not load"), box);
    leave->setObjectName(QStringLiteral("packLeave"));
    addItems(*makeHBox(box, {12, 10, 12, 10}), {{m_questionText, 1}, leave, m_load});
    connect(m_load, &QPushButton::clicked, this, &PacksDialog::allow);
    connect(leave, &QPushButton::clicked, this, [this] { ask(nullptr); });
    box->hide();
    return box;
}

void PacksDialog::chooseFolder()
{
    const QString folder
        = QFileDialog::getExistingDirectory(this, tr("Folder of an extension pack"));
    if (!folder.isEmpty())
        readFolder(folder);
}

void PacksDialog::readFolder(const QString& folder)
{
    ask(nullptr);
    setBusy(tr("Reading %1 …").arg(folder));
    m_jobs->run(
        Lane::Engine, kReadTag,
        [folder = folder.toStdString()](JobContext&) { return readPack(folder); }, this,
        [this](const Result<ExtensionPack>& read) {
            setBusy({});
            if (read)
                onRead(std::make_shared<const ExtensionPack>(*read));
            else
                say(toQString(read.error().line()));
        });
}

void PacksDialog::onRead(const ExtensionPackPtr& pack)
{
    if (isLoaded(*pack))
        say(tr("%1 is loaded already.").arg(toQString(pack->name)));
    else if (isAllowed(*pack))
        load(pack);
    else
        ask(pack);
}

void PacksDialog::ask(ExtensionPackPtr pack)
{
    m_asked = std::move(pack);
    say({});
    if (m_asked)
        m_questionText->setText(
            tr("Load %1 into this program? Its code then runs here with all your permissions. Load "
               "no pack that you would not start as a program.")
                .arg(toQString(m_asked->name)));
    m_question->setVisible(m_asked != nullptr);
    refresh();
    if (m_asked)
        m_load->setFocus();
}

void PacksDialog::allow()
{
    const ExtensionPackPtr pack = m_asked;
    keepAllowed(*pack);
    ask(nullptr);
    load(pack);
}

void PacksDialog::load(const ExtensionPackPtr& pack)
{
    setBusy(
        tr("Trying %1 in a copy of this program, then loading it …").arg(toQString(pack->name)));
    Workspace* workspace = &m_workspace;
    m_jobs->run(
        Lane::Engine, kLoadTag,
        [pack](JobContext& job) { return loadPack(pack->folder, job, pack->sha256); }, workspace,
        [workspace, pack, retry = m_retry,
         dialog = QPointer<PacksDialog>(this)](const Result<ExtensionPackPtr>& loaded) {
            const bool isRetried = loaded && retry && retry();
            if (loaded && !isRetried)
                takeUpPacks(*workspace, *pack);
            if (!dialog)
                return;
            if (isRetried)
                return dialog->accept();
            dialog->setBusy({});
            dialog->say(loaded ? QString() : toQString(loaded.error().line()));
            dialog->refresh();
        });
}

void PacksDialog::refresh()
{
    m_packs->clear();
    for (const ExtensionPackPtr& pack : loadedPacks())
        addPack(*pack);
    if (m_asked)
        addPack(*m_asked);
    if (m_packs->topLevelItemCount() == 0) {
        auto* none = new QTreeWidgetItem(m_packs, {tr("No pack is loaded.")});
        none->setFirstColumnSpanned(true);
        none->setForeground(0, theme().muted);
        none->setFlags(Qt::ItemIsEnabled);
    } else {
        auto* newest = m_packs->topLevelItem(m_packs->topLevelItemCount() - 1);
        newest->setExpanded(true);
        m_packs->setCurrentItem(newest);
    }
}

void PacksDialog::addPack(const ExtensionPack& pack)
{
    const bool loaded = isLoaded(pack);
    auto* top
        = new QTreeWidgetItem(m_packs,
                              {toQString(pack.name),
                               loaded ? toQString(pack.description)
                                      : tr("not loaded: %1").arg(toQString(pack.description))});
    top->setFont(0, uiFont(13, 600));
    if (!loaded)
        top->setForeground(1, theme().warning);
    const auto add = [top](const QString& kind, const std::string& text, bool isMono) {
        auto* row = new QTreeWidgetItem(top, {kind, toQString(text)});
        row->setForeground(0, theme().muted);
        row->setToolTip(1, toQString(text));
        if (isMono)
            row->setFont(1, monoFont(11));
    };
    add(tr("path"), pack.folder, true);
    add(tr("SHA-256"), pack.sha256, true);
    add(tr("built for"), "torch " + pack.torchVersion, false);
    const Document& document = m_workspace.document();
    if (loaded && document.model()
        && packsThatStay(document.recipe()).contains(toQString(pack.name)))
        add(tr("recipe"),
            tr("does not ask for it; it stays loaded, and its patterns apply, until the program "
               "is closed")
                .toStdString(),
            false);
    for (const PackAddition& one : packAdditions(pack))
        add(toQString(one.kind), one.text, true);
}

void PacksDialog::say(const QString& problem)
{
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
}

void PacksDialog::setBusy(const QString& what)
{
    m_busy->setText(what);
    m_busy->setVisible(!what.isEmpty());
    m_add->setEnabled(what.isEmpty());
}

} // namespace qs
