// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

/// One concept of the program, explained in one paragraph.
struct HelpTopic
{
    QString id; ///< "observer"
    QString title; ///< "Observer"
    QString text; ///< plain text
    std::vector<QString> related; ///< ids
};

/// Every topic, in reading order.
const std::vector<HelpTopic>& helpTopics();
/// Null for an unknown id.
const HelpTopic* findHelpTopic(const QString& id);

/// F1 over the widget, or one inside it, shows this topic.
void setHelpTopic(QWidget* widget, const char* id);
/// The topic of the innermost widget around `widget` that has one; null where none has.
const HelpTopic* helpTopicAt(const QWidget* widget);

} // namespace qs
