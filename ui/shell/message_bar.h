// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace qs {

/// One message above the graph: what went wrong at which node, and what to do about it. Stays until
/// closed or replaced. GUI thread only.
class MessageBar : public QWidget
{
    Q_OBJECT

public:
    enum class Kind
    {
        Error,
        Warning,
        Note
    };
    explicit MessageBar(QWidget* parent = nullptr);

    void showError(const QString& what, const Error& error);
    void showMessage(Kind kind, const QString& headline, const QString& detail);
    void dismiss();
    QString headline() const;
    QString detail() const;
    const QString& node() const { return m_node; }

Q_SIGNALS:
    /// The user asks to see the node that the message names.
    void nodeClicked(const QString& name);

private:
    QLabel* m_icon;
    QLabel* m_headline;
    QLabel* m_detail;
    QPushButton* m_goto;
    QString m_node;
};

} // namespace qs
