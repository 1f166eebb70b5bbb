// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/run_dialogs.h"

#include "engine/export/exporter.h"
#include "ui/session/text.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QStyle>

#include <algorithm>
#include <cmath>
#include <map>

namespace qs {

namespace {

QFormLayout* formOf(QDialog& dialog)
{
    auto* form = new QFormLayout(&dialog);
    form->setContentsMargins(20, 18, 20, 16);
    form->setHorizontalSpacing(14);
    form->setVerticalSpacing(10);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    dialog.setMinimumWidth(460);
    return form;
}

/// Adds OK, with the text `go`, and Cancel; returns the OK button.
QPushButton* addButtons(QDialog& dialog, QFormLayout& form, const QString& go)
{
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, &dialog);
    buttons->button(QDialogButtonBox::Ok)->setText(go);
    auto* ahead = buttons->button(QDialogButtonBox::Ok);
    ahead->setProperty("primary", true);
    // It was styled before the property was set: apply the style again.
    ahead->style()->unpolish(ahead);
    ahead->style()->polish(ahead);
    form.addRow(buttons);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    return ahead;
}

/// Returns "torchscript: int8 kernels, for torch.jit.load".
QString formText(const std::string& form)
{
    const std::map<std::string, QString> words
        = {{"torchscript", QObject::tr("int8 kernels, for torch.jit.load")},
           {"pt2-reference", QObject::tr("every quantize-dequantize pair, for torch.export.load")},
           {"pt2", QObject::tr("int8 weights, dequantized in the graph")},
           {"onnx", QObject::tr("QDQ with int8 weights, for ONNX Runtime; not read back here")}};
    const auto found = words.find(form);
    return found == words.end() ? toQString(form)
                                : QStringLiteral("%1: %2").arg(toQString(form), found->second);
}

/// Returns "ort-cpu: integer kernels of ONNX Runtime".
QString targetText(const std::string& target)
{
    const std::map<std::string, QString> words
        = {{"generic", QObject::tr("every runtime computes the same")},
           {"ort-cpu", QObject::tr("integer kernels of ONNX Runtime's CPU provider")},
           {"tensorrt", QObject::tr("int8 without zero points")}};
    const auto found = words.find(target);
    return found == words.end() ? toQString(target)
                                : QStringLiteral("%1: %2").arg(toQString(target), found->second);
}

QString firstExisting(const QString& modelPath, const QStringList& names)
{
    const QDir folder = QFileInfo(modelPath).dir();
    for (const auto& name : names)
        if (folder.exists(name))
            return folder.filePath(name);
    return {};
}

} // namespace

QString guessCalibrationData(const QString& modelPath)
{
    const QString found
        = firstExisting(modelPath,
                        {QFileInfo(modelPath).completeBaseName() + QStringLiteral(".calib.npz"),
                         QStringLiteral("calib.npz"), QStringLiteral("calibration.npz")});
    return found.isEmpty() ? QStringLiteral("sample") : found;
}

QString siblingComparisonData(const QString& modelPath)
{
    return firstExisting(modelPath,
                         {QFileInfo(modelPath).completeBaseName() + QStringLiteral(".test.npz"),
                          QStringLiteral("test.npz")});
}

CalibrateDialog::CalibrateDialog(const RunSettings& settings, const CalibrationSettings& amount,
                                 const QString& modelPath, QWidget* parent)
    : QDialog(parent)
    , m_amount(amount)
    , m_given(settings)
    , m_modelFolder(QFileInfo(modelPath).path())
{
    setObjectName(QStringLiteral("calibrateDialog"));
    setWindowTitle(tr("Calibrate"));
    auto* form = formOf(*this);
    m_data = pathField(QStringLiteral("calibrationData"),
                       QString::fromStdString(settings.calibrationData),
                       tr(".npz, .pt, .tar, a folder of images or .tar files, or \"sample\""));
    form->addRow(tr("Calibration data"), m_data->parentWidget());
    m_testData = pathField(QStringLiteral("comparisonData"),
                           QString::fromStdString(settings.comparisonData), tr("the same data"));
    form->addRow(tr("Compare on"), m_testData->parentWidget());
    offerSibling(siblingComparisonData(modelPath));
    // The order of construction is the tab order.
    m_device = new QComboBox(this);
    m_batchSize = new QSpinBox(this);
    m_batches = new QSpinBox(this);
    m_device->setObjectName(QStringLiteral("deviceBox"));
    m_device->addItems({QStringLiteral("auto"), QStringLiteral("cpu"), QStringLiteral("cuda")});
    m_device->setEditable(true);
    m_device->setCurrentText(QString::fromStdString(settings.device));
    form->addRow(tr("Device"), m_device);
    for (auto* box : {m_batchSize, m_batches})
        box->setRange(1, 100000);
    m_batchSize->setObjectName(QStringLiteral("batchSizeBox"));
    m_batches->setObjectName(QStringLiteral("batchesBox"));
    m_batchSize->setValue(amount.batchSize);
    m_batches->setValue(amount.batches);
    form->addRow(tr("Batch size"), m_batchSize);
    form->addRow(tr("Batches"), m_batches);
    addButtons(*this, *form, tr("Calibrate"));
    m_data->setFocus();
}

QLineEdit* CalibrateDialog::pathField(const QString& name, const QString& value,
                                      const QString& hint)
{
    auto* box = new QWidget(this);
    auto* row = makeHBox(box);
    auto* field = new QLineEdit(value, box);
    field->setObjectName(name);
    field->setPlaceholderText(hint);
    // Native dialogs do not offer files and folders at once.
    auto* browse = new QPushButton(tr("Browse"), box);
    browse->setObjectName(name + QStringLiteral("Browse"));
    browse->setAutoDefault(false);
    auto* menu = new QMenu(browse);
    connect(menu->addAction(tr("&File…")), &QAction::triggered, this,
            [this, field] { browseFile(*field); });
    connect(menu->addAction(tr("F&older…")), &QAction::triggered, this,
            [this, field] { browseFolder(*field); });
    browse->setMenu(menu);
    addItems(*row, {{field, 1}, browse});
    return field;
}

void CalibrateDialog::offerSibling(const QString& sibling)
{
    if (sibling.isEmpty())
        return;
    auto* offer = makeButton("comparisonDataSibling",
                             tr("Compare on %1").arg(QFileInfo(sibling).fileName()), sibling, this);
    offer->setAutoDefault(false);
    static_cast<QFormLayout*>(layout())->addRow(QString(), offer);
    connect(offer, &QPushButton::clicked, m_testData,
            [this, sibling] { m_testData->setText(sibling); });
    const auto show = [this, offer, sibling] { offer->setEnabled(m_testData->text() != sibling); };
    connect(m_testData, &QLineEdit::textChanged, offer, show);
    show();
}

QString CalibrateDialog::folderOf(const QLineEdit& field) const
{
    const QFileInfo chosen(field.text().trimmed());
    return chosen.exists() ? chosen.absolutePath() : m_modelFolder;
}

void CalibrateDialog::browseFile(QLineEdit& field)
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Choose data"), folderOf(field),
                                                      tr("Data (*.npz *.pt *.tar);;All files (*)"));
    if (!path.isEmpty())
        field.setText(path);
}

void CalibrateDialog::browseFolder(QLineEdit& field)
{
    const QString path
        = QFileDialog::getExistingDirectory(this, tr("Choose a folder of data"), folderOf(field));
    if (!path.isEmpty())
        field.setText(path);
}

RunSettings CalibrateDialog::settings() const
{
    RunSettings settings = m_given;
    settings.calibrationData = m_data->text().trimmed().toStdString();
    settings.comparisonData = m_testData->text().trimmed().toStdString();
    settings.device = m_device->currentText().trimmed().toStdString();
    return settings;
}

CalibrationSettings CalibrateDialog::amount() const
{
    CalibrationSettings amount = m_amount;
    amount.batchSize = m_batchSize->value();
    amount.batches = m_batches->value();
    return amount;
}

ExportDialog::ExportDialog(const std::vector<std::string>& forms, const QString& folder,
                           QWidget* parent)
    : QDialog(parent)
{
    setObjectName(QStringLiteral("exportDialog"));
    setWindowTitle(tr("Export"));
    auto* form = formOf(*this);
    auto* box = new QWidget(this);
    auto* row = makeHBox(box);
    m_folder = new QLineEdit(folder, box);
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    auto* browse = new QPushButton(tr("Browse…"), box);
    addItems(*row, {{m_folder, 1}, browse});
    connect(browse, &QPushButton::clicked, this, [this] {
        const QString path
            = QFileDialog::getExistingDirectory(this, tr("Choose a folder"), m_folder->text());
        if (!path.isEmpty())
            m_folder->setText(path);
    });
    form->addRow(tr("Folder"), box);
    const auto usual = defaultExportForms();
    for (const auto& name : forms) {
        auto* check = new QCheckBox(formText(name), this);
        check->setObjectName(QStringLiteral("form_%1").arg(QString::fromStdString(name)));
        check->setChecked(std::find(usual.begin(), usual.end(), name) != usual.end());
        form->addRow(m_forms.empty() ? tr("Forms") : QString(), check);
        m_forms.emplace_back(name, check);
    }
    m_target = new QComboBox(this);
    m_target->setObjectName(QStringLiteral("onnxTarget"));
    for (const std::string& name : onnxTargetNames())
        m_target->addItem(targetText(name), toQString(name));
    form->addRow(tr("ONNX is for"), m_target);
    m_saturates = new QCheckBox(tr("Cut at the observers' ranges (seven bits)"), this);
    setNames(*m_saturates, "saturates", {},
             tr("Integers of pt2 and ONNX are cut at the ends of the observers' "
                "ranges, as PT2E's files are, for processors whose products of "
                "bytes overflow. Otherwise they extend to the ends of their type"));
    form->addRow(QString(), m_saturates);
    auto* note
        = makeParagraph(tr("result.json, recipe.json and observations.npz are written beside "
                           "them. Exports of an earlier result in the folder are removed."),
                        this);
    form->addRow(QString(), note);
    auto* go = addButtons(*this, *form, tr("Export"));
    const auto check = [this, go] {
        const ExportChoices chosen = choices();
        const auto& forms = chosen.forms;
        go->setEnabled(!chosen.folder.isEmpty() && !forms.empty());
        m_target->setEnabled(std::find(forms.begin(), forms.end(), "onnx") != forms.end());
        m_saturates->setEnabled(std::any_of(forms.begin(), forms.end(), holdsSaturatingForm));
    };
    connect(m_folder, &QLineEdit::textChanged, this, check);
    for (const auto& entry : m_forms) {
        connect(entry.second, &QCheckBox::toggled, this, check);
        connect(entry.second, &QCheckBox::toggled, this, [this] { m_formsChosen = true; });
    }
    check();
}

ExportChoices ExportDialog::choices() const
{
    ExportChoices out;
    out.folder = m_folder->text().trimmed();
    for (const auto& [name, check] : m_forms)
        if (check->isChecked())
            out.forms.push_back(name);
    out.onnxTarget = onnxTargetFromName(m_target->currentData().toString().toStdString())
                         .value_or(OnnxTarget::Generic);
    out.saturates = m_saturates->isEnabled() && m_saturates->isChecked();
    out.formsChosen = m_formsChosen;
    return out;
}

QConfigDialog::QConfigDialog(const QConfig& start, const QStringList& takenNames, QWidget* parent)
    : QDialog(parent)
    , m_start(start)
    , m_name(new QLineEdit(this))
    , m_activation(new QComboBox(this))
    , m_activationType(new QComboBox(this))
    , m_low(new QSpinBox(this))
    , m_high(new QSpinBox(this))
    , m_eps(new QComboBox(this))
    , m_weight(new QComboBox(this))
{
    setObjectName(QStringLiteral("qconfigDialog"));
    setWindowTitle(tr("New qconfig"));
    QString name = QStringLiteral("act7");
    for (int i = 2; takenNames.contains(name); ++i)
        name = QStringLiteral("custom%1").arg(i);
    m_name->setText(name);
    m_name->setObjectName(QStringLiteral("qconfigName"));
    m_activation->addItems({QStringLiteral("histogram"), QStringLiteral("minmax"),
                            QStringLiteral("moving_average_minmax")});
    m_activation->setCurrentText(toQString(observerKindName(start.activation.kind)));
    m_activationType->addItems({QStringLiteral("quint8"), QStringLiteral("qint8")});
    m_activationType->setCurrentText(toQString(dtypeName(start.activation.dtype)));
    for (auto* box : {m_low, m_high})
        box->setRange(-32768, 32767);
    const auto range = quantRange(start.activation);
    m_low->setValue(int(range.min));
    m_high->setValue(int(range.max));
    for (int power : {-23, -16, -14, -12, -10, -8})
        m_eps->addItem(QStringLiteral("2^%1").arg(power), std::ldexp(1.0, power));
    m_eps->setCurrentIndex(std::max(0, m_eps->findData(start.activation.eps)));
    m_weight->addItems({QStringLiteral("per_channel_minmax"), QStringLiteral("minmax")});
    m_weight->setCurrentText(toQString(observerKindName(start.weight.kind)));
    auto* form = formOf(*this);
    form->addRow(tr("Name"), m_name);
    form->addRow(tr("Activation observer"), m_activation);
    form->addRow(tr("Activation type"), m_activationType);
    auto* bounds = new QWidget(this);
    addItems(*makeHBox(bounds), {{m_low, 1}, new QLabel(QStringLiteral("…"), bounds), {m_high, 1}});
    form->addRow(tr("Activation range"), bounds);
    form->addRow(tr("Smallest step (eps)"), m_eps);
    form->addRow(tr("Weight observer"), m_weight);
    addButtons(*this, *form, tr("Create and use"));
}

QString QConfigDialog::name() const
{
    return m_name->text().trimmed();
}

QConfig QConfigDialog::config() const
{
    QConfig out = m_start;
    if (const auto kind = observerKindFromName(m_activation->currentText().toStdString()))
        out.activation.kind = *kind;
    if (const auto type = dtypeFromName(m_activationType->currentText().toStdString()))
        out.activation.dtype = *type;
    out.activation.quantMin = std::min(m_low->value(), m_high->value());
    out.activation.quantMax = std::max(m_low->value(), m_high->value());
    out.activation.reduceRange = false;
    out.activation.eps = m_eps->currentData().toDouble();
    if (const auto kind = observerKindFromName(m_weight->currentText().toStdString())) {
        out.weight.kind = *kind;
        out.weight.qscheme = *kind == ObserverKind::PerChannelMinMax ? QScheme::PerChannelSymmetric
                                                                     : QScheme::PerTensorSymmetric;
    }
    return out;
}

} // namespace qs
