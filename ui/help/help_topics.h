// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

namespace qs {

/// One page of the guide (`resources/help`), or one entry of its glossary.
struct HelpTopic
{
    QString id; ///< a page: its file without ending, "recipes"; an entry: the anchor of its heading
    QString page; ///< its file without ending: "recipes", "glossary"
    QString section; ///< the heading of the index, or of the glossary, that it stands under
    QString title; ///< "Observer"
    QString text; ///< Markdown, without the title
    QString folder; ///< where its links and pictures start from
    std::vector<QString> related; ///< ids of the pages that it links to, in order

    /// The first paragraph, as plain text on one line.
    QString summary() const;
};

/// Every page that the guide's index names, in its order, the glossary with its entries after it;
/// where the guide's folder is missing, one page that says so. Read once.
const std::vector<HelpTopic>& helpTopics();
/// Null for an unknown id.
const HelpTopic* findHelpTopic(const QString& id);

/// A heading as addresses name it: "`edits[0]`, of a form" is "edits0-of-a-form".
QString headingAnchor(const QString& heading);
/// Where a link in a topic leads within the guide.
struct HelpPlace
{
    const HelpTopic* topic = nullptr; ///< null: to a file outside the guide
    QString heading; ///< the anchor of a heading of the topic; empty: its beginning
};
HelpPlace helpPlace(const HelpTopic& from, const QString& link);

/// F1 over the widget, or one inside it, shows this topic.
void setHelpTopic(QWidget* widget, const char* id);
/// The topic of the innermost widget around `widget` that has one; null where none has.
const HelpTopic* helpTopicAt(const QWidget* widget);

} // namespace qs
