// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/about_dialog.h"

#include "engine/base/build_info.h"
#include "engine/configure/resource_folder.h"
#include "engine/kernels/device_plugin.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QScreen>
#include <QSysInfo>
#include <QTextBrowser>
#include <QTreeWidget>

namespace qs {

namespace {

QString resources()
{
    return QString::fromStdString(resourceFolder().string());
}

QString wholeText(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Returns the files below a folder, sorted; empty if the folder is missing.
QStringList filesBelow(const QString& folder)
{
    QStringList out;
    const QDir here(folder);
    for (const QFileInfo& file :
         here.entryInfoList(QDir::Files | QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name))
        if (file.isDir())
            out += filesBelow(file.filePath());
        else
            out << file.filePath();
    return out;
}

/// Returns the licence folder of a wheel in the Python environment of the source tree.
QString wheelLicences(const QString& wheel)
{
    QDir environment(resources() + QStringLiteral("/../.venv/lib"));
    for (const QString& python : environment.entryList({QStringLiteral("python3*")}, QDir::Dirs)) {
        const QDir site(environment.filePath(python + QStringLiteral("/site-packages")));
        for (const QString& info :
             site.entryList({wheel + QStringLiteral("-*.dist-info")}, QDir::Dirs))
            return site.filePath(info + QStringLiteral("/licenses"));
    }
    return {};
}

QStringList existing(const QStringList& paths)
{
    QStringList out;
    for (const QString& path : paths)
        if (QFileInfo(path).isFile())
            out << path;
    return out;
}

/// Returns the texts of our own components: the notice, then the licence that it names.
QStringList ownTexts(const QString& notice)
{
    const bool isWindow = notice == QLatin1String("LICENSE.ui");
    const QString top = resources() + QStringLiteral("/../");
    const QStringList notices
        = existing({top + QStringLiteral("doc/quantscope/") + notice,
                    top + (isWindow ? QStringLiteral("ui/LICENSE") : QStringLiteral("LICENSE"))});
    return existing({notices.value(0),
                     isWindow ? QStringLiteral("/usr/share/common-licenses/GPL-3")
                              : QStringLiteral("/usr/share/common-licenses/Apache-2.0")});
}

QStringList textsOf(const QJsonObject& part)
{
    const QString notice = part[QStringLiteral("text")].toString();
    const QString package = part[QStringLiteral("package")].toString();
    const QString wheel = part[QStringLiteral("wheel")].toString();
    if (!notice.isEmpty())
        return ownTexts(notice);
    const QString installed = resources() + QStringLiteral("/../doc/quantscope/licences/");
    const QString carried
        = wheel.isEmpty() ? package : QString(wheel).replace(QLatin1Char('_'), QLatin1Char('-'));
    if (QStringList texts = filesBelow(installed + carried); !carried.isEmpty() && !texts.isEmpty())
        return texts;
    if (!wheel.isEmpty())
        return filesBelow(wheelLicences(wheel));
    return existing({QStringLiteral("/usr/share/doc/%1/copyright").arg(package)}); // no words
}

QString cudaWords(const std::string& built)
{
    const CudaFacts facts = cudaFacts();
    QStringList words;
    words << (built.empty()
                  ? AboutDialog::tr("no plug-in was built")
                  : AboutDialog::tr("plug-in built with %1").arg(QString::fromStdString(built)));
    if (facts.driver) {
        QStringList devices;
        for (const std::string& device : facts.devices)
            devices << QString::fromStdString(device);
        words << AboutDialog::tr("driver for CUDA %1")
                     .arg(QString::fromStdString(facts.driverVersion))
              << devices.join(QStringLiteral(", "));
    }
    if (!facts.why.empty())
        words << QString::fromStdString(facts.why);
    return words.join(QStringLiteral("; "));
}

std::vector<std::pair<QString, QString>> versionRows()
{
    const BuildInfo build = buildInfo();
    return {{QStringLiteral("Quantscope"), QString::fromStdString(build.version)},
            {AboutDialog::tr("Build"), QString::fromStdString(build.build)},
            {QStringLiteral("LibTorch"), QString::fromStdString(build.torch)},
            {QStringLiteral("CUDA"), cudaWords(build.cuda)},
            {QStringLiteral("Qt"), QString::fromLatin1(qVersion())},
            {AboutDialog::tr("System"),
             QStringLiteral("%1, %2").arg(QSysInfo::prettyProductName(),
                                          QSysInfo::currentCpuArchitecture())}};
}

} // namespace

std::vector<LicencedPart> licencedParts()
{
    const auto list = QJsonDocument::fromJson(
        wholeText(resources() + QStringLiteral("/licences.json")).toUtf8());
    std::vector<LicencedPart> out;
    for (const QJsonValue entry : list.object()[QStringLiteral("licences")].toArray()) {
        const QJsonObject part = entry.toObject();
        out.push_back({part[QStringLiteral("name")].toString(),
                       part[QStringLiteral("licence")].toString(), textsOf(part)});
    }
    return out;
}

QString AboutDialog::versions()
{
    QString out;
    for (const auto& [what, which] : versionRows())
        out += QStringLiteral("%1: %2\n").arg(what, which);
    return out;
}

AboutDialog::AboutDialog(QWidget* parent)
    : QDialog(parent)
    , m_parts(licencedParts())
    , m_list(new QTreeWidget(this))
    , m_text(new QTextBrowser(this))
{
    setObjectName(QStringLiteral("aboutDialog"));
    setWindowTitle(tr("About Quantscope"));
    resize(std::min(px(860), 1200), std::min(px(560), 660));
    auto* title = new QLabel(tr("Quantize PyTorch models and see what every layer loses"), this);
    title->setFont(uiFont(14, 600));
    auto* facts = new QLabel(this);
    setNames(*facts, "aboutVersions", tr("Versions"));
    QString rows;
    for (const auto& [what, which] : versionRows())
        rows += QStringLiteral("<tr><td style=\"color:%1\">%2&nbsp;&nbsp;</td><td>%3</td></tr>")
                    .arg(theme().muted.name(), what.toHtmlEscaped(), which.toHtmlEscaped());
    facts->setText(QStringLiteral("<table>%1</table>").arg(rows));
    facts->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    facts->setWordWrap(true);
    setNames(*m_list, "aboutParts", tr("Components"));
    m_list->setHeaderLabels({tr("Component"), tr("Licence")});
    m_list->setRootIsDecorated(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    for (const LicencedPart& part : m_parts) {
        auto* item = new QTreeWidgetItem(m_list, {part.name, part.licence});
        item->setToolTip(1, part.licence);
    }
    setNames(*m_text, "aboutLicence", tr("Text of the licence"));
    m_text->setFrameShape(QFrame::NoFrame);
    auto* halves = makeSplitter("aboutHalves", Qt::Horizontal, this);
    halves->addWidget(m_list);
    halves->addWidget(m_text);
    halves->setSizes({px(400), px(440)});
    auto* copy = makeButton("aboutCopy", tr("Cop&y versions"),
                            tr("Copy the versions to the clipboard, for a bug report"), this);
    auto* close = makeButton("aboutClose", tr("&Close"), {}, this);
    auto* buttons = makeHBox(nullptr, {}, 10);
    buttons->addStretch(1);
    addItems(*buttons, {copy, close});
    addItems(*makeVBox(this, {20, 16, 20, 14}, 12), {title, facts, {halves, 1}, buttons});
    connect(copy, &QPushButton::clicked, this,
            [] { QApplication::clipboard()->setText(versions()); });
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    connect(m_list, &QTreeWidget::currentItemChanged, this,
            [this](QTreeWidgetItem* item) { showLicence(m_list->indexOfTopLevelItem(item)); });
    m_list->setCurrentItem(m_list->topLevelItem(0));
}

void AboutDialog::showLicence(int part)
{
    if (part < 0)
        return;
    const LicencedPart& shown = m_parts[std::size_t(part)];
    QStringList texts;
    for (const QString& path : shown.texts)
        texts << wholeText(path);
    m_text->setPlainText(texts.isEmpty()
                             ? tr("The text of %1 is not on this machine; see %2")
                                   .arg(shown.licence, QStringLiteral("https://spdx.org/licenses/"))
                             : texts.join(QStringLiteral("\n\n")));
}

} // namespace qs
