// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

namespace qs {

/// A text editor with line numbers, which can mark the line of an error. GUI thread only.
class RecipeEditor : public QPlainTextEdit
{
    Q_OBJECT
    Q_PROPERTY(QString helpPlace READ helpPlace)

public:
    explicit RecipeEditor(QWidget* parent = nullptr);
    /// Marks a line, from 1; 0 removes the mark.
    void setProblem(int line, const QString& message);
    int problemLine() const { return m_problem; }
    /// The help place for F1: the key at the cursor.
    QString helpPlace() const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    friend class LineNumbers;
    void paintNumbers(QPaintEvent* event);
    int gutterWidth() const;
    void placeGutter();

    QWidget* m_gutter;
    int m_problem = 0;
};

} // namespace qs
