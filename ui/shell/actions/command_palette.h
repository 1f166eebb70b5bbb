// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/models/palette_model.h"
#endif

#include <QFrame>
#include <QPointer>

class QLineEdit;
class QListView;

namespace qs {

/// A field over the window that finds commands by a few letters of their names. Enter runs the
/// current one, Escape closes, the arrows move. GUI thread only.
class CommandPalette : public QFrame
{
    Q_OBJECT

public:
    explicit CommandPalette(QWidget* window);

    /// Shows these items; `prompt` is the placeholder of the empty field.
    void open(const QString& prompt, std::vector<PaletteItem> items);
    PaletteModel& model() { return *m_model; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    void leave();
    void runCurrent();
    bool handleKey(int key);

    PaletteModel* m_model;
    QLineEdit* m_field;
    QListView* m_list;
    QPointer<QWidget> m_before; ///< had the focus before
};

} // namespace qs
