// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pickle_summary.h"
#include "engine/import/file_kind.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace qs {

namespace {

constexpr std::string_view kExport
    = "torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")";

bool isOfYolo(const std::string& name)
{
    static constexpr std::array<std::string_view, 4> kModules {"ultralytics.", "models.yolo.",
                                                               "models.common.", "yolov"};
    return std::any_of(kModules.begin(), kModules.end(),
                       [&](std::string_view module) { return name.starts_with(module); });
}

/// Returns the key of a checkpoint's weights; "" if the weights are at the top level.
std::string weightsKey(const PickleSummary& pickle)
{
    static constexpr std::array<const char*, 4> kKeys {"state_dict", "model_state_dict",
                                                       "model_state", "weights"};
    for (const char* key : kKeys)
        if (pickle.holdsText(key))
            return key;
    return {};
}

/// Describes weights without a class: `torch.load` returns a dictionary.
void describeWeights(FileSniff& sniff, const PickleSummary& pickle, const std::string& load)
{
    const std::string key = weightsKey(pickle);
    sniff.what = std::string(key.empty() ? "is a state dict" : "is a checkpoint")
        + ", a Python pickle written by torch.save: weights only, no model";
    sniff.way = "build the model in Python, model.load_state_dict(" + load
        + (key.empty() ? "" : "[\"" + key + "\"]") + "), then export it: " + std::string(kExport);
}

} // namespace

FileSniff sniffPickle(std::string_view bytes, const std::string& path)
{
    const PickleSummary pickle = summarizePickle(bytes);
    const std::string file = std::filesystem::path(path).filename().string();
    const std::string load = "torch.load(\"" + file + "\")";
    const std::string foreign = pickle.foreignClass();
    const auto& classes = pickle.classes;
    FileSniff sniff;
    sniff.kind = FileKind::Pickle;
    sniff.isNamed = true;
    if (std::any_of(classes.begin(), classes.end(), isOfYolo)) {
        sniff.what
            = "is a YOLO checkpoint of ultralytics: a Python pickle, which would have to run "
              "code to be read";
        sniff.way
            = "export it in Python as TorchScript, which this program opens: from ultralytics "
              "import YOLO; YOLO(\""
            + file + "\").export(format=\"torchscript\")";
        return sniff;
    }
    if (!foreign.empty()) {
        const bool isCheckpoint = pickle.root == PickleSummary::Root::Dictionary;
        sniff.what = "is a Python pickle written by torch.save, "
            + std::string(isCheckpoint ? "a checkpoint with objects" : "an object") + " of class "
            + foreign + ": it would have to run code to be read";
        sniff.way = (isCheckpoint ? "build the model in Python, load its weights from " + load
                                  : "load it in Python, model = torch.load(\"" + file
                             + "\", weights_only=False),")
            + " and export it: " + std::string(kExport);
        return sniff;
    }
    if (pickle.root == PickleSummary::Root::Dictionary && pickle.tensors > 0) {
        describeWeights(sniff, pickle, load);
        return sniff;
    }
    sniff.what = pickle.tensors > 0
        ? "is a Python pickle written by torch.save that holds tensors: data, no model"
        : "is a Python pickle (torch.save or pickle), which would have to run code to be read";
    sniff.way = pickle.tensors > 0 ? "give it with --data, and the model as a .pt2 or TorchScript"
                                   : exportRecipe();
    return sniff;
}

} // namespace qs
