// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_data_files.h"

#include "engine/base/files/atomic_file.h"
#include "engine/export/documents/node_data.h"
#include "engine/export/documents/node_data_reader.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QFileDialog>

namespace qs {

namespace {

void showNodeData(Document& document, GraphPane& graph, MessageBar& messages, NodeDataPtr data)
{
    messages.dismiss();
    if (data->unmatched > 0)
        messages.showMessage(MessageBar::Kind::Note,
                             QObject::tr("%1 of %2 results fit no node of this model")
                                 .arg(data->unmatched)
                                 .arg(data->unmatched + data->values.size()),
                             QObject::tr("'%1' for one").arg(toQString(data->firstUnmatched)));
    document.setNodeData(std::move(data));
    graph.showImported();
}

} // namespace

void saveNodeData(const Document& document, MessageBar& messages)
{
    // Keep both alive: the dialog runs an event loop, and an edit may drop the document's results.
    const auto [model, comparison] = std::pair(document.model(), document.comparison());
    if (!comparison) {
        messages.showMessage(MessageBar::Kind::Note, QObject::tr("Nothing was measured yet"),
                             QObject::tr("Compare (Ctrl+M) measures what every node loses"));
        return;
    }
    const QString path
        = QFileDialog::getSaveFileName(messages.window(), QObject::tr("Save node data"),
                                       QStringLiteral("node_data.json"), QStringLiteral("*.json"));
    if (path.isEmpty())
        return;
    const auto written = writeFileAtomically(path.toStdString(), nodeDataJson(*model, *comparison));
    if (!written)
        messages.showError(QObject::tr("Saving the node data"), written.error());
}

void importNodeData(Workspace& workspace, GraphPane& graph, MessageBar& messages)
{
    const QString path
        = QFileDialog::getOpenFileName(messages.window(), QObject::tr("Import node data"), {},
                                       QObject::tr("Node data (*.json);;All files (*)"));
    if (!path.isEmpty())
        importNodeData(workspace, graph, messages, path);
}

void importNodeData(Workspace& workspace, GraphPane& graph, MessageBar& messages,
                    const QString& path)
{
    const GraphPtr model = workspace.document().model();
    if (!model) {
        messages.showMessage(MessageBar::Kind::Note, QObject::tr("Open the model first"),
                             QObject::tr("Node data colour the nodes of a model that is open"));
        return;
    }
    workspace.pipeline().jobs().run(
        Lane::Pool, QStringLiteral("nodeData"),
        [model, file = path.toStdString()](JobContext&) { return readNodeData(file, *model); },
        &graph,
        [&workspace, &graph, &messages,
         number = workspace.document().modelNumber()](Result<NodeDataPtr> data) {
            if (number != workspace.document().modelNumber())
                return;
            if (data)
                showNodeData(workspace.document(), graph, messages, std::move(*data));
            else
                messages.showError(QObject::tr("Reading the node data"), data.error());
        });
}

} // namespace qs
