// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/backend/entry_fields.h"
#endif

#include <QComboBox>
#include <QWidget>

#include <functional>

class QCheckBox;
class QGridLayout;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace qs {

/// A combo box for scrolling pages: the wheel scrolls the page instead of changing the choice.
class CalmComboBox : public QComboBox
{
    Q_OBJECT

public:
    explicit CalmComboBox(QWidget* parent);

protected:
    void wheelEvent(QWheelEvent* event) override;
};

/// The dtype configs of a backend's entry: their list in the order of matching, and the fields of
/// the selected one. GUI thread only.
class DTypeEditor : public QWidget
{
    Q_OBJECT

public:
    explicit DTypeEditor(QWidget* parent);

    /// Sets the configs without emitting `edited`.
    void setConfigs(std::vector<DTypeConfigFields> configs);
    const std::vector<DTypeConfigFields>& configs() const { return m_configs; }

Q_SIGNALS:
    /// The user changed the configs.
    void edited();

private:
    using Role = DTypeFields DTypeConfigFields::*;
    using Text = std::string DTypeFields::*;

    QWidget* buildList();
    QWidget* buildFields();
    QComboBox* addDType(const QString& objectName, const QString& title);
    void addConstraint(QGridLayout& grid, int row, Text text, const char* key, const QString& label,
                       const QString& toolTip);
    DTypeConfigFields* chosen();
    void addConfig();
    void removeConfig();
    void moveUp();
    void showList(int row);
    void showChosen();
    void onEdited();

    std::vector<DTypeConfigFields> m_configs;
    std::vector<std::function<void(const DTypeConfigFields&)>> m_show; ///< one per field
    std::vector<std::function<void(DTypeConfigFields&)>> m_read;
    bool m_isShowing = false;
    QListWidget* m_list;
    QPushButton* m_remove;
    QPushButton* m_up;
    QWidget* m_fields;
};

} // namespace qs
