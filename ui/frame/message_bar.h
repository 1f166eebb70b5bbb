// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <QWidget>

#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace qs {

/// One message above the graph: a problem, its node, and the remedy. Stays until closed or
/// replaced. GUI thread only.
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
    /// A remedy that the message offers as a button.
    struct Choice
    {
        QString text;
        QString toolTip;
        std::function<void()> act;
    };
    explicit MessageBar(QWidget* parent = nullptr);
    /// Sets the function that replaces quoted node names by displayed titles in each message
    /// (`Facts::titled`).
    void setWording(std::function<QString(const QString&)> titled);

    /// `canShow`: the error's node belongs to the open model; adds a button that shows it. `topic`:
    /// as in `showChoices`.
    void showError(const QString& what, const Error& error, bool canShow = false,
                   const QString& topic = {});
    void showMessage(Kind kind, const QString& headline, const QString& detail);
    /// Shows a message about a node, with a button for each choice; pressing one closes the message
    /// first. `topic`: identifies the subject for `dismissTopic`.
    void showChoices(Kind kind, const QString& topic, const QString& headline,
                     const QString& detail, const QString& node, std::vector<Choice> choices);
    /// Closes the message if it has this topic.
    void dismissTopic(const QString& topic);
    const QString& topic() const { return m_topic; }
    void dismiss();
    QString headline() const;
    QString detail() const;
    const QString& node() const { return m_node; }

Q_SIGNALS:
    /// The user asks to see the node that the message names.
    void nodeClicked(const QString& name);

private:
    void clearChoices();
    void nameNode(const QString& node);
    QString titled(const QString& text) const;
    QString titleOfNode(const QString& name) const;

    QLabel* m_icon;
    QLabel* m_headline;
    QLabel* m_detail;
    QPushButton* m_goto;
    QHBoxLayout* m_buttons;
    QString m_node;
    QString m_topic;
    std::function<QString(const QString&)> m_titled;
};

} // namespace qs
