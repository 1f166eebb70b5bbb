// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/style_rule_model.h"

#include "ui/style/theme.h"

#include <QColor>

#include <algorithm>

namespace qs {

const std::vector<NamedColour>& ruleColours()
{
    static const std::vector<NamedColour> colours
        = {{QT_TRANSLATE_NOOP("QObject", "orange"), "#e69f00"},
           {QT_TRANSLATE_NOOP("QObject", "sky blue"), "#56b4e9"},
           {QT_TRANSLATE_NOOP("QObject", "green"), "#009e73"},
           {QT_TRANSLATE_NOOP("QObject", "yellow"), "#f0e442"},
           {QT_TRANSLATE_NOOP("QObject", "blue"), "#0072b2"},
           {QT_TRANSLATE_NOOP("QObject", "vermilion"), "#d55e00"},
           {QT_TRANSLATE_NOOP("QObject", "purple"), "#cc79a7"},
           {QT_TRANSLATE_NOOP("QObject", "grey"), "#8c8c8c"}};
    return colours;
}

namespace {

/// Returns the code of one of our colour names; codes and Qt's names unchanged.
QString colourCode(const QString& text)
{
    QString wanted = text.trimmed().toLower();
    for (const NamedColour& colour : ruleColours())
        if (wanted == QObject::tr(colour.name).toLower())
            return QString::fromLatin1(colour.code);
    return wanted;
}

QString colourName(const QString& code)
{
    for (const NamedColour& colour : ruleColours())
        if (code == QLatin1String(colour.code))
            return QObject::tr(colour.name);
    return code;
}

} // namespace

StyleRuleModel::StyleRuleModel(StyleRules& rules, QObject* parent)
    : TableModel({{tr("Search"), {}},
                  {tr("Colour"), {}},
                  {tr("Label"), {}},
                  {tr("Detail"), {}},
                  {tr("Decides"), {}}},
                 parent)
    , m_rules(rules)
{
    connect(&rules, &StyleRules::changed, this, &StyleRuleModel::refresh);
    connect(&rules, &StyleRules::replaced, this, [this] {
        beginResetModel();
        endResetModel();
    });
}

void StyleRuleModel::refresh()
{
    if (!m_restructuring)
        refreshCells();
}

void StyleRuleModel::restructure(std::vector<StyleRule> rules)
{
    m_restructuring = true;
    m_rules.setRules(std::move(rules));
    m_restructuring = false;
}

int StyleRuleModel::add(const QString& query, const QString& colour)
{
    auto rules = m_rules.rules();
    if (rules.size() >= StyleRules::kMost)
        return int(rules.size()) - 1;
    rules.push_back({query, colour, {}, false});
    const int row = rowCount();
    beginInsertRows({}, row, row);
    restructure(std::move(rules));
    endInsertRows();
    refresh();
    return row;
}

void StyleRuleModel::remove(int row)
{
    auto rules = m_rules.rules();
    rules.erase(rules.begin() + row);
    beginRemoveRows({}, row, row);
    restructure(std::move(rules));
    endRemoveRows();
    refresh();
}

int StyleRuleModel::move(int row, int by)
{
    auto rules = m_rules.rules();
    const int to = row + by;
    if (to < 0 || to >= int(rules.size()))
        return row;
    beginMoveRows({}, row, row, {}, by > 0 ? to + 1 : to);
    std::swap(rules[std::size_t(row)], rules[std::size_t(to)]);
    restructure(std::move(rules));
    endMoveRows();
    refresh();
    return to;
}

QVariant StyleRuleModel::cell(int at, int column) const
{
    const auto row = std::size_t(at);
    const StyleRule& rule = m_rules.rules()[row];
    switch (column) {
    case Query:
        return rule.query;
    case Colour:
        return colourName(rule.colour);
    case Label:
        return rule.label;
    case Matches:
        return !m_rules.error(row).isEmpty() ? tr("cannot be read")
            : rule.query.trimmed().isEmpty() ? tr("type a search")
                                             : QString::number(m_rules.decided(row));
    default:
        return {};
    }
}

QVariant StyleRuleModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto row = std::size_t(index.row());
    const StyleRule& rule = m_rules.rules()[row];
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == Detail ? QVariant(rule.hideDetail ? tr("hidden") : tr("shown"))
                                        : cell(index.row(), index.column());
    case Qt::EditRole:
        return cell(index.row(), index.column());
    case Qt::DecorationRole:
        return index.column() == Colour && QColor(rule.colour).isValid()
            ? QVariant(QColor(rule.colour))
            : QVariant();
    case Qt::CheckStateRole:
        return index.column() == Detail ? QVariant(rule.hideDetail ? Qt::Unchecked : Qt::Checked)
                                        : QVariant();
    case Qt::ForegroundRole:
        return m_rules.error(row).isEmpty() || index.column() == Label
            ? QVariant()
            : QVariant(QBrush(theme().danger));
    case Qt::ToolTipRole:
        return m_rules.error(row).isEmpty() ? cell(index.row(), index.column())
                                            : QVariant(m_rules.error(row));
    default:
        return {};
    }
}

bool StyleRuleModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const bool isCheck = role == Qt::CheckStateRole && index.column() == Detail;
    if (!index.isValid() || (!isCheck && role != Qt::EditRole))
        return false;
    auto rules = m_rules.rules();
    StyleRule& rule = rules[std::size_t(index.row())];
    if (isCheck)
        rule.hideDetail = value.toInt() != Qt::Checked;
    else if (index.column() == Query)
        rule.query = value.toString();
    else if (index.column() == Label)
        rule.label = value.toString();
    else if (const QString code = colourCode(value.toString());
             index.column() == Colour && (code.isEmpty() || QColor(code).isValid()))
        rule.colour = code;
    else
        return false;
    m_rules.setRules(std::move(rules));
    return true;
}

QVariant StyleRuleModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation == Qt::Vertical && role == Qt::DisplayRole)
        return section + 1;
    return TableModel::headerData(section, orientation, role);
}

Qt::ItemFlags StyleRuleModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = TableModel::flags(index);
    if (!index.isValid() || index.column() == Matches)
        return flags;
    return index.column() == Detail ? flags | Qt::ItemIsUserCheckable : flags | Qt::ItemIsEditable;
}

} // namespace qs
