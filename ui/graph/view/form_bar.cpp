// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/form_bar.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QButtonGroup>
#include <QToolButton>

namespace qs {

FormBar::FormBar(const QString& name, bool withSplit, QWidget* parent)
    : QFrame(parent)
    , m_forms(new QButtonGroup(this))
{
    setObjectName(name);
    const Theme& t = theme();
    setStyleSheet(
        QStringLiteral("QFrame { background: %1; border: 1px solid %2; border-radius: 6px; }"
                       "QToolButton { border: none; padding: 3px 7px; color: %3; }"
                       "QToolButton:hover, QToolButton:focus { color: %4; }"
                       "QToolButton:checked { color: %5; font-weight: 600; }")
            .arg(t.panel.name(), t.border.name(), t.muted.name(), t.text.name(), t.accent.name()));
    auto* row = makeHBox(this, {4, 1, 4, 1}, 0);
    const auto add = [&](const QString& text, const QString& tip) {
        auto* button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(tip);
        button->setAccessibleName(text);
        button->setObjectName(name + text.left(1).toUpper() + text.mid(1));
        button->setCheckable(true);
        button->setFont(uiFont(11.5));
        row->addWidget(button);
        return button;
    };
    const QString tips[]
        = {tr("The model as it was opened"), tr("With observers, and batch norms folded"),
           tr("Every quantize-dequantize pair explicit, operators in float"),
           tr("With the backend's integer kernels")};
    for (const CodeForm form : kCodeForms)
        m_forms->addButton(add(toQString(codeFormName(form)), tips[int(form)]), int(form));
    m_forms->button(0)->setChecked(true);
    connect(m_forms, &QButtonGroup::idClicked, this,
            [this](int id) { Q_EMIT formChosen(CodeForm(id)); });
    if (!withSplit)
        return;
    row->addSpacing(8);
    m_split = add(QStringLiteral("split"),
                  tr("Two forms side by side, matched by where nodes came from"));
    connect(m_split, &QToolButton::clicked, this, &FormBar::splitChosen);
}

void FormBar::setForm(CodeForm form)
{
    m_forms->button(int(form))->setChecked(true);
}

void FormBar::setSplit(bool split)
{
    if (m_split)
        m_split->setChecked(split);
}

} // namespace qs
