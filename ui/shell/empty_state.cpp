// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/empty_state.h"

#include "engine/configure/resource_folder.h"
#include "ui/shell/short_paths.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace qs {

QString samplePath()
{
    const QString path
        = QString::fromStdString((resourceFolder() / "samples" / "digits.pt2").string());
    return QFileInfo::exists(path) ? path : QString();
}

EmptyState::EmptyState(QWidget* parent)
    : QWidget(parent)
    , m_recent(makeVBox(nullptr, {}, 2))
{
    setObjectName(QStringLiteral("emptyState"));
    setAttribute(Qt::WA_StyledBackground);
    setDropping(false);
    auto* title = new QLabel(tr("Open a traced model"), this);
    title->setFont(uiFont(22, 600));
    auto* text = new QLabel(tr("A .pt2 of torch.export.save or a TorchScript .pt. You then see it "
                               "as a graph, decide node by node how it is quantized, calibrate it "
                               "on your data, and see what every layer loses."),
                            this);
    text->setWordWrap(true);
    text->setAlignment(Qt::AlignHCenter);
    text->setFixedWidth(px(480));
    text->setFont(uiFont(13));
    text->setMinimumHeight(text->heightForWidth(px(480)));
    text->setStyleSheet(inkStyle(theme().muted));
    auto* open = new QPushButton(tr("Open model…"), this);
    open->setObjectName(QStringLiteral("emptyOpen"));
    open->setProperty("primary", true);
    auto* sample = makeButton("emptySample", tr("Try the sample"),
                              tr("A small trained network for handwritten digits"), this);
    sample->setVisible(!samplePath().isEmpty());
    for (auto* button : {open, sample})
        button->setMinimumSize(px(140), px(32));
    auto* row = makeHBox(nullptr, {}, 10);
    row->addStretch(1);
    addItems(*row, {open, sample});
    row->addStretch(1);
    auto* hint = new QLabel(tr("or drop a file here"), this);
    hint->setStyleSheet(inkStyle(theme().muted));
    auto* python = new QLabel(
        QStringLiteral("torch.export.save(torch.export.export(model.eval(), (example,)), "
                       "\"model.pt2\")"), // no words
        this);
    python->setObjectName(QStringLiteral("emptyPython"));
    python->setFont(monoFont(11));
    python->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    python->setAccessibleName(tr("How to export a model in Python"));
    python->setToolTip(tr("One line of Python makes the file; select it to copy it"));
    python->setStyleSheet(QStringLiteral("color: %1; background: %2; border-radius: 5px; "
                                         "padding: 6px 12px;")
                              .arg(theme().muted.name(), theme().window.name()));
    auto* keys = makeMutedLabel(tr("Ctrl+O opens · Ctrl+Shift+P finds any command · F1 explains"),
                                11.5, this);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(14);
    column->addStretch(4);
    column->addWidget(title, 0, Qt::AlignHCenter);
    column->addWidget(text, 0, Qt::AlignHCenter);
    column->addLayout(row);
    column->addWidget(hint, 0, Qt::AlignHCenter);
    column->addSpacing(10);
    column->addWidget(python, 0, Qt::AlignHCenter);
    column->addLayout(m_recent);
    column->addSpacing(6);
    column->addWidget(keys, 0, Qt::AlignHCenter);
    column->addStretch(5);
    connect(open, &QPushButton::clicked, this, &EmptyState::openWanted);
    connect(sample, &QPushButton::clicked, this, [this] { Q_EMIT fileWanted(samplePath()); });
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
