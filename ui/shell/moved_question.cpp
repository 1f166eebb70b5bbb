// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/moved_question.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

namespace qs {

QString askWhereModelIs(QWidget* parent, const QString& project, const QString& was)
{
    return QFileDialog::getOpenFileName(
        parent, QObject::tr("Find %1").arg(QFileInfo(was).fileName()),
        QFileInfo(project).absolutePath(), QObject::tr("Models (*.pt2 *.pt *.pth);;All files (*)"));
}

QString askWhereDataAre(QWidget* parent, const QString& project)
{
    return QFileDialog::getOpenFileName(parent, QObject::tr("Choose data"),
                                        QFileInfo(project).absolutePath(),
                                        QObject::tr("Data (*.npz *.pt *.tar);;All files (*)"));
}

bool mayOpenOtherModel(QWidget* parent, const QString& chosen)
{
    QMessageBox box(QMessageBox::Question, QObject::tr("Another model"),
                    QObject::tr("%1 is not the project's model: its content differs.")
                        .arg(QFileInfo(chosen).fileName()),
                    QMessageBox::Open | QMessageBox::Cancel, parent);
    box.setObjectName(QStringLiteral("otherModelBox"));
    box.setInformativeText(QObject::tr("If you open it anyway, decisions and edits that do not fit "
                                       "it are left out, and the saved results are not shown."));
    box.button(QMessageBox::Open)->setText(QObject::tr("Open anyway"));
    box.setDefaultButton(QMessageBox::Cancel);
    return box.exec() == QMessageBox::Open;
}

} // namespace qs
