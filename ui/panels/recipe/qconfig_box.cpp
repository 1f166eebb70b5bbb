// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/recipe/qconfig_box.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <QAbstractItemView>
#include <QKeyEvent>
#include <QPainter>
#include <QScreen>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QStyledItemDelegate>

#include <algorithm>
#include <utility>

namespace qs {

namespace {

constexpr int kKindRole = Qt::UserRole, kQConfigRole = Qt::UserRole + 1,
              kSchemeRole = Qt::UserRole + 2, kUnfitRole = Qt::UserRole + 3;
constexpr int kListedQConfigs = 24; // rows
constexpr double kQConfigRow = 22;
constexpr int kSchemeGap = 28;

/// Paints the name left, bits and scheme right; and headings.
class QConfigDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    static bool isHeading(const QModelIndex& index)
    {
        return index.data(kKindRole).toInt() == int(QConfigBox::Kind::Heading);
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        const int name = QFontMetrics(nameFont(index)).horizontalAdvance(index.data().toString());
        const int scheme
            = QFontMetrics(uiFont(11)).horizontalAdvance(index.data(kSchemeRole).toString());
        return {px(24) + name + (scheme > 0 ? px(kSchemeGap) + scheme : 0),
                px(kQConfigRow + (isHeading(index) ? 4 : 0))};
    }

    void paint(QPainter* p, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = theme();
        p->save();
        if (option.state & QStyle::State_Selected && !isHeading(index))
            p->fillRect(option.rect, t.accentSoft);
        const QRect room = option.rect.adjusted(px(isHeading(index) ? 8 : 14), 0, -px(10), 0);
        p->setFont(uiFont(11));
        p->setPen(t.muted);
        p->drawText(room, Qt::AlignRight | Qt::AlignVCenter, index.data(kSchemeRole).toString());
        p->setFont(nameFont(index));
        const bool isQuiet = isHeading(index) || index.data(kUnfitRole).toBool();
        p->setPen(isQuiet ? t.muted : t.text);
        p->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
        if (isHeading(index) && index.row() > 0)
            p->fillRect(option.rect.left(), option.rect.top(), option.rect.width(), 1, t.border);
        p->restore();
    }

private:
    static QFont nameFont(const QModelIndex& index)
    {
        return isHeading(index) ? uiFont(11, 600) : uiFont(11.5);
    }
};

} // namespace

QConfigBox::QConfigBox(QWidget* parent)
    : QComboBox(parent)
    , m_recommended(tr("Recommended"))
{
    setFont(uiFont(11.5));
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(8);
    setMaxVisibleItems(kListedQConfigs);
    setItemDelegate(new QConfigDelegate(this));
}

void QConfigBox::setChoices(const QString& byRule, const QStringList& names,
                            std::function<std::vector<QConfigChoice>()> group, bool offersNew)
{
    m_byRule = byRule;
    m_names = names;
    m_group = std::move(group);
    m_offersNew = offersNew;
    m_kept.clear();
    m_choices.clear();
    fill();
}

void QConfigBox::addItemOf(Kind kind, const QString& text, const QString& name)
{
    addItem(text);
    setItemData(count() - 1, int(kind), kKindRole);
    setItemData(count() - 1, name, kQConfigRole);
}

void QConfigBox::addHeading(const QString& text)
{
    addItemOf(Kind::Heading, text);
    if (auto* items = qobject_cast<QStandardItemModel*>(model()))
        items->item(count() - 1)->setFlags(Qt::NoItemFlags);
}

void QConfigBox::addGroup(const QString& heading, const std::vector<QConfigChoice>& choices,
                          const std::function<bool(const QConfigChoice&)>& belongs)
{
    bool isFirst = true;
    for (const QConfigChoice& choice : choices) {
        if (!belongs(choice))
            continue;
        if (isFirst)
            addHeading(heading);
        isFirst = false;
        const QString name = toQString(choice.name);
        addItemOf(Kind::Named, name, name);
        const int at = count() - 1;
        setItemData(at, toQString(qconfigWords(choice.config)), kSchemeRole);
        setItemData(at, choice.fit == QConfigFit::Unfit, kUnfitRole);
        const QString why = toQString(choice.why);
        setItemData(at,
                    why.isEmpty() || choice.fit == QConfigFit::Recommended ? why
                        : choice.fit == QConfigFit::Unfit ? tr("Stays float: %1").arg(why)
                                                          : tr("Not for all of them: %1").arg(why),
                    Qt::ToolTipRole);
    }
}

void QConfigBox::fill()
{
    const QSignalBlocker quiet(this);
    clear();
    addItemOf(Kind::ByRule, m_byRule);
    if (!m_kept.isEmpty())
        addItemOf(Kind::Kept, m_kept);
    addItemOf(Kind::Float, QStringLiteral("float"));
    if (m_choices.empty())
        for (const QString& name : m_names)
            addItemOf(Kind::Named, name, name);
    const auto fits = [](QConfigFit fit) {
        return [fit](const QConfigChoice& choice) {
            return choice.fit == fit && !isForTraining(choice.config);
        };
    };
    addGroup(m_recommended, m_choices, fits(QConfigFit::Recommended));
    addGroup(tr("Compatible"), m_choices, fits(QConfigFit::Compatible));
    addGroup(tr("All others: it stays float"), m_choices, fits(QConfigFit::Unfit));
    addGroup(tr("For training (QAT)"), m_choices,
             [](const QConfigChoice& choice) { return isForTraining(choice.config); });
    if (m_offersNew) {
        insertSeparator(count());
        addItemOf(Kind::New, tr("New qconfig…"));
    }
    showDecided(m_decided);
}

void QConfigBox::showDecided(const std::optional<std::string>& name)
{
    m_decided = name;
    const Kind kind = !m_kept.isEmpty() ? Kind::Kept
        : !name                         ? Kind::ByRule
        : name->empty()                 ? Kind::Float
                                        : Kind::Named;
    const QSignalBlocker quiet(this);
    for (int i = 0; i < count(); ++i)
        if (kindAt(i) == kind && (kind != Kind::Named || nameAt(i) == name)) {
            setCurrentIndex(i);
            return;
        }
}

void QConfigBox::showKept(const QString& words)
{
    m_kept = words;
    fill();
}

QConfigBox::Kind QConfigBox::kindAt(int index) const
{
    const QVariant kind = itemData(index, kKindRole);
    return kind.isValid() ? Kind(kind.toInt()) : Kind::Heading;
}

std::optional<std::string> QConfigBox::nameAt(int index) const
{
    if (kindAt(index) == Kind::ByRule)
        return std::nullopt;
    return itemData(index, kQConfigRole).toString().toStdString();
}

const QConfigChoice* QConfigBox::newChoiceAt(int index) const
{
    const auto name = nameAt(index);
    const auto found
        = std::find_if(m_choices.begin(), m_choices.end(), [&name](const QConfigChoice& choice) {
              return choice.isNew && name == choice.name;
          });
    return kindAt(index) == Kind::Named && found != m_choices.end() ? &*found : nullptr;
}

void QConfigBox::groupNow()
{
    if (!m_group)
        return;
    m_choices = std::exchange(m_group, nullptr)();
    if (!m_choices.empty())
        fill();
}

void QConfigBox::showPopup()
{
    groupNow();
    const int wanted = view()->sizeHintForColumn(0) + px(16);
    const int most = screen() ? screen()->availableGeometry().width() * 2 / 3 : wanted;
    view()->setMinimumWidth(std::min(wanted, most));
    QComboBox::showPopup();
}

void QConfigBox::keyPressEvent(QKeyEvent* event)
{
    groupNow();
    QComboBox::keyPressEvent(event);
}

void QConfigBox::wheelEvent(QWheelEvent* event)
{
    groupNow();
    QComboBox::wheelEvent(event);
}

} // namespace qs
