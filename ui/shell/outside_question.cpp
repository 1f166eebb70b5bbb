// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/outside_question.h"

#include "engine/project/outside_paths.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"

#include <QFileInfo>
#include <QStringList>

namespace qs {

namespace {

const QString kOutsideTopic = QStringLiteral("outside");

QString listedOutside(const std::vector<std::string>& paths)
{
    constexpr std::size_t most = 4;
    QStringList names;
    for (std::size_t i = 0; i < std::min(paths.size(), most); ++i)
        names << toQString(paths[i]);
    const QString text = names.join(QStringLiteral(", "));
    return paths.size() > most ? QObject::tr("%1 and %2 more").arg(text).arg(paths.size() - most)
                               : text;
}

} // namespace

bool mayReadOutside(MessageBar& messages, const QString& file, std::vector<std::string> outside,
                    std::function<void()> goOn)
{
    outside = unconfirmedPaths(file.toStdString(), std::move(outside));
    if (outside.empty())
        return true;
    messages.showChoices(
        MessageBar::Kind::Warning, kOutsideTopic,
        QObject::tr("%1 names files outside its folder").arg(QFileInfo(file).fileName()),
        listedOutside(outside), {},
        {{QObject::tr("Read them"),
          QObject::tr("Allow reading these files; remembered on this machine"),
          [&messages, file, outside, goOn = std::move(goOn)] {
              if (const auto kept = confirmPaths(file.toStdString(), outside); !kept)
                  messages.showError(QObject::tr("Remembering the answer"), kept.error());
              else
                  goOn();
          }},
         {QObject::tr("Do not open"), QObject::tr("Nothing is read"), [] {}}});
    return false;
}

} // namespace qs
