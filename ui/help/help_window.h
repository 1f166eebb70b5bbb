// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QStringList>

class QLineEdit;
class QListWidget;
class QPushButton;
class QTextBrowser;
class QUrl;

namespace qs {

/// The guide: the list of pages left, the chosen page right, and a field that filters the list. Not
/// modal. GUI thread only.
class HelpWindow : public QDialog
{
    Q_OBJECT

public:
    explicit HelpWindow(QWidget* parent);
    /// Shows a place (`HelpTopic`): the page, scrolled to the heading, with the next occurrence of
    /// `term` marked. For an unknown page shows the first one.
    void showTopic(const QString& place, const QString& term = {});

protected:
    void showEvent(QShowEvent* event) override;

private:
    void filter(const QString& text);
    /// Shows the place without adding it to the history.
    void go(const QString& place, const QString& term);
    void goBack();
    /// Scrolls to the place's heading and marks the term.
    void reveal();
    /// Follows a link within the guide; else opens the file, if it exists.
    void follow(const QUrl& link);

    QLineEdit* m_field;
    QPushButton* m_back;
    QListWidget* m_list;
    QTextBrowser* m_text;
    QString m_place, m_term;
    QStringList m_past;
};

} // namespace qs
