// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/opened_files.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace qs {

QString unsavedFileFor(const QString& opened)
{
    const QDir folder(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
                      + QStringLiteral("/unsaved"));
    const QByteArray name = QCryptographicHash::hash(QFileInfo(opened).absoluteFilePath().toUtf8(),
                                                     QCryptographicHash::Sha1)
                                .toHex();
    return folder.filePath(QString::fromLatin1(name) + QStringLiteral(".json"));
}

} // namespace qs
