// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/code_panel.h"

#include "ui/panels/code_view.h"
#include "ui/panels/line_match.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/jobs/plan_wait.h"
#include "ui/session/shown_conversion.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/source/source_view.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QScrollBar>

namespace qs {

namespace {

const QString kCodeTag = QStringLiteral("code");

QString keyOf(const CodeLine& line)
{
    return codeLineKey(QString::fromStdString(line.text));
}

} // namespace

CodePanel::CodePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_leftForm(new QComboBox(this))
    , m_rightForm(new QComboBox(this))
    , m_note(new ElidedLabel(QString(), uiFont(11), this))
    , m_left(new CodeView(this))
    , m_right(new CodeView(this))
{
    setObjectName(QStringLiteral("codePanel"));
    fillPanel(*this);
    setNames(*m_leftForm, "codeForm", tr("Form of the model shown as code"),
             tr("Which form of the model to print"));
    setNames(*m_rightForm, "codeOtherForm", tr("Form of the model to compare with"),
             tr("A second form beside it; lines that differ are tinted"));
    m_rightForm->addItem(tr("alone"));
    for (CodeForm form : kCodeForms) {
        m_leftForm->addItem(toQString(codeFormName(form)));
        m_rightForm->addItem(tr("beside %1").arg(toQString(codeFormName(form))));
    }
    m_rightForm->addItem(tr("beside Python"));
    for (auto* box : {m_leftForm, m_rightForm})
        box->setFont(uiFont(11.5));
    setNames(*m_left, "codeLeft", tr("Code"));
    setNames(*m_right, "codeRight", tr("Code of the form beside it"));
    m_note->setObjectName(QStringLiteral("codeNote"));
    m_note->setColor(theme().muted);

    auto* bar = makeHBox(nullptr, {16, 6, 12, 4}, 8);
    addItems(*bar, {m_leftForm, m_rightForm, {m_note, 1}});
    auto* splitter = makeSplitter("codeHalves", Qt::Horizontal, this);
    splitter->addWidget(m_left);
    splitter->addWidget(m_right);
    m_source = new SourceView(workspace, splitter);
    splitter->addWidget(m_source);
    addItems(*makeVBox(this, {}, 0), {bar, {splitter, 1}});
    link(*m_left, *m_right);
    link(*m_right, *m_left);
    // A view that was just shown cannot scroll yet: follow when its range is known.
    connect(m_right->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] {
        m_right->verticalScrollBar()->setValue(m_left->verticalScrollBar()->value());
    });
    m_left->setOwnFill(theme().dangerFill);
    m_right->setOwnFill(theme().doneFill);

    const auto later = coalesced(this, [this] {
        m_dirty = true;
        if (isVisible())
            reload();
    });
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::planChanged, this, later);
    connect(&workspace.pipeline(), &Pipeline::failed, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    for (auto* box : {m_leftForm, m_rightForm})
        connect(box, &QComboBox::currentIndexChanged, this, later);
    connect(&workspace.selection(), &Selection::changed, this, [this] {
        if (isVisible())
            mark(true);
    });
    m_right->hide();
    m_source->hide();
}

void CodePanel::link(CodeView& from, CodeView& to)
{
    connect(from.verticalScrollBar(), &QScrollBar::valueChanged, to.verticalScrollBar(),
            &QScrollBar::setValue);
    connect(from.horizontalScrollBar(), &QScrollBar::valueChanged, to.horizontalScrollBar(),
            &QScrollBar::setValue);
    connect(&from, &CodeView::nodesClicked, this, [this](const std::vector<NodeId>& nodes) {
        const auto& tree = m_workspace.foldTree();
        for (NodeId node : nodes)
            if (tree && tree->unitOf(node) >= 0) {
                m_workspace.selectNode(node);
                return;
            }
    });
}

void CodePanel::showForms(CodeForm left, std::optional<CodeForm> right)
{
    m_leftForm->setCurrentIndex(int(left));
    m_rightForm->setCurrentIndex(right ? 1 + int(*right) : 0);
}

void CodePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_dirty)
        reload();
}

bool CodePanel::needsConversion() const
{
    return m_leftForm->currentIndex() > 0 || otherForm() > 0;
}

int CodePanel::otherForm() const
{
    const int form = m_rightForm->currentIndex() - 1;
    return form < int(kCodeForms.size()) ? form : -1;
}

void CodePanel::reload()
{
    m_dirty = false;
    const auto& document = m_workspace.document();
    const GraphPtr model = document.model();
    if (!model) {
        m_forms.reset();
        arrange();
        return;
    }
    const bool convert = needsConversion();
    const PlanPtr plan = document.plan();
    ConvertedPtr converted = document.isStale(Stage::Convert) ? nullptr : document.converted();
    if (convert && !converted && !plan) {
        m_note->setText(planWaitText(m_workspace.pipeline()));
        return;
    }
    auto& engine = m_workspace.pipeline().engine();
    const Recipe recipe = document.recipe();
    m_note->setText(tr("Printing…"));
    // An outline runs operators: it waits on the engine lane for a running stage.
    const Lane lane = convert && !converted ? Lane::Engine : Lane::Pool;
    m_workspace.pipeline().jobs().run(
        lane, kCodeTag,
        [&engine, model, plan, converted, recipe, convert](JobContext& job) mutable {
            Printed out;
            auto forms = std::make_shared<Forms>();
            (*forms)[int(CodeForm::Float)] = floatCode(*model);
            if (convert) {
                const ShownConversion shown
                    = shownConversion(engine, model, plan, recipe, std::move(converted), job);
                out.note = shown.note;
                for (CodeForm form : {CodeForm::Prepared, CodeForm::Reference, CodeForm::Lowered})
                    if (shown.converted)
                        (*forms)[std::size_t(form)] = convertedCode(*shown.converted, form);
            }
            out.forms = std::move(forms);
            return out;
        },
        this,
        [this](Printed printed) {
            m_forms = std::move(printed.forms);
            m_shownNote = std::move(printed.note);
            arrange();
        });
}

void CodePanel::arrange()
{
    const int other = otherForm();
    m_right->setVisible(other >= 0);
    m_source->setVisible(m_rightForm->currentIndex() > int(kCodeForms.size()));
    std::vector<CodeView::Row> left, right;
    if (m_forms) {
        const auto& a = (*m_forms)[std::size_t(m_leftForm->currentIndex())];
        if (other < 0) {
            for (const CodeLine& line : a)
                left.push_back({line, CodeView::Change::None});
        } else {
            const auto& b = (*m_forms)[std::size_t(other)];
            std::vector<QString> leftKeys, rightKeys;
            for (const CodeLine& line : a)
                leftKeys.push_back(keyOf(line));
            for (const CodeLine& line : b)
                rightKeys.push_back(keyOf(line));
            using Change = CodeView::Change;
            for (const LinePair& pair : matchLines(leftKeys, rightKeys)) {
                const bool both = pair.left >= 0 && pair.right >= 0;
                const CodeLine* l = pair.left >= 0 ? &a[std::size_t(pair.left)] : nullptr;
                const CodeLine* r = pair.right >= 0 ? &b[std::size_t(pair.right)] : nullptr;
                const Change change = !both ? Change::Own
                    : l->text == r->text    ? Change::None
                                            : Change::Changed;
                left.push_back({l ? *l : CodeLine(), l ? change : Change::Gap});
                right.push_back({r ? *r : CodeLine(), r ? change : Change::Gap});
            }
        }
    }
    m_left->setRows(std::move(left));
    m_right->setRows(std::move(right));
    QString note = m_shownNote;
    if (other >= 0 && m_forms)
        note = tr("%1 · %2 lines differ")
                   .arg(note)
                   .arg(std::max(m_left->changeCount(), m_right->changeCount()));
    m_note->setText(note.startsWith(QLatin1String(" · ")) ? note.mid(3) : note);
    mark(true);
}

void CodePanel::mark(bool reveal)
{
    const auto& nodes = m_workspace.selection().nodes();
    // Do not mark a large selection, such as the whole model.
    const bool few = nodes.size() <= 64;
    m_left->markNodes(few ? nodes : std::vector<NodeId>(), reveal);
    m_right->markNodes(few ? nodes : std::vector<NodeId>(), false);
}

} // namespace qs
