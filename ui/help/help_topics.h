// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>

#include <vector>

namespace qs {

/// A heading within a page.
struct HelpSection
{
    QString heading; ///< without marks: "patterns[0].pattern"
    QString anchor; ///< as in links: "patterns0pattern"
};

/// One page of the guide (`resources/help`), or one entry of its glossary. A *place* is the id of a
/// topic, optionally with a heading: "backend-file#patterns0pattern".
struct HelpTopic
{
    QString id; ///< a page's file without suffix, "recipes"; an entry's heading as anchor
    QString page; ///< its file without suffix: "recipes", "glossary"
    QString section; ///< its heading in the index or the glossary
    QString title; ///< "Observer"
    QString text; ///< Markdown, without the title
    QString folder; ///< base of its links and pictures
    std::vector<QString> related; ///< ids of the pages that it links to, in order
    std::vector<HelpSection> sections; ///< in order

    /// The first paragraph, as plain text on one line.
    QString summary() const;
    bool hasSection(const QString& anchor) const;
};

/// A term that a page explains: the first column of a table row, or the heading of a key.
struct HelpTerm
{
    QString text; ///< "prepare_qat_fx, QAT qconfigs"
    QString meaning; ///< plain text on one line
    QString place;
};

/// Returns the pages of the guide's index in its order, with the glossary's entries after the
/// glossary. If the guide's folder is missing: one page that says so. Read once.
const std::vector<HelpTopic>& helpTopics();
/// The topic of a place; null for an unknown id.
const HelpTopic* findHelpTopic(const QString& place);
/// The terms of all pages, in their order. Read once.
const std::vector<HelpTerm>& helpTerms();
/// Returns the place of a key in a page whose headings are paths of keys: that of the longest
/// prefix of the path that has a heading. All indices match "[0]"; a name in capitals ("NAME")
/// matches any name.
QString helpPlaceOfKey(const QString& page, const QStringList& path);
/// Converts Markdown to plain text on one line.
QString plainHelpText(const QString& markdown);
/// Returns the anchor of a heading: "edits0-of-a-form" for "`edits[0]`, of a form".
QString headingAnchor(const QString& heading);
/// Returns the place that a link in a topic leads to; empty if it leads out of the guide.
QString helpPlaceOfLink(const HelpTopic& from, const QString& link);

/// Returns the help place for a widget: that of the innermost widget, itself or a parent, with a
/// place by its property `helpPlace` (which may change) or its name. Empty without one.
QString helpPlaceAt(const QWidget* widget);
/// Returns the place of an object name in `help_places.cpp`; empty without one.
QString helpPlaceOfName(const QString& objectName);

} // namespace qs
