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
    QString anchor; ///< as links name it: "patterns0pattern"
};

/// One page of the guide (`resources/help`), or one entry of its glossary. A *place* is its id, or
/// with a heading of it: "backend-file#patterns0pattern".
struct HelpTopic
{
    QString id; ///< a page: its file without ending, "recipes"; an entry: the anchor of its heading
    QString page; ///< its file without ending: "recipes", "glossary"
    QString section; ///< the heading of the index, or of the glossary, that it stands under
    QString title; ///< "Observer"
    QString text; ///< Markdown, without the title
    QString folder; ///< where its links and pictures start from
    std::vector<QString> related; ///< ids of the pages that it links to, in order
    std::vector<HelpSection> sections; ///< in order

    /// The first paragraph, as plain text on one line.
    QString summary() const;
    bool hasSection(const QString& anchor) const;
};

/// A term that a page explains: what stands in the first column of a table, or a key's heading.
struct HelpTerm
{
    QString text; ///< "prepare_qat_fx, QAT qconfigs"
    QString meaning; ///< plain text on one line
    QString place;
};

/// Every page that the guide's index names, in its order, the glossary with its entries after it;
/// where the guide's folder is missing, one page that says so. Read once.
const std::vector<HelpTopic>& helpTopics();
/// The topic of a place; null for an unknown id.
const HelpTopic* findHelpTopic(const QString& place);
/// The terms of all pages, in their order. Read once.
const std::vector<HelpTerm>& helpTerms();
/// The place of a key in a page whose headings are paths of keys: of the path's longest beginning
/// that has one. Indices are read as "[0]", and a name in capitals ("NAME") stands for any.
QString helpPlaceOfKey(const QString& page, const QStringList& path);
/// Markdown on one line without its marks.
QString plainHelpText(const QString& markdown);
/// A heading as addresses name it: "`edits[0]`, of a form" is "edits0-of-a-form".
QString headingAnchor(const QString& heading);
/// Where a link in a topic leads within the guide; empty: to a file outside it.
QString helpPlaceOfLink(const HelpTopic& from, const QString& link);

/// What F1 explains over a widget: the place of the innermost one around it that has one, by its
/// property `helpPlace`, which may change, or by its name. Empty where none has.
QString helpPlaceAt(const QWidget* widget);
/// What `help_places.cpp` has for an object name; empty where it has nothing.
QString helpPlaceOfName(const QString& objectName);

} // namespace qs
