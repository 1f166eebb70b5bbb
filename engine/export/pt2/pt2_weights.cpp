// SPDX-License-Identifier: Apache-2.0
#include "engine/export/pt2/pt2_weights.h"

#include "engine/base/memory/free_later.h"
#include "engine/execute/tensor_store.h"
#include "engine/export/pt2/pt2_metadata.h"
#include "engine/graph/operators/class_parts.h"

#include <torch/csrc/jit/serialization/pickle.h>

namespace qs {

namespace {

using Archive = caffe2::serialize::PyTorchStreamWriter;

/// True for nodes of the state dict.
bool isState(const Node& node)
{
    return node.kind == NodeKind::Parameter && (!node.isBuffer || node.persistentBuffer);
}

/// One folder of the archive: its tensors and its configuration.
class Folder
{
public:
    Folder(Archive& archive, std::string folder, std::string prefix)
        : m_archive(archive)
        , m_folder(std::move(folder))
        , m_prefix(std::move(prefix))
    {
    }

    /// Adds a node's tensor. Nodes with the same tensor (tied weights) share one record.
    void add(const Node& node, const std::string& path, const at::Tensor& held)
    {
        const bool param = node.kind == NodeKind::Parameter && !node.isBuffer;
        const at::Tensor tensor = held.detach().contiguous();
        auto [it, isNew] = m_records.try_emplace(node.tensor, m_prefix + std::to_string(m_count));
        if (isNew) {
            ++m_count;
            m_archive.writeRecord(m_folder + it->second,
                                  tensor.numel() ? tensor.const_data_ptr() : "", tensor.nbytes());
        }
        m_config[path] = {
            {"path_name", it->second},
            {"is_param", param},
            {"use_pickle", false},
            {"tensor_meta", pt2HeldTensor(tensor, param && held.requires_grad())},
        };
    }

    void addObject(const std::string& path, const at::IValue& held)
    {
        const std::string record = "custom_obj_" + std::to_string(m_objects++);
        const std::vector<char> bytes = torch::jit::pickle_save(held);
        m_archive.writeRecord(m_folder + record, bytes.data(), bytes.size());
        m_config[path] = {{"path_name", record},
                          {"is_param", false},
                          {"use_pickle", true},
                          {"tensor_meta", nullptr}};
    }

    Result<void> close(const std::string& name, const JobContext& job)
    {
        QS_TRY(const std::string text, jsonText(*m_document, {}, job));
        m_archive.writeRecord(m_folder + name, text.data(), text.size());
        return {};
    }

private:
    Archive& m_archive;
    std::string m_folder, m_prefix;
    std::unordered_map<TensorId, std::string> m_records;
    FreedLater<Pt2Json> m_document = makeFreedLater<Pt2Json>(Pt2Json::object());
    Pt2Json& m_config = (*m_document)["config"] = Pt2Json::object();
    int m_count = 0, m_objects = 0;
};

} // namespace

Pt2WeightRecords::Pt2WeightRecords(const Graph& graph)
    : m_graph(graph)
{
    // A tensor must not have a module's name ("conv1" beside "conv1.weight").
    std::unordered_set<std::string> taken;
    for (const ModuleEntry* module : graph.modules().inOrder())
        taken.insert(module->path);
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isStored())
            continue;
        const std::string wanted = node->target.empty() ? node->name : node->target;
        std::string path = wanted;
        for (int suffix = 1; !taken.insert(path).second; ++suffix)
            path = wanted + "_" + std::to_string(suffix);
        m_paths[node->id] = path;
    }
}

Result<void> Pt2WeightRecords::write(Archive& archive, const JobContext& job) const
{
    Folder weights(archive, "data/weights/", "weight_");
    Folder constants(archive, "data/constants/", "tensor_");
    for (const NodePtr& node : m_graph.nodes()) {
        QS_CHECK(job.check());
        if (!node->isStored())
            continue;
        auto held = tensorsOf(m_graph)->get(node->tensor);
        if (!held)
            return fail(std::move(held).error().atNode(node->name));
        if (held->isObject() && isForeignClass(node->outputs.at(0).type.className)) {
            constants.addObject(path(*node), *held);
            continue;
        }
        if (!held->isTensor())
            return fail(makeError(ErrorCode::Unsupported,
                                  "it holds an object that is not a tensor; the .pt2 writer cannot "
                                  "store it")
                            .atNode(node->name));
        (isState(*node) ? weights : constants).add(*node, path(*node), held->toTensor());
    }
    QS_CHECK(weights.close("model_weights_config.json", job));
    return constants.close("model_constants_config.json", job);
}

} // namespace qs
