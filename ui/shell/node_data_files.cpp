// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_data_files.h"

#include "engine/base/files/atomic_file.h"
#include "engine/export/documents/node_data.h"
#include "engine/export/documents/node_data_reader.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/text.h"
#include "ui/shell/main_window.h"

#include <QFileDialog>

namespace qs {

namespace {

const QString kReading = QStringLiteral("Reading the node data");

void showNodeData(MainWindow& window, NodeDataPtr data)
{
    auto& document = window.workspace().document();
    window.messageBar().dismiss();
    if (data->unmatched > 0)
        window.messageBar().showMessage(
            MessageBar::Kind::Note,
            QStringLiteral("%1 of %2 results fit no node of this model")
                .arg(data->unmatched)
                .arg(data->unmatched + data->values.size()),
            QStringLiteral("'%1' for one").arg(toQString(data->firstUnmatched)));
    document.setNodeData(std::move(data));
    window.graphPane().showImported();
}

} // namespace

void saveNodeData(MainWindow& window)
{
    const auto& document = window.workspace().document();
    if (!document.comparison()) {
        window.messageBar().showMessage(
            MessageBar::Kind::Note, QStringLiteral("Nothing was measured yet"),
            QStringLiteral("Compare (Ctrl+M) measures what every node loses"));
        return;
    }
    const QString path
        = QFileDialog::getSaveFileName(&window, QStringLiteral("Save node data"),
                                       QStringLiteral("node_data.json"), QStringLiteral("*.json"));
    if (path.isEmpty())
        return;
    const auto written = writeFileAtomically(
        path.toStdString(), nodeDataJson(*document.model(), *document.comparison()));
    if (!written)
        window.messageBar().showError(QStringLiteral("Saving the node data"), written.error());
}

void importNodeData(MainWindow& window)
{
    const QString path
        = QFileDialog::getOpenFileName(&window, QStringLiteral("Import node data"), {},
                                       QStringLiteral("Node data (*.json);;All files (*)"));
    if (!path.isEmpty())
        importNodeData(window, path);
}

void importNodeData(MainWindow& window, const QString& path)
{
    const GraphPtr model = window.workspace().document().model();
    if (!model) {
        window.messageBar().showMessage(
            MessageBar::Kind::Note, QStringLiteral("Open the model first"),
            QStringLiteral("Node data colour the nodes of a model that is open"));
        return;
    }
    window.workspace().pipeline().jobs().run(
        Lane::Pool, QStringLiteral("nodeData"),
        [model, file = path.toStdString()](JobContext&) { return readNodeData(file, *model); },
        &window,
        [&window, number = window.workspace().document().modelNumber()](Result<NodeDataPtr> data) {
            if (number != window.workspace().document().modelNumber())
                return;
            if (data)
                showNodeData(window, std::move(*data));
            else
                window.messageBar().showError(kReading, data.error());
        });
}

} // namespace qs
