// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/from_python.h"

#include "engine/configure/resource_folder.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTabWidget>

namespace qs {

namespace {

QString exportFile(const QString& name)
{
    return toQString((resourceFolder() / "export" / name.toStdString()).string());
}

/// Returns the number of lines of the longest snippet: the height of all pages.
int linesOf(const std::vector<PythonSnippet>& snippets)
{
    qsizetype most = 1;
    for (const PythonSnippet& snippet : snippets)
        most = std::max(most, snippet.code.count(u'\n'));
    return int(most);
}

} // namespace

std::vector<PythonSnippet> pythonSnippets()
{
    const std::pair<QString, QString> wanted[]
        = {{QStringLiteral("one_command.sh"), FromPython::tr("One command")},
           {QStringLiteral("one_input.py"), FromPython::tr("One input")},
           {QStringLiteral("several_inputs.py"), FromPython::tr("Several inputs")},
           {QStringLiteral("dynamic_batch.py"), FromPython::tr("Dynamic batch")}};
    std::vector<PythonSnippet> out;
    for (const auto& [name, title] : wanted) {
        QFile file(exportFile(QLatin1String("snippets/") + name));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        // The first line is our licence; leave it out.
        const QString code = QString::fromUtf8(file.readAll());
        out.push_back({name.section(u'.', 0, 0), name, title, code.mid(code.indexOf(u'\n') + 1)});
    }
    return out;
}

FromPython::FromPython(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("fromPython"));
    auto* title = new QLabel(tr("From Python to .pt2"), this);
    title->setFont(uiFont(13, 600));
    auto* pages = new QTabWidget(this);
    setNames(*pages, "pythonPages", tr("Ways to export a model in Python"));
    pages->setDocumentMode(true);
    pages->tabBar()->setDrawBase(false);
    const auto snippets = pythonSnippets();
    for (const PythonSnippet& snippet : snippets)
        pages->addTab(buildPage(snippet), snippet.title);
    const int line = QFontMetrics(monoFont(11)).lineSpacing();
    for (auto* code : findChildren<QPlainTextEdit*>())
        code->setFixedHeight(line * linesOf(snippets) + px(22));
    auto* data = makeMutedLabel(tr("Data to calibrate on: numpy.savez(\"model.calib.npz\", "
                                   "image=images), an array for each "
                                   "input. Beside the model they are found automatically."),
                                11.5, this);
    data->setWordWrap(true);
    addItems(*makeVBox(this, {}, 6), {title, pages, data});
    setVisible(!snippets.empty());
}

QWidget* FromPython::buildPage(const PythonSnippet& snippet)
{
    auto* page = new QWidget(this);
    auto* code = new QPlainTextEdit(snippet.code.trimmed(), page);
    setNames(*code, qPrintable(QStringLiteral("code_%1").arg(snippet.id)),
             tr("From Python to .pt2: %1").arg(snippet.title));
    code->setReadOnly(true);
    code->setTabChangesFocus(true);
    code->setLineWrapMode(QPlainTextEdit::NoWrap);
    code->setFont(monoFont(11));
    code->setStyleSheet(QStringLiteral("QPlainTextEdit { background: %1; border-radius: 5px; "
                                       "padding: 4px 8px; }")
                            .arg(theme().window.name()));
    auto* copy = makeButton(qPrintable(QStringLiteral("copy_%1").arg(snippet.id)), tr("Copy"),
                            tr("Copy these lines to the clipboard"), page);
    connect(copy, &QPushButton::clicked, this, [copy, text = snippet.code] {
        QApplication::clipboard()->setText(text);
        copy->setText(tr("Copied"));
    });
    auto* row = makeHBox(nullptr, {}, 8);
    row->addStretch(1);
    if (snippet.file.endsWith(QLatin1String(".sh"))) {
        auto* save = makeButton("saveHelper", tr("Save quantscope_export.py…"),
                                tr("The same for a machine without Quantscope: put it beside your "
                                   "model and run it with Python; it needs only torch"),
                                page);
        connect(save, &QPushButton::clicked, this, &FromPython::saveHelper);
        row->addWidget(save);
    }
    row->addWidget(copy);
    addItems(*makeVBox(page, {0, 6, 0, 0}, 6), {code, row});
    return page;
}

void FromPython::saveHelper()
{
    const QString name = QStringLiteral("quantscope_export.py");
    const QString path = QFileDialog::getSaveFileName(this, tr("Save the export helper"), name,
                                                      tr("Python (*.py)"));
    if (path.isEmpty())
        return;
    QFile::remove(path); // the file dialog asked to overwrite
    if (!QFile::copy(exportFile(name), path))
        QMessageBox::warning(this, tr("Save the export helper"),
                             tr("%1 cannot be written: choose another folder").arg(path));
}

} // namespace qs
