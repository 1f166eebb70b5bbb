// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"
#include "engine/base/json/json_text.h"
#include "engine/base/memory/free_later.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/control/scalar_ops.h"
#include "engine/execute/control/script_control.h"
#include "engine/execute/control/script_ops.h"
#include "engine/execute/op_table.h"
#include "engine/export/exporter.h"
#include "engine/export/file_sink.h"
#include "engine/export/forms/fold_sizes.h"
#include "engine/export/forms/inline_regions.h"
#include "engine/export/forms/scan_recurrences.h"
#include "engine/export/pt2/pt2_document.h"
#include "engine/export/pt2/pt2_objects.h"
#include "engine/export/pt2/pt2_weights.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/state.h"
#include "engine/graph/pass.h"
#include "engine/import/archive/export_record.h"
#include "engine/import/trained/kept_ranges.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace qs {

namespace {

using Archive = caffe2::serialize::PyTorchStreamWriter;

/// The archive layout that torch.export.save writes.
constexpr int kArchiveMinVersion = 6;
constexpr std::string_view kFormat = "pt2";
constexpr std::string_view kArchiveVersion = "0";
constexpr const char* kModelRecord = "models/model.json";
constexpr const char* kSampleRecord = "data/sample_inputs/model.pt";

void writeText(Archive& archive, const char* name, std::string_view text)
{
    archive.writeRecord(name, text.data(), text.size());
}

/// The example inputs of the file that the model came from, unchanged; empty if they no longer
/// exist or do not fit, which readers accept.
std::string sampleInputs(const ModelInfo& info)
{
    std::string bytes;
    const bool isPart = info.inputTree.empty(); // a part of a model has other inputs
    if (info.format != "pt2" || isPart || !std::filesystem::exists(info.path))
        return bytes;
    const auto read = guardTorch([&]() -> Result<void> {
        caffe2::serialize::PyTorchStreamReader reader(info.path);
        for (const std::string& name : reader.getAllRecords())
            if (name.starts_with("data/sample_inputs/") && bytes.empty()) {
                const auto [data, size] = reader.getRecord(name);
                bytes.assign(static_cast<const char*>(data.get()), size);
            }
        return {};
    });
    return read ? bytes : std::string();
}

/// Replacement for TorchScript's operators that make a tensor of one number, which a .pt2 cannot
/// call; empty for other nodes.
std::optional<Node> scalarTensor(const Node& node)
{
    constexpr std::array<std::pair<std::string_view, DType>, 3> kTensors {{
        {"aten.tensor.float", DType::Float32},
        {"aten.tensor.int", DType::Int64},
        {"aten.tensor.bool", DType::Bool},
    }};
    const auto row = std::find_if(kTensors.begin(), kTensors.end(),
                                  [&](const auto& r) { return r.first == node.target; });
    if (row == kTensors.end() || node.args.empty())
        return std::nullopt;
    const Argument* dtype = node.tryArg("dtype");
    const Argument* device = node.tryArg("device");
    Node made = node;
    made.target = kScalarTensorTarget;
    made.args = {{"s", node.args[0].value},
                 {"dtype", dtype && !dtype->isNone() ? *dtype : Argument(row->second)},
                 {"device", device ? *device : Argument()}};
    return made;
}

Graph withScalarTensors(const Graph& graph)
{
    std::vector<Node> changed;
    for (const NodePtr& node : graph.nodes())
        if (auto made = scalarTensor(*node))
            changed.push_back(std::move(*made));
    if (changed.empty())
        return graph;
    GraphEdit edit(graph);
    for (const Node& made : changed) {
        edit.change(made.id).target = made.target;
        edit.setArgs(made.id, made.args);
    }
    return edit.build();
}

/// Fails for nodes that torch.export cannot express. TorchScript's branches and loops carry
/// numbers, lists and None, which cond and while_loop do not take; TorchScript's special operators
/// are not in the dispatcher.
Result<void> checkSpelled(const Graph& graph)
{
    for (const NodePtr& node : graph.nodes()) {
        const bool isCall = node->kind == NodeKind::Op && !isScalarOp(node->target);
        if (isScriptControl(node->target)
            || (isCall && !findOperator(node->target) && findScriptOperator(node->target)))
            return fail(makeError(ErrorCode::Unsupported,
                                  "a .pt2 cannot hold TorchScript's '" + node->target + "'")
                            .atNode(node->name)
                            .withHint("export torchscript, or save the model with torch.export"));
        for (const auto& body : node->subgraphs)
            QS_CHECK(checkSpelled(*body));
    }
    return {};
}

/// Records beside the program in the archive.
struct BesideProgram
{
    std::optional<ExportRecord> record;
    std::string ranges; ///< `keptRangesText`
};

Result<void> writeArchive(const Graph& graph, FileSink& file, const BesideProgram& beside,
                          const JobContext& job)
{
    const Graph plain = withoutStateUpdates(graph);
    const Pt2WeightRecords weights(plain);
    QS_TRY(Pt2Json made, pt2Document(plain, weights, stateUpdates(graph), job));
    const auto document = makeFreedLater<Pt2Json>(std::move(made));
    Archive archive(file.writer());
    archive.setMinVersion(kArchiveMinVersion);
    QS_CHECK(weights.write(archive, job));
    QS_TRY(const std::string text, jsonText(*document, {}, job));
    writeText(archive, kModelRecord, text);
    writeText(archive, kSampleRecord, sampleInputs(graph.info()));
    if (beside.record)
        writeText(archive, kExportRecordPath, exportRecordText(*beside.record));
    if (!beside.ranges.empty())
        writeText(archive, kKeptRangesPath, beside.ranges);
    writeText(archive, "archive_format", kFormat);
    writeText(archive, "archive_version", kArchiveVersion);
    archive.writeEndOfFile();
    return {};
}

Result<void> writeFile(const Graph& reference, const std::string& path, const BesideProgram& beside,
                       const JobContext& job)
{
    QS_TRY(FileSink file, FileSink::open(path));
    QS_CHECK(guardTorch([&]() -> Result<void> {
        constexpr PassTraits kOfFile {.isVerified = false};
        const std::array passes {
            Pass("join-objects", joinObjects),
            Pass("inline-regions", withoutRegions, kOfFile),
            Pass("fold-sizes", foldSizes, kOfFile),
            Pass("scan-recurrences", scanRecurrences, kOfFile),
            Pass("scalar-tensors", withScalarTensors, kOfFile),
        };
        const auto given = std::make_shared<const Graph>(reference);
        QS_TRY(const GraphPtr numbered, runPasses(given, passes, job));
        QS_CHECK(checkSpelled(*numbered));
        QS_CHECK(checkPt2Objects(*numbered));
        const std::array last {Pass("method-calls", withMethodCalls, kOfFile)};
        QS_TRY(const GraphPtr spelled, runPasses(numbered, last, job));
        return writeArchive(*spelled, file, beside, job);
    }));
    return file.close();
}

} // namespace

Result<void> writePt2(const Graph& reference, const std::string& path, const JobContext& job,
                      const std::optional<ExportRecord>& record)
{
    return writeFile(reference, path, {record, {}}, job);
}

Result<void> savePt2(const Graph& model, const std::string& path, const JobContext& job)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    const BesideProgram beside {std::nullopt, keptRangesText(model)};
    if (auto written = writeFile(model, file.temporaryPath(), beside, job); !written) {
        Error error = std::move(written).error();
        error.file = path;
        return fail(std::move(error));
    }
    return file.commit();
}

} // namespace qs
