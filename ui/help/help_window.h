// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace qs {

/// The built-in help: topics left, one paragraph right, a field that narrows the list. Stays open
/// beside the work. GUI thread only.
class HelpWindow : public QDialog
{
    Q_OBJECT

public:
    explicit HelpWindow(QWidget* parent);
    /// An unknown id shows the first topic.
    void showTopic(const QString& id);

private:
    void filter(const QString& text);
    void refresh();

    QLineEdit* m_field;
    QListWidget* m_list;
    QTextBrowser* m_text;
};

} // namespace qs
