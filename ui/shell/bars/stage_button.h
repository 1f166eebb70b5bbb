// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

#include <QAbstractButton>

namespace qs {

/// One stage of the pipeline in the tool bar: name, state, second line, progress. While it runs, a
/// click on its cross cancels. GUI thread only.
class StageButton : public QAbstractButton
{
    Q_OBJECT

public:
    StageButton(Stage stage, QWidget* parent);
    /// `name`: identifies the stage, not translated.
    StageButton(const QString& name, const QString& text, QWidget* parent);
    /// `attention`: done, but with problems.
    void setStatus(const StageStatus& status, bool attention = false);
    bool needsAttention() const { return m_attention; }
    const StageStatus& status() const { return m_status; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void cancelClicked();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    QRectF cancelRect() const;

    bool m_isStoppable = true;
    StageStatus m_status;
    bool m_attention = false;
};

} // namespace qs
