// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/backend/entry_form.h"

#include "engine/configure/backend/entry_words.h"
#include "engine/configure/backend/fusion_entries.h"
#include "ui/session/text.h"
#include "ui/shell/backend/dtype_editor.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace qs {

namespace {

void addObservations(QComboBox& box)
{
    for (const ObservationType type :
         {ObservationType::OutputUseDifferentObserver, ObservationType::OutputShareObserver,
          ObservationType::InputOutputNotObserved}) {
        BackendPattern entry;
        entry.observationType = type;
        box.addItem(toQString(observationWords(type)), toQString(fieldsOf(entry).observationType));
    }
}

} // namespace

EntryForm::EntryForm(QWidget* parent)
    : QWidget(parent)
    , m_observation(new CalmComboBox(this))
    , m_fuser(new CalmComboBox(this))
    , m_dtypes(new DTypeEditor(this))
    , m_kernels(new QLabel(this))
{
    setObjectName(QStringLiteral("entryForm"));
    auto* form = new QFormLayout(this);
    form->setContentsMargins(12, 8, 12, 8);
    form->setHorizontalSpacing(12);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_pattern = addLine(*form, tr("&Pattern"), "entryPattern",
                        tr("Operators in forward order: torch.nn.Conv2d, torch.nn.ReLU; a list in "
                           "square brackets is torch.ao's pattern_complex_format"));
    m_fused = addLine(*form, tr("Fu&sed module"), "entryFused",
                      tr("fused_module: what the fuser method makes of the operators"));
    m_fuser->setObjectName(QStringLiteral("entryFuser"));
    m_fuser->setEditable(true);
    m_fuser->setInsertPolicy(QComboBox::NoInsert);
    m_fuser->addItem(QString());
    for (const std::string& method : knownFuserMethods())
        m_fuser->addItem(toQString(method));
    m_fuser->setToolTip(tr("fuser_method: an entry with one is a fusion"));
    form->addRow(tr("Fuser met&hod"), m_fuser);
    setNames(*m_observation, "entryObservation", {},
             tr("observation_type: which observers the operator's values get"));
    addObservations(*m_observation);
    form->addRow(tr("&Observation"), m_observation);
    for (QComboBox* box : {m_fuser, m_observation}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(12);
    }
    m_root = addLine(*form, tr("Roo&t module"), "entryRoot",
                     tr("root_module: the operator of a fusion that has the weight"));
    m_reference = addLine(*form, tr("Reference modu&le"), "entryReference",
                          tr("reference_quantized_module: what the converted model holds"));
    m_qat = addLine(*form, tr("&QAT module"), "entryQat",
                    tr("qat_module: what torch.ao trains with; kept for it"));
    form->addRow(m_dtypes);
    m_kernels->setObjectName(QStringLiteral("entryKernels"));
    m_kernels->setWordWrap(true);
    m_kernels->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* lowering = makeButton("entryLowering", tr("Lo&wering table…"),
                                tr("Choose which kernels operators become"), this);
    auto* kernels = new QHBoxLayout;
    kernels->addWidget(m_kernels, 1);
    kernels->addWidget(lowering, 0, Qt::AlignTop);
    form->addRow(tr("Kernels"), kernels);
    const auto changed = [this] {
        if (!m_isShowing)
            Q_EMIT edited();
    };
    connect(m_fuser, &QComboBox::currentTextChanged, this, changed);
    connect(m_observation, &QComboBox::currentIndexChanged, this, changed);
    connect(m_dtypes, &DTypeEditor::edited, this, &EntryForm::edited);
    connect(lowering, &QPushButton::clicked, this, &EntryForm::loweringWanted);
}

QLineEdit* EntryForm::addLine(QFormLayout& form, const QString& label, const char* objectName,
                              const QString& toolTip)
{
    auto* line = new QLineEdit(this);
    line->setObjectName(QString::fromLatin1(objectName));
    line->setToolTip(toolTip);
    line->setFont(monoFont(11));
    form.addRow(label, line);
    connect(line, &QLineEdit::textChanged, this, [this] {
        if (!m_isShowing)
            Q_EMIT edited();
    });
    return line;
}

void EntryForm::setFields(const EntryFields& fields)
{
    m_isShowing = true;
    const std::pair<QLineEdit*, const std::string*> lines[] {{m_pattern, &fields.pattern},
                                                             {m_fused, &fields.fusedModule},
                                                             {m_root, &fields.rootModule},
                                                             {m_reference, &fields.referenceModule},
                                                             {m_qat, &fields.qatModule}};
    for (const auto& [line, text] : lines) {
        line->setText(toQString(*text));
        line->setCursorPosition(0);
    }
    m_fuser->setCurrentText(toQString(fields.fuserMethod));
    m_fuser->lineEdit()->setCursorPosition(0);
    m_observation->setCurrentIndex(m_observation->findData(toQString(fields.observationType)));
    m_dtypes->setConfigs(fields.configs);
    m_isShowing = false;
}

EntryFields EntryForm::fields() const
{
    const auto text = [](const QLineEdit* line) { return line->text().toStdString(); };
    return {text(m_pattern),
            m_observation->currentData().toString().toStdString(),
            text(m_root),
            text(m_qat),
            text(m_reference),
            text(m_fused),
            m_fuser->currentText().toStdString(),
            m_dtypes->configs()};
}

void EntryForm::setKernels(const QString& text)
{
    m_kernels->setText(text);
}

void EntryForm::focusPattern()
{
    m_pattern->setFocus();
}

} // namespace qs
