// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/summaries/qconfig_choices.h"
#endif

#include <QComboBox>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The list of qconfigs to choose from: by rule, float, then the named ones with bits and scheme
/// beside each, under headings (recommended for the selection, compatible, all others, for
/// training). Headings are computed when the list is first used; until then the names are
/// ungrouped. GUI thread only.
class QConfigBox : public QComboBox
{
    Q_OBJECT

public:
    explicit QConfigBox(QWidget* parent);

    /// Sets the choices: `byRule` is the text for the result of the rules. `group` returns the
    /// choices with their fit when the list is used; others stay ungrouped. `offersNew` adds an
    /// item that creates a qconfig.
    void setChoices(const QString& byRule, const QStringList& names,
                    std::function<std::vector<QConfigChoice>()> group, bool offersNew);
    /// Sets the heading above the recommended qconfigs: "Recommended on x86".
    void setRecommendedHeading(const QString& heading) { m_recommended = heading; }
    /// Shows the decision: "" = float, nothing = by rule.
    void showDecided(const std::optional<std::string>& name);
    /// Adds and shows an item for another kind of decision, with this text; choosing it changes
    /// nothing.
    void showKept(const QString& words);

    enum class Kind
    {
        Heading,
        ByRule,
        Kept,
        Float,
        Named,
        New
    };
    Kind kindAt(int index) const;
    /// The argument of `Workspace::assign` for an item of kind ByRule, Float or Named.
    std::optional<std::string> nameAt(int index) const;
    /// The choice of a named item whose qconfig the recipe does not have yet; else null.
    const QConfigChoice* newChoiceAt(int index) const;

    void showPopup() override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void addItemOf(Kind kind, const QString& text, const QString& name = {});
    void addHeading(const QString& text);
    void addGroup(const QString& heading, const std::vector<QConfigChoice>& choices,
                  const std::function<bool(const QConfigChoice&)>& belongs);
    void fill();
    void groupNow();

    QString m_byRule, m_recommended, m_kept;
    QStringList m_names;
    std::function<std::vector<QConfigChoice>()> m_group;
    std::vector<QConfigChoice> m_choices; ///< empty until the list is used
    std::optional<std::string> m_decided;
    bool m_offersNew = false;
};

} // namespace qs
