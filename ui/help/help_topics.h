// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

/// One page of the guide (`resources/help`).
struct HelpTopic
{
    QString id; ///< its file without ending: "observer"
    QString section; ///< the heading of the index that it stands under
    QString title; ///< "Observer"
    QString text; ///< Markdown, without the title
    QString folder; ///< where its links and pictures start from
    std::vector<QString> related; ///< ids of the pages that it links to, in order

    /// The first paragraph, as plain text on one line.
    QString summary() const;
};

/// Every page that the guide's index names, in its order; where the guide's folder is missing, one
/// page that says so. Read once.
const std::vector<HelpTopic>& helpTopics();
/// Null for an unknown id.
const HelpTopic* findHelpTopic(const QString& id);

/// F1 over the widget, or one inside it, shows this topic.
void setHelpTopic(QWidget* widget, const char* id);
/// The topic of the innermost widget around `widget` that has one; null where none has.
const HelpTopic* helpTopicAt(const QWidget* widget);

} // namespace qs
