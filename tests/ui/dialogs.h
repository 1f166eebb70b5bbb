// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QFileDialog>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QProcess>
#include <QTimer>
#include <QtTest>

namespace qs::test {

/// Does something with the modal dialog of that class that comes next, once it is there.
template<class Dialog, class Work>
void atDialog(QObject& owner, Work work)
{
    auto* timer = new QTimer(&owner);
    QObject::connect(timer, &QTimer::timeout, &owner, [timer, work] {
        if (auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget())) {
            timer->stop();
            timer->deleteLater();
            work(*dialog);
        }
    });
    timer->start(10);
}

/// Types the file into the file dialog that comes next.
inline void atFileDialog(QObject& owner, const QString& file)
{
    atDialog<QFileDialog>(owner, [file](QFileDialog& dialog) {
        dialog.findChild<QLineEdit*>()->setText(file);
        QTest::keyClick(dialog.findChild<QLineEdit*>(), Qt::Key_Return);
    });
}

/// The document that the built command line prints for these words.
inline QJsonObject commandLine(const QStringList& words)
{
    QProcess process;
    process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"), words);
    process.waitForFinished(60000);
    return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
}

} // namespace qs::test
