// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_page.h"

#include "ui/help/help_topics.h"
#include "ui/style/theme.h"

#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextTable>

namespace qs {

namespace {

constexpr int kPageMargin = 16;

bool isCode(const QTextBlock& block)
{
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage)
        || block.blockFormat().nonBreakableLines();
}

QString codeLanguage(const QTextBlock& block)
{
    return block.blockFormat().stringProperty(QTextFormat::BlockCodeLanguage);
}

/// Adds space between paragraphs; gives code a background and narrow line spacing.
void spaceBlocks(QTextDocument& document)
{
    for (auto block = document.begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        QTextBlockFormat format;
        if (isCode(block)) {
            // Adjacent code blocks of different languages (recipe, command, output) are separated.
            const bool isLast = !block.next().isValid() || !isCode(block.next())
                || codeLanguage(block.next()) != codeLanguage(block);
            format.setBackground(theme().window);
            format.setBottomMargin(isLast ? kPageMargin / 2.0 : 0);
            format.setTopMargin(0);
            format.setNonBreakableLines(false); // wrap long lines
            format.setLineHeight(100, QTextBlockFormat::ProportionalHeight); // else striped
        } else if (cursor.currentTable()) {
            format.setLineHeight(120, QTextBlockFormat::ProportionalHeight);
        } else {
            format.setBottomMargin(kPageMargin / 2.0);
            format.setLineHeight(130, QTextBlockFormat::ProportionalHeight);
        }
        cursor.mergeBlockFormat(format);
    }
}

/// Makes the headings within a page smaller than its title.
void lowerHeadings(QTextDocument& document)
{
    constexpr int kAsText = 3; // the heading level with the size of text
    for (auto block = document.begin().next(); block.isValid(); block = block.next())
        if (const int level = block.blockFormat().headingLevel(); level > 0) {
            QTextCharFormat smaller;
            smaller.setProperty(QTextFormat::FontSizeAdjustment, qMax(0, kAsText - level));
            QTextCursor cursor(block);
            cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
            cursor.mergeCharFormat(smaller);
        }
}

/// Gives tables the width of the page, and thin lines between their rows.
void fitTables(QTextDocument& document)
{
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (!table)
            continue;
        QTextTableFormat format = table->format();
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        format.setCellPadding(px(5));
        format.setCellSpacing(0);
        format.setBorder(1);
        format.setBorderCollapse(true);
        format.setBorderBrush(theme().border);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBottomMargin(kPageMargin / 2.0);
        if (table->columns() == 2)
            format.setColumnWidthConstraints({QTextLength(QTextLength::PercentageLength, 36),
                                              QTextLength(QTextLength::PercentageLength, 64)});
        table->setFormat(format);
    }
}

/// Limits pictures to the width of the page.
void fitPictures(QTextBrowser& browser)
{
    const int room = browser.viewport()->width() - 2 * kPageMargin;
    auto* document = browser.document();
    for (auto block = document->begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            auto image = it.fragment().charFormat().toImageFormat();
            if (!image.isValid() || room < 1)
                continue;
            QTextCursor cursor(document);
            cursor.setPosition(it.fragment().position());
            cursor.setPosition(it.fragment().position() + it.fragment().length(),
                               QTextCursor::KeepAnchor);
            image.setWidth(room);
            cursor.setCharFormat(image);
            break; // the change invalidates the block's fragments
        }
}

} // namespace

void fillHelpPage(QTextBrowser& browser, const HelpTopic& topic)
{
    browser.setSearchPaths({topic.folder});
    browser.document()->setDocumentMargin(kPageMargin);
    browser.setMarkdown(QStringLiteral("## %1\n\n%2").arg(topic.title, topic.text));
    spaceBlocks(*browser.document());
    lowerHeadings(*browser.document());
    fitTables(*browser.document());
    fitPictures(browser);
}

} // namespace qs
