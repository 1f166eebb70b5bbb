// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/train_options.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QStandardItemModel>

#include <cmath>

namespace qs {

namespace {

constexpr int kLabelsItem = 1; ///< of the losses
constexpr int kScratchItem = 1; ///< of the starts
constexpr int kNever = -1; ///< steps

int minutesOf(const std::optional<double>& seconds)
{
    return int(seconds.value_or(0) / 60);
}

int percentOf(double share)
{
    return int(std::lround(100 * share));
}

std::optional<double> rateOf(const QLineEdit& field)
{
    bool isNumber = false;
    const double rate = QLocale::c().toDouble(field.text().trimmed(), &isNumber);
    return isNumber && rate > 0 && std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

/// Adds a field with its label to a column of the grid, 0 or 1.
void addField(QGridLayout& grid, int row, int column, const QString& text, QWidget& field)
{
    auto* label = new QLabel(text, field.parentWidget());
    label->setBuddy(&field);
    grid.addWidget(label, row, 3 * column);
    grid.addWidget(&field, row, 3 * column + 1);
}

QComboBox* makeChoice(const QStringList& items, QWidget* parent)
{
    auto* box = new QComboBox(parent);
    box->addItems(items);
    return box;
}

} // namespace

TrainOptions::TrainOptions(QWidget* parent)
    : QWidget(parent)
    // The order of construction is the tab order.
    , m_steps(new QSpinBox(this))
    , m_minutes(new QSpinBox(this))
    , m_start(makeChoice({tr("the calibration"), tr("scratch")}, this))
    , m_scales(new QCheckBox(tr("Learn the sca&les too"), this))
    , m_loss(makeChoice({tr("distill"), tr("labels")}, this))
    , m_rate(new QLineEdit(this))
    , m_guard(new QSpinBox(this))
    , m_norms(new QSpinBox(this))
{
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins({});
    grid->setHorizontalSpacing(14);
    grid->setVerticalSpacing(8);
    grid->setColumnMinimumWidth(2, px(10));
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(4, 1);
    buildTimes(*grid);
    buildMethod(*grid);
    setOptions({}, false);
    for (auto* box : {m_steps, m_minutes, m_guard, m_norms})
        connect(box, qOverload<int>(&QSpinBox::valueChanged), this, &TrainOptions::changed);
    for (auto* box : {m_start, m_loss})
        connect(box, qOverload<int>(&QComboBox::currentIndexChanged), this, &TrainOptions::changed);
    connect(m_scales, &QCheckBox::toggled, this, &TrainOptions::changed);
    connect(m_rate, &QLineEdit::textChanged, this, &TrainOptions::changed);
    setFocusProxy(m_steps);
}

void TrainOptions::buildTimes(QGridLayout& grid)
{
    setNames(*m_steps, "trainSteps", tr("Steps"), tr("Each step trains on one batch"));
    m_steps->setRange(1, 1000000);
    addField(grid, 0, 0, tr("&Steps"), *m_steps);
    setNames(*m_minutes, "trainMinutes", tr("Time limit in minutes"),
             tr("The training then ends with the best state so far"));
    m_minutes->setRange(0, 10000);
    m_minutes->setSpecialValueText(tr("none"));
    m_minutes->setSuffix(tr(" min"));
    addField(grid, 1, 0, tr("&Time limit"), *m_minutes);
    setNames(*m_start, "trainFrom", tr("Start from"),
             tr("The ranges of values come from a calibration, or from the first batch"));
    addField(grid, 2, 0, tr("Start &from"), *m_start);
    setNames(*m_scales, "trainScales", tr("Learn the scales too"),
             tr("The scales of the fake quantizers are trained as well (LSQ)"));
    grid.addWidget(m_scales, 3, 1);
}

void TrainOptions::buildMethod(QGridLayout& grid)
{
    setNames(*m_loss, "trainLoss", tr("Loss"),
             tr("The weights learn the float model's outputs, or the labels of the data"));
    addField(grid, 0, 1, tr("L&oss"), *m_loss);
    setNames(
        *m_rate, "trainRate", tr("Learning rate"),
        tr("If empty, the rate of each tensor follows its size and the noise before the training"));
    m_rate->setPlaceholderText(tr("usual"));
    addField(grid, 1, 1, tr("Learning &rate"), *m_rate);
    setNames(*m_guard, "trainGuard", tr("Share of the guard"),
             tr("This share of the batches is only measured and chooses the best step"));
    m_guard->setRange(0, percentOf(kMostGuardShare));
    m_guard->setSpecialValueText(tr("none"));
    m_guard->setSuffix(tr(" %"));
    addField(grid, 2, 1, tr("&Guard"), *m_guard);
    setNames(*m_norms, "trainNorms", tr("Steps until batch norms are frozen"),
             tr("After these steps batch norms use their running statistics"));
    m_norms->setRange(kNever, 1000000);
    m_norms->setSpecialValueText(tr("never"));
    m_norms->setPrefix(tr("after "));
    m_norms->setSuffix(tr(" steps"));
    addField(grid, 3, 1, tr("Freeze batch &norms"), *m_norms);
}

void TrainOptions::addWide(const QString& text, QWidget& field)
{
    auto* grid = static_cast<QGridLayout*>(layout());
    const int row = grid->rowCount();
    grid->addWidget(&field, row, 1, 1, 4);
    if (text.isEmpty())
        return;
    auto* label = new QLabel(text, this);
    label->setBuddy(field.focusProxy());
    grid->addWidget(label, row, 0);
}

TrainingSettings TrainOptions::settings() const
{
    TrainingSettings settings = m_base;
    settings.steps = m_steps->value();
    if (const int minutes = m_minutes->value(); minutes != minutesOf(m_base.seconds))
        settings.seconds = minutes > 0 ? std::optional(60.0 * minutes) : std::nullopt;
    settings.learnsScales = m_scales->isChecked();
    settings.loss
        = m_loss->currentIndex() == kLabelsItem ? TrainingLoss::Labels : TrainingLoss::Distill;
    settings.rate = rateOf(*m_rate);
    if (const int percent = m_guard->value(); percent != percentOf(m_base.guard))
        settings.guard = percent / 100.0;
    const int norms = m_norms->value();
    settings.freezeBatchNorms = norms == kNever ? std::nullopt : std::optional(norms);
    return settings;
}

bool TrainOptions::isFromScratch() const
{
    return m_start->currentIndex() == kScratchItem;
}

void TrainOptions::setOptions(const TrainingSettings& settings, bool isFromScratch)
{
    m_base = settings;
    m_steps->setValue(settings.steps);
    m_minutes->setValue(minutesOf(settings.seconds));
    m_start->setCurrentIndex(isFromScratch ? kScratchItem : 0);
    m_scales->setChecked(settings.learnsScales);
    m_loss->setCurrentIndex(settings.loss == TrainingLoss::Labels ? kLabelsItem : 0);
    m_rate->setText(settings.rate
                        ? QLocale::c().toString(*settings.rate, 'g', QLocale::FloatingPointShortest)
                        : QString());
    m_guard->setValue(percentOf(settings.guard));
    m_norms->setValue(settings.freezeBatchNorms.value_or(kNever));
}

void TrainOptions::setHasLabels(bool hasLabels)
{
    auto* items = qobject_cast<QStandardItemModel*>(m_loss->model());
    items->item(kLabelsItem)->setEnabled(hasLabels);
    items->item(kLabelsItem)->setToolTip(hasLabels ? QString() : tr("The data have no labels"));
}

QString TrainOptions::problem() const
{
    return m_rate->text().trimmed().isEmpty() || rateOf(*m_rate)
        ? QString()
        : tr("The learning rate is a positive number.");
}

} // namespace qs
