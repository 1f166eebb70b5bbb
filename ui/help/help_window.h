// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;
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
    /// An unknown id shows the first page.
    void showTopic(const QString& id);

private:
    void filter(const QString& text);
    void refresh();
    /// To another page of the guide; else opens the file, where it is here.
    void follow(const QUrl& link);
    void scrollTo(const QString& heading);
    void spaceParagraphs();
    /// No picture is wider than the page.
    void fitPictures();

    QLineEdit* m_field;
    QListWidget* m_list;
    QTextBrowser* m_text;
};

} // namespace qs
