// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/empty_state.h"

#include "engine/configure/resource_folder.h"
#include "ui/shell/from_python.h"
#include "ui/shell/short_paths.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace qs {

std::vector<SampleModel> sampleModels()
{
    const SampleModel wanted[]
        = {{QStringLiteral("digits"), EmptyState::tr("Digits"),
            EmptyState::tr("Convolutions: handwritten digits to ten classes")},
           {QStringLiteral("sequences"), EmptyState::tr("Transformer"),
            EmptyState::tr("Attention: a sequence of tokens to the digit after a marker")},
           {QStringLiteral("shapes"), EmptyState::tr("Detector"),
            EmptyState::tr("Boxes and scores of drawn shapes, in one tensor")}};
    std::vector<SampleModel> out;
    for (SampleModel sample : wanted) {
        const std::string file = sample.path.toStdString() + ".pt2";
        sample.path = QString::fromStdString((resourceFolder() / "samples" / file).string());
        if (QFileInfo::exists(sample.path))
            out.push_back(std::move(sample));
    }
    return out;
}

QString samplePath()
{
    const auto samples = sampleModels();
    return samples.empty() ? QString() : samples.front().path;
}

EmptyState::EmptyState(QWidget* parent)
    : QWidget(parent)
    , m_recent(makeVBox(nullptr, {}, 2))
{
    setObjectName(QStringLiteral("emptyState"));
    setAttribute(Qt::WA_StyledBackground);
    setDropping(false);
    auto* python = new FromPython(this);
    python->setMaximumWidth(px(620));
    auto* keys = makeMutedLabel(tr("Ctrl+O opens · Ctrl+Shift+P finds any command · F1 explains"),
                                11.5, this);
    auto* middle = makeHBox(nullptr, {}, 0);
    middle->addStretch(1);
    middle->addWidget(python, 8);
    middle->addStretch(1);
    auto* column = makeVBox(this, {px(16), px(12), px(16), px(12)}, px(10));
    column->addStretch(4);
    column->addWidget(buildOpening());
    column->addWidget(buildSamples());
    column->addLayout(m_recent);
    column->addSpacing(px(6));
    column->addLayout(middle);
    column->addWidget(keys, 0, Qt::AlignHCenter);
    column->addStretch(5);
}

QWidget* EmptyState::buildOpening()
{
    auto* box = new QWidget(this);
    auto* title = new QLabel(tr("Open a traced model"), box);
    title->setFont(uiFont(22, 600));
    auto* text = new QLabel(tr("A .pt2 of torch.export.save or a TorchScript .pt. You then see it "
                               "as a graph, decide node by node how it is quantized, calibrate it "
                               "on your data, and see what every layer loses."),
                            box);
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignHCenter);
    text->setFixedWidth(px(480));
    text->setFont(uiFont(13));
    text->setMinimumHeight(text->heightForWidth(px(480)));
    text->setStyleSheet(inkStyle(theme().muted));
    auto* open = new QPushButton(tr("Open model…"), box);
    open->setObjectName(QStringLiteral("emptyOpen"));
    open->setProperty("primary", true);
    open->setMinimumSize(px(140), px(32));
    auto* hint = new QLabel(tr("or drop a file here"), box);
    hint->setStyleSheet(inkStyle(theme().muted));
    auto* column = makeVBox(box, {}, px(10));
    for (QWidget* part : {static_cast<QWidget*>(title), static_cast<QWidget*>(text),
                          static_cast<QWidget*>(open), static_cast<QWidget*>(hint)})
        column->addWidget(part, 0, Qt::AlignHCenter);
    connect(open, &QPushButton::clicked, this, &EmptyState::openWanted);
    return box;
}

QWidget* EmptyState::buildSamples()
{
    auto* box = new QWidget(this);
    auto* row = makeHBox(box, {}, 8);
    row->addStretch(1);
    row->addWidget(makeMutedLabel(tr("Samples"), 11.5, box));
    const auto samples = sampleModels();
    for (const SampleModel& sample : samples) {
        const QString name
            = QStringLiteral("sample_%1").arg(QFileInfo(sample.path).completeBaseName());
        auto* button = makeButton(qPrintable(name), sample.title, sample.tip, box);
        connect(button, &QPushButton::clicked, this,
                [this, path = sample.path] { Q_EMIT fileWanted(path); });
        row->addWidget(button);
    }
    row->addStretch(1);
    box->setVisible(!samples.empty());
    return box;
}

void EmptyState::setDropping(bool dropping)
{
    setStyleSheet(QStringLiteral("QWidget#emptyState { background: %1; border: 2px %2; }")
                      .arg((dropping ? theme().accentSoft : theme().canvas).name(),
                           dropping ? QStringLiteral("dashed ") + theme().accent.name()
                                    : QStringLiteral("solid ") + theme().canvas.name()));
}

void EmptyState::setRecentFiles(const QStringList& files)
{
    while (auto* item = m_recent->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const QStringList shown = files.mid(0, 5), names = shortPaths(shown);
    if (!shown.isEmpty()) {
        auto* heading = makeMutedLabel(tr("Recent"), 11.5, this);
        m_recent->addWidget(heading, 0, Qt::AlignHCenter);
    }
    for (qsizetype i = 0; i < shown.size(); ++i) {
        const QString& file = shown[i];
        auto* button = makeButton("recentFile", names[i], file, this);
        button->setFlat(true);
        button->setCursor(Qt::PointingHandCursor);
        button->setStyleSheet(QStringLiteral("border: none; background: transparent; color: %1;")
                                  .arg(theme().accent.name()));
        connect(button, &QPushButton::clicked, this, [this, file] { Q_EMIT fileWanted(file); });
        m_recent->addWidget(button, 0, Qt::AlignHCenter);
    }
}

} // namespace qs
