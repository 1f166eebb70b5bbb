// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/lowering_dialog.h"

#include "engine/configure/backend/lowering_names.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>

#include <algorithm>

namespace qs {

namespace {

QString rowText(const std::vector<std::string>& pattern)
{
    QStringList names;
    for (const auto& name : pattern)
        names << QString::fromStdString(name);
    return names.join(QStringLiteral(" + "));
}

std::vector<std::string> patternOf(const QString& text)
{
    std::vector<std::string> out;
    QString flat = text;
    flat.replace(QLatin1Char('+'), QLatin1Char(','));
    for (const auto& name : flat.split(QLatin1Char(','), Qt::SkipEmptyParts))
        if (!name.trimmed().isEmpty())
            out.push_back(name.trimmed().toStdString());
    return out;
}

bool hasPattern(const std::vector<LoweringRow>& rows, const std::vector<std::string>& kinds)
{
    return std::any_of(rows.begin(), rows.end(), [&](const LoweringRow& row) {
        return operatorKindsOf(row.pattern) == kinds;
    });
}

void erasePattern(std::vector<LoweringRow>& rows, const std::vector<std::string>& kinds)
{
    std::erase_if(rows,
                  [&](const LoweringRow& row) { return operatorKindsOf(row.pattern) == kinds; });
}

} // namespace

QString kernelText(const std::string& kernel)
{
    if (kernel == kSameKernel)
        return QObject::tr("the same operator, on integers");
    if (kernel == kNoKernel)
        return QObject::tr("nothing: the value passes");
    return QString::fromStdString(kernel);
}

Recipe withoutLoweringRow(const Recipe& recipe, const std::vector<std::string>& pattern)
{
    Recipe out = recipe;
    const auto kinds = operatorKindsOf(pattern);
    if (hasPattern(out.loweringAdd, kinds))
        erasePattern(out.loweringAdd, kinds);
    else if (!hasPattern(out.loweringRemove, kinds))
        out.loweringRemove.push_back({pattern, {}});
    return out;
}

Recipe withLoweringRowBack(const Recipe& recipe, const std::vector<std::string>& pattern)
{
    Recipe out = recipe;
    erasePattern(out.loweringRemove, operatorKindsOf(pattern));
    return out;
}

LoweringDialog::LoweringDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_filter(new QLineEdit(this))
    , m_table(new QTableWidget(this))
    , m_toggle(makeButton("loweringToggle", QString(), tr("Remove the selected row, or restore it"),
                          this))
{
    setObjectName(QStringLiteral("loweringDialog"));
    setWindowTitle(tr("Lowering table"));
    resize(760, 560);
    auto* intro = makeParagraph(
        tr("Between dequantize and quantize, a chain of operators on the left becomes "
           "the kernel on the right. Operators without a row stay in reference form, with their "
           "quantize and dequantize. Convert again to see the effect."),
        this);
    setUpFilter(*m_filter, "loweringFilter", tr("Filter rows"), tr("Filter, such as linear"));
    setNames(*m_table, "loweringTable", tr("Rows of the lowering table"));
    m_table->setColumnCount(3);
    m_table->setHorizontalHeaderLabels({tr("Operators"), tr("Kernel"), tr("Row of")});
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(24);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* last = new QHBoxLayout;
    last->addWidget(m_toggle);
    last->addStretch(1);
    last->addWidget(close);
    addItems(*makeVBox(this, {20, 16, 20, 14}, 10),
             {intro, m_filter, {m_table, 1}, buildAdder(), last});
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_toggle, &QPushButton::clicked, this, &LoweringDialog::toggle);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &LoweringDialog::onSelection);
    connect(m_filter, &QLineEdit::textChanged, this, &LoweringDialog::refresh);
    connect(&workspace.document(), &Document::recipeChanged, this, &LoweringDialog::refresh);
    refresh();
}

QWidget* LoweringDialog::buildAdder()
{
    auto* box = new QWidget(this);
    m_pattern = new QLineEdit(box);
    setNames(
        *m_pattern, "loweringPattern", tr("Operators of the new row"),
        tr("Operators in forward order, or a module such as torch.ao.nn.intrinsic.ConvReLU2d"));
    m_pattern->setPlaceholderText(QStringLiteral("conv2d, relu")); // no words
    m_kernel = new QComboBox(box);
    setNames(*m_kernel, "loweringKernel", tr("Kernel of the new row"));
    m_kernel->setEditable(true);
    QStringList kernels;
    for (const KernelRow& row : defaultKernelRows())
        if (row.kernel != kSameKernel && row.kernel != kNoKernel)
            kernels << QString::fromStdString(row.kernel);
    kernels.removeDuplicates();
    kernels.sort();
    m_kernel->addItems(kernels);
    m_kernel->setCurrentText({});
    m_kernel->lineEdit()->setPlaceholderText(QStringLiteral("quantized::conv2d_relu"));
    m_add = makeButton("loweringAdd", tr("Add row"), tr("Add the row to the recipe; can be undone"),
                       box);
    m_problem = makeProblemLabel("loweringProblem", box);
    auto* fields = makeHBox(nullptr, {}, 8);
    addItems(*fields, {{m_pattern, 1}, {m_kernel, 1}, m_add});
    addItems(*makeVBox(box), {fields, m_problem});
    // Enter adds the row rather than closing the dialog.
    m_add->setDefault(true);
    connect(m_add, &QPushButton::clicked, this, &LoweringDialog::add);
    return box;
}

std::vector<LoweringDialog::Row> LoweringDialog::rows() const
{
    const Recipe& recipe = m_workspace.document().recipe();
    std::vector<Row> out;
    for (const LoweringRow& own : recipe.loweringAdd)
        out.push_back({own.pattern, own.to, Origin::Own});
    // The engine determines which rows are used: a row may replace others in some modes only.
    const auto used = kernelRows(recipe);
    for (const KernelRow& row : defaultKernelRows()) {
        const bool isUsed = !used || std::find(used->begin(), used->end(), row) != used->end();
        const Origin origin = isUsed                         ? Origin::Default
            : hasPattern(recipe.loweringRemove, row.pattern) ? Origin::Removed
                                                             : Origin::Replaced;
        out.push_back({row.pattern, row.kernel, origin, row.mode});
    }
    const QString wanted = m_filter->text().trimmed();
    std::erase_if(out, [&](const Row& row) {
        return !wanted.isEmpty() && !rowText(row.pattern).contains(wanted, Qt::CaseInsensitive)
            && !kernelText(row.kernel).contains(wanted, Qt::CaseInsensitive);
    });
    return out;
}

void LoweringDialog::refresh()
{
    const int at = m_table->currentRow();
    m_rows = rows();
    m_table->setRowCount(int(m_rows.size()));
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        showRow(int(i), m_rows[i]);
    if (!m_rows.empty())
        m_table->setCurrentCell(std::clamp(at, 0, int(m_rows.size()) - 1), 0);
    onSelection();
}

void LoweringDialog::showRow(int at, const Row& row)
{
    const QString origins[]
        = {QStringLiteral("torch.ao"), tr("removed"), tr("replaced"), tr("this recipe")};
    QString origin = origins[int(row.origin)];
    if (row.mode != KernelMode::Static)
        origin += QStringLiteral(" · %1").arg(toQString(kernelModeName(row.mode)));
    const QString texts[] = {rowText(row.pattern), kernelText(row.kernel), origin};
    for (int column = 0; column < 3; ++column) {
        auto* item = new QTableWidgetItem(texts[column]);
        QFont font = column == 2 ? uiFont(11.5) : monoFont(11);
        const bool off = row.origin == Origin::Removed || row.origin == Origin::Replaced;
        font.setStrikeOut(off && column < 2);
        item->setFont(font);
        if (off)
            item->setForeground(theme().muted);
        else if (row.origin == Origin::Own)
            item->setForeground(theme().accent);
        m_table->setItem(at, column, item);
    }
}

void LoweringDialog::onSelection()
{
    const int row = m_table->currentRow();
    const bool any = row >= 0 && row < int(m_rows.size());
    const Origin origin = any ? m_rows[std::size_t(row)].origin : Origin::Default;
    m_toggle->setEnabled(any && origin != Origin::Replaced);
    m_toggle->setText(origin == Origin::Removed ? tr("Restore row") : tr("Remove row"));
}

void LoweringDialog::toggle()
{
    const int at = m_table->currentRow();
    if (at < 0 || at >= int(m_rows.size()))
        return;
    const Row row = m_rows[std::size_t(at)];
    const QString text = rowText(row.pattern);
    const Recipe& recipe = m_workspace.document().recipe();
    if (row.origin == Origin::Removed)
        m_workspace.change(tr("restore lowering row %1").arg(text),
                           withLoweringRowBack(recipe, row.pattern));
    else
        m_workspace.change(tr("remove lowering row %1").arg(text),
                           withoutLoweringRow(recipe, row.pattern));
}

void LoweringDialog::add()
{
    LoweringRow row {patternOf(m_pattern->text()), m_kernel->currentText().trimmed().toStdString()};
    Recipe recipe = m_workspace.document().recipe();
    erasePattern(recipe.loweringAdd, operatorKindsOf(row.pattern));
    recipe.loweringAdd.push_back(row);
    QString problem;
    if (const auto table = kernelRows(recipe); !table)
        problem = QString::fromStdString(table.error().message);
    else if (row.to != kSameKernel && row.to != kNoKernel
             && row.to.find_first_of(":.") == std::string::npos)
        problem
            = tr("a kernel is an operator such as quantized::conv2d_relu, \"same\" or \"none\"");
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    if (!problem.isEmpty())
        return;
    m_pattern->clear();
    m_kernel->setCurrentText({});
    m_workspace.change(tr("add lowering row %1").arg(rowText(row.pattern)), recipe);
}

} // namespace qs
