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

/// The guide: its pages left, the chosen one right, a field that narrows the list. Stays open
/// beside the work. GUI thread only.
class HelpWindow : public QDialog
{
    Q_OBJECT

public:
    explicit HelpWindow(QWidget* parent);
    /// Shows a page from a heading on (`HelpTopic`), with the first `term` after it marked. An
    /// unknown page shows the first.
    void showTopic(const QString& place, const QString& term = {});

protected:
    void showEvent(QShowEvent* event) override;

private:
    void filter(const QString& text);
    /// Shows the place, without a step in the history.
    void go(const QString& place, const QString& term);
    void goBack();
    /// Scrolls to the place's heading and marks the term.
    void reveal();
    /// To another place of the guide; else opens the file, where it is here.
    void follow(const QUrl& link);

    QLineEdit* m_field;
    QPushButton* m_back;
    QListWidget* m_list;
    QTextBrowser* m_text;
    QString m_place, m_term;
    QStringList m_past;
};

} // namespace qs
