// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/backend/dtype_editor.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QWheelEvent>

#include <array>
#include <utility>

namespace qs {

namespace {

const std::array<std::pair<const char*, DTypeFields DTypeConfigFields::*>, 3> kRoles {
    {{QT_TRANSLATE_NOOP("qs::DTypeEditor", "Input"), &DTypeConfigFields::input},
     {QT_TRANSLATE_NOOP("qs::DTypeEditor", "Output"), &DTypeConfigFields::output},
     {QT_TRANSLATE_NOOP("qs::DTypeEditor", "Weight"), &DTypeConfigFields::weight}}};

/// Returns "static: quint8 → quint8, weight qint8, with constraints".
QString configLine(const DTypeConfigFields& config)
{
    const auto dtype = [](const DTypeFields& fields) {
        return fields.dtype.empty() ? DTypeEditor::tr("any") : toQString(fields.dtype);
    };
    QString line = (config.isDynamic ? DTypeEditor::tr("dynamic: %1 → %2")
                                     : DTypeEditor::tr("static: %1 → %2"))
                       .arg(dtype(config.input), dtype(config.output));
    if (!config.weight.dtype.empty())
        line += DTypeEditor::tr(", weight %1").arg(dtype(config.weight));
    for (const auto& [title, role] : kRoles) {
        DTypeFields bare;
        bare.dtype = (config.*role).dtype;
        if (config.*role != bare)
            return line + DTypeEditor::tr(", with constraints");
    }
    return line;
}

} // namespace

CalmComboBox::CalmComboBox(QWidget* parent)
    : QComboBox(parent)
{
    setFocusPolicy(Qt::StrongFocus);
}

void CalmComboBox::wheelEvent(QWheelEvent* event)
{
    event->ignore();
}

DTypeEditor::DTypeEditor(QWidget* parent)
    : QWidget(parent)
    , m_list(new QListWidget(this))
    , m_remove(makeButton("dtypeRemove", tr("Remove"), tr("Remove the chosen combination"), this))
    , m_up(makeButton("dtypeUp", tr("&Up"), tr("Try the chosen combination earlier"), this))
    , m_fields(buildFields())
{
    addItems(*makeVBox(this, {}, 8), {buildList(), m_fields});
    showList(-1);
}

QWidget* DTypeEditor::buildList()
{
    auto* box = new QWidget(this);
    setNames(*m_list, "dtypeConfigs", tr("Dtype configs of the entry"),
             tr("Tried in this order; the first that fits the qconfig is taken"));
    m_list->setFixedHeight(px(52));
    m_list->setFont(uiFont(11.5));
    auto* add = makeButton("dtypeAdd", tr("Add t&ypes"),
                           tr("Add a combination of dtypes; a copy of the chosen one"), box);
    auto* buttons = makeHBox(nullptr, {}, 6);
    addItems(*buttons, {{new QLabel(tr("Types"), box), 1}, add, m_remove, m_up});
    addItems(*makeVBox(box, {}, 6), {buttons, m_list});
    connect(m_list, &QListWidget::currentRowChanged, this, [this] { showChosen(); });
    connect(add, &QPushButton::clicked, this, &DTypeEditor::addConfig);
    connect(m_remove, &QPushButton::clicked, this, &DTypeEditor::removeConfig);
    connect(m_up, &QPushButton::clicked, this, &DTypeEditor::moveUp);
    return box;
}

QComboBox* DTypeEditor::addDType(const QString& objectName, const QString& title)
{
    auto* box = new CalmComboBox(this);
    box->setObjectName(objectName);
    box->setAccessibleName(title);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    for (const char* name : {"", "quint8", "qint8", "qint32", "float16", "float32"})
        box->addItem(QString::fromLatin1(name));
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(7);
    connect(box, &QComboBox::currentTextChanged, this, &DTypeEditor::onEdited);
    return box;
}

void DTypeEditor::addConstraint(QGridLayout& grid, int row, Text text, const char* key,
                                const QString& label, const QString& toolTip)
{
    auto* name = new QLabel(label, this);
    name->setStyleSheet(inkStyle(theme().muted));
    name->setToolTip(toolTip);
    grid.addWidget(name, row, 0);
    int column = 1;
    for (const auto& [title, role] : kRoles) {
        auto* field = new QLineEdit(this);
        field->setObjectName(QString::fromLatin1(key) + QString::fromLatin1(title));
        field->setAccessibleName(tr("%1 of the %2").arg(label, tr(title).toLower()));
        field->setToolTip(toolTip);
        field->setMinimumWidth(px(70));
        grid.addWidget(field, row, column++);
        connect(field, &QLineEdit::textChanged, this, &DTypeEditor::onEdited);
        m_show.emplace_back([field, role = role, text](const DTypeConfigFields& config) {
            field->setText(toQString(config.*role.*text));
            field->setCursorPosition(0);
        });
        m_read.emplace_back([field, role = role, text](DTypeConfigFields& config) {
            config.*role.*text = field->text().toStdString();
        });
    }
}

QWidget* DTypeEditor::buildFields()
{
    auto* box = new QWidget(this);
    auto* grid = new QGridLayout(box);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    int column = 1;
    grid->addWidget(new QLabel(tr("dtype"), box), 1, 0);
    for (const auto& [title, role] : kRoles) {
        grid->addWidget(new QLabel(tr(title), box), 0, column);
        grid->setColumnStretch(column, 1);
        auto* dtype = addDType(QStringLiteral("dtype") + QString::fromLatin1(title),
                               tr("Dtype of the %1").arg(tr(title).toLower()));
        grid->addWidget(dtype, 1, column++);
        m_show.emplace_back([dtype, role = role](const DTypeConfigFields& config) {
            dtype->setCurrentText(toQString((config.*role).dtype));
        });
        m_read.emplace_back([dtype, role = role](DTypeConfigFields& config) {
            (config.*role).dtype = dtype->currentText().toStdString();
        });
    }
    addConstraint(*grid, 2, &DTypeFields::quantMin, "quantMin", tr("integers from"),
                  tr("quant_min_lower_bound: the smallest integer that the target takes"));
    addConstraint(*grid, 3, &DTypeFields::quantMax, "quantMax", tr("integers to"),
                  tr("quant_max_upper_bound: the largest integer that the target takes"));
    addConstraint(
        *grid, 4, &DTypeFields::scaleMin, "scaleMin", tr("scale from"),
        tr("scale_min_lower_bound: the smallest scale; the observer's eps must reach it"));
    addConstraint(*grid, 5, &DTypeFields::scaleMax, "scaleMax", tr("scale to"),
                  tr("scale_max_upper_bound: the largest scale"));
    addConstraint(*grid, 6, &DTypeFields::scaleExact, "scaleExact", tr("scale is"),
                  tr("scale_exact_match: the one scale that the target takes"));
    addConstraint(*grid, 7, &DTypeFields::zeroPointExact, "zeroPoint", tr("zero point is"),
                  tr("zero_point_exact_match: the one zero point that the target takes"));
    auto* bias = addDType(QStringLiteral("dtypeBias"), tr("Dtype of the bias"));
    auto* dynamic = new QCheckBox(tr("dynam&ic"), box);
    setNames(
        *dynamic, "dtypeDynamic", {},
        tr("Activations are quantized with new parameters for each call; the result is float"));
    grid->addWidget(new QLabel(tr("bias"), box), 8, 0);
    grid->addWidget(bias, 8, 1);
    grid->addWidget(dynamic, 8, 2, 1, 2);
    connect(dynamic, &QCheckBox::toggled, this, &DTypeEditor::onEdited);
    m_show.emplace_back([bias, dynamic](const DTypeConfigFields& config) {
        bias->setCurrentText(toQString(config.bias));
        dynamic->setChecked(config.isDynamic);
    });
    m_read.emplace_back([bias, dynamic](DTypeConfigFields& config) {
        config.bias = bias->currentText().toStdString();
        config.isDynamic = dynamic->isChecked();
    });
    return box;
}

DTypeConfigFields* DTypeEditor::chosen()
{
    const int row = m_list->currentRow();
    return row >= 0 && row < int(m_configs.size()) ? &m_configs[std::size_t(row)] : nullptr;
}

void DTypeEditor::setConfigs(std::vector<DTypeConfigFields> configs)
{
    m_configs = std::move(configs);
    showList(m_configs.empty() ? -1 : 0);
}

void DTypeEditor::showList(int row)
{
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const DTypeConfigFields& config : m_configs)
        m_list->addItem(configLine(config));
    m_list->setCurrentRow(row);
    showChosen();
}

void DTypeEditor::showChosen()
{
    const DTypeConfigFields* config = chosen();
    m_isShowing = true;
    for (const auto& show : m_show)
        show(config ? *config : DTypeConfigFields());
    m_isShowing = false;
    m_fields->setEnabled(config != nullptr);
    m_remove->setEnabled(config != nullptr);
    m_up->setEnabled(m_list->currentRow() > 0);
}

void DTypeEditor::onEdited()
{
    DTypeConfigFields* config = chosen();
    if (m_isShowing || !config)
        return;
    for (const auto& read : m_read)
        read(*config);
    m_list->currentItem()->setText(configLine(*config));
    Q_EMIT edited();
}

void DTypeEditor::addConfig()
{
    const DTypeConfigFields* like = chosen();
    m_configs.push_back(like ? *like : DTypeConfigFields());
    showList(int(m_configs.size()) - 1);
    Q_EMIT edited();
}

void DTypeEditor::removeConfig()
{
    const int row = m_list->currentRow();
    m_configs.erase(m_configs.begin() + row);
    showList(std::min(row, int(m_configs.size()) - 1));
    Q_EMIT edited();
}

void DTypeEditor::moveUp()
{
    const int row = m_list->currentRow();
    std::swap(m_configs[std::size_t(row)], m_configs[std::size_t(row - 1)]);
    showList(row - 1);
    Q_EMIT edited();
}

} // namespace qs
