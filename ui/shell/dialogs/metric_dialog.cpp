// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/metric_dialog.h"

#include "ui/session/jobs/metric_runner.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>

namespace qs {

namespace {

const QString kCommandsKey = QStringLiteral("metricCommands");
constexpr int kKeptCommands = 8;

void keepCommand(const QString& command)
{
    QStringList commands = QSettings().value(kCommandsKey).toStringList();
    commands.removeAll(command);
    commands.prepend(command);
    QSettings().setValue(kCommandsKey, commands.mid(0, kKeptCommands));
}

} // namespace

MetricDialog::MetricDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_command(new QComboBox(this))
    , m_result(new QLabel(this))
    , m_problem(makeProblemLabel("metricProblem", this))
    , m_progress(new QProgressBar(this))
    , m_close(makeButton("metricClose", tr("Close"), {}, this))
    , m_measure(makeButton("metricMeasure", tr("&Measure"),
                           tr("Run the command for the outputs of the float and the int8 model"),
                           this))
{
    setObjectName(QStringLiteral("metricDialog"));
    setWindowTitle(tr("Your metric"));
    resize(px(620), px(230));
    MetricRunner& runner = workspace.metric();
    m_command->setEditable(true);
    setNames(*m_command, "metricCommand", tr("Command"),
             tr("A shell command; the path of the .npz is added to it"));
    m_command->addItems(QSettings().value(kCommandsKey).toStringList());
    m_command->setCurrentText(runner.command());
    m_command->lineEdit()->setPlaceholderText(tr("python score.py"));
    m_command->setInsertPolicy(QComboBox::NoInsert);
    m_result->setObjectName(QStringLiteral("metricResult"));
    m_result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_result->setWordWrap(true);
    m_progress->setRange(0, 0);
    m_close->setAutoDefault(false);
    m_measure->setDefault(true);
    setPrimary(*m_measure, true);
    auto* buttons = makeHBox(nullptr);
    buttons->addWidget(m_progress, 1);
    buttons->addStretch();
    addItems(*buttons, {m_close, m_measure});
    auto* column = makeVBox(this, {20, 18, 20, 16});
    addItems(*column,
             {makeParagraph(tr("The command gets the path of an .npz with the outputs on the "
                               "compared data, and prints one number; higher is better. It runs "
                               "only when you press Measure, or for a goal on the Cure page."),
                            this),
              m_command,
              m_problem,
              {m_result, 1},
              buttons});
    connect(m_command, &QComboBox::currentTextChanged, this, &MetricDialog::refresh);
    connect(m_measure, &QPushButton::clicked, this, &MetricDialog::measure);
    connect(m_close, &QPushButton::clicked, this, [this, &runner] {
        if (runner.isRunning())
            runner.cancel();
        else
            reject();
    });
    connect(&runner, &MetricRunner::changed, this, &MetricDialog::refresh);
    refresh();
    m_command->setFocus();
}

void MetricDialog::measure()
{
    MetricRunner& runner = m_workspace.metric();
    runner.setCommand(m_command->currentText());
    if (!runner.canMeasure())
        return;
    keepCommand(runner.command());
    runner.measure();
}

void MetricDialog::refresh()
{
    const MetricRunner& runner = m_workspace.metric();
    const bool isRunning = runner.isRunning();
    const bool isCalibrated = m_workspace.document().calibration() != nullptr;
    m_progress->setVisible(isRunning);
    m_command->setEnabled(!isRunning);
    m_close->setText(isRunning ? tr("Stop") : tr("Close"));
    m_measure->setEnabled(!isRunning && isCalibrated
                          && !m_command->currentText().trimmed().isEmpty());
    const QString problem
        = isCalibrated ? runner.problem() : tr("Calibrate first: then there is an int8 model");
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_result->setText(resultText());
}

QString MetricDialog::resultText() const
{
    const Document& document = m_workspace.document();
    if (m_workspace.metric().isRunning())
        return tr("Measuring");
    const auto evaluation = document.evaluationOf(document.keys());
    return evaluation ? tr("Float model %1, int8 model %2")
                            .arg(metricText(evaluation->floating), metricText(evaluation->int8))
                      : tr("Not measured for these decisions");
}

} // namespace qs
