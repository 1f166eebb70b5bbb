// SPDX-License-Identifier: Apache-2.0
#include "engine/import/foreign_formats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr ForeignFormat kOnnx {
    "an ONNX model, which this program writes and does not read",
    "export the PyTorch model that it was made from: torch.export.save(torch.export.export("
    "model.eval(), example_inputs), \"model.pt2\"); where that is lost, the Python package "
    "onnx2torch makes a module of it"};
constexpr ForeignFormat kSafetensors {
    "a safetensors file: weights only, no model",
    "build the model in Python, model.load_state_dict(safetensors.torch.load_file(...)), then "
    "export it: torch.export.save(torch.export.export(model.eval(), example_inputs), "
    "\"model.pt2\")"};
constexpr std::string_view kFromPyTorch
    = "it cannot be converted back: export the PyTorch model that it was made from: "
      "torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")";
constexpr ForeignFormat kTfLite {"a TensorFlow Lite (LiteRT) model", kFromPyTorch};
constexpr ForeignFormat kExecuTorch {
    "an ExecuTorch program, which is lowered already",
    "open the .pt2 that it was lowered from; after quantizing, lower the export pt2"};
constexpr ForeignFormat kCoreMl {"a Core ML model", kFromPyTorch};
constexpr ForeignFormat kSavedModel {"a TensorFlow SavedModel", kFromPyTorch};
constexpr ForeignFormat kTensorRt {
    "a TensorRT engine, built for one GPU",
    "open the .pt2 of the model, quantize it with the backend 'tensorrt' and --export onnx "
    "--target tensorrt, and build the engine from that model.int8.onnx"};
constexpr ForeignFormat kKeras {"a Keras model", kFromPyTorch};
constexpr ForeignFormat kOpenVino {"an OpenVINO model", kFromPyTorch};
constexpr ForeignFormat kArray {
    "a NumPy array: data, no model",
    "give it as data, one array an input by name: numpy.savez(\"data.npz\", x=array)"};
constexpr ForeignFormat kLfsPointer {"a Git LFS pointer, not the file itself",
                                     "fetch the file: git lfs pull", true};
constexpr ForeignFormat kHtml {"an HTML page, as a failed download leaves it",
                               "download the file itself again", true};
constexpr std::string_view kUnpack = "unpack it first";
constexpr ForeignFormat kTransformers {
    "a folder of Hugging Face Transformers: weights and settings, no model",
    "load it in Python with from_pretrained and export it: torch.export.save(torch.export.export("
    "model.eval(), example_inputs), \"model.pt2\")"};

struct Signature
{
    std::size_t at;
    std::string_view bytes;
    ForeignFormat format;
};

using namespace std::string_view_literals;

constexpr std::array kSignatures {
    Signature {0, "\x89PNG", {"a PNG image", ""}},
    Signature {0, "\xff\xd8\xff", {"a JPEG image", ""}},
    Signature {0, "GIF8", {"a GIF image", ""}},
    Signature {0, "%PDF", {"a PDF document", ""}},
    Signature {0, "\x1f\x8b", {"a gzip archive", kUnpack, true}},
    Signature {0, "BZh", {"a bzip2 archive", kUnpack, true}},
    Signature {0, "\xfd\x37zXZ", {"an xz archive", kUnpack, true}},
    Signature {0, "7z\xbc\xaf", {"a 7-Zip archive", kUnpack, true}},
    Signature {0, "\x28\xb5\x2f\xfd", {"a zstd archive", kUnpack, true}},
    Signature {257, "ustar", {"a tar archive", kUnpack, true}},
    Signature {0,
               "\x7f"
               "ELF",
               {"a program", ""}},
    Signature {0, "\x93NUMPY", kArray},
    Signature {0,
               "GGUF",
               {"a GGUF model: weights for llama.cpp, no graph",
                "load the original weights in Python and export the PyTorch model"}},
    Signature {0, "\x89HDF", {"an HDF5 file, as Keras keeps weights in", kFromPyTorch}},
    Signature {4, "TFL3", kTfLite},
    Signature {4, "ET12", kExecuTorch},
    Signature {4, "ORTM", {"an ONNX Runtime model (.ort)", kOnnx.way}},
    Signature {0, "ftrt", kTensorRt},
    Signature {0, "ptrt", kTensorRt},
    Signature {0, "version https://git-lfs.github.com/spec/", kLfsPointer},
};

struct Ending
{
    std::string_view ending;
    ForeignFormat format;
};

/// Formats without a signature, or with several.
constexpr std::array kEndings {
    Ending {".onnx", kOnnx},       Ending {".safetensors", kSafetensors},
    Ending {".tflite", kTfLite},   Ending {".pte", kExecuTorch},
    Ending {".mlmodel", kCoreMl},  Ending {".mlpackage", kCoreMl},
    Ending {".mlmodelc", kCoreMl}, Ending {".pb", kSavedModel},
    Ending {".engine", kTensorRt}, Ending {".trt", kTensorRt},
    Ending {".plan", kTensorRt},   Ending {".keras", kKeras},
};

std::string lowerCase(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return out;
}

std::optional<ForeignFormat> byEnding(const std::string& path)
{
    const std::string name = lowerCase(path);
    for (const Ending& one : kEndings)
        if (name.ends_with(one.ending))
            return one.format;
    return std::nullopt;
}

bool isBinary(std::string_view head)
{
    return std::any_of(head.begin(), head.end(), [](unsigned char c) {
        return c == 0 || (std::iscntrl(c) != 0 && std::isspace(c) == 0);
    });
}

/// True for an 8-byte length followed by a JSON object of that length.
bool isSafetensors(std::string_view head, std::uint64_t size)
{
    if (head.size() < 10 || size < 10)
        return false;
    std::uint64_t length = 0;
    std::memcpy(&length, head.data(), sizeof length);
    return length >= 2 && length <= size - 8 && head[8] == '{'
        && (head[9] == '"' || head[9] == '}');
}

/// True for an HTML page, after any preamble.
bool isHtml(std::string_view head)
{
    std::string start = lowerCase(head);
    if (start.starts_with("\xef\xbb\xbf"))
        start.erase(0, 3);
    start.erase(0, start.find_first_not_of(" \t\r\n"));
    return start.starts_with("<!doctype html") || start.starts_with("<html")
        || start.starts_with("<head");
}

bool isOpenVino(std::string_view head)
{
    return head.starts_with("<?xml") && head.find("<net ") != std::string_view::npos;
}

/// Reads a protobuf varint and advances `bytes`.
std::optional<std::uint64_t> varint(std::string_view& bytes)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = std::uint8_t(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    return std::nullopt;
}

/// ONNX, Core ML and TensorFlow's SavedModel are protobuf messages whose first field is a version.
/// The second field distinguishes them: a name, a short description, or nearly the entire file.
std::optional<ForeignFormat> versionedMessage(std::string_view head, std::uint64_t size)
{
    constexpr char kVersionField = 0x08, kSecondField = 0x12;
    constexpr std::uint64_t kNewestVersion = 30;
    if (head.size() < 4 || head[0] != kVersionField)
        return std::nullopt;
    std::string_view rest = head.substr(1);
    const auto version = varint(rest);
    if (!version || *version == 0 || *version > kNewestVersion || rest.empty())
        return std::nullopt;
    if (rest[0] != kSecondField) { // ONNX: a version, a domain, the graph, operator sets
        static constexpr std::string_view kFields = "\x1a\x22\x28\x32\x3a\x42\x72"sv;
        return kFields.find(rest[0]) == kFields.npos ? std::nullopt : std::optional(kOnnx);
    }
    rest.remove_prefix(1);
    const auto length = varint(rest);
    if (!length || *length > size)
        return std::nullopt;
    const bool isMessage = !rest.empty() && rest[0] == '\x0a';
    if (!isMessage) {
        const auto text = rest.substr(0, std::size_t(std::min<std::uint64_t>(*length, 40)));
        const bool isText = std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isprint(c) != 0; });
        return isText ? std::optional(kOnnx) : std::nullopt;
    }
    return *version == 1 && *length > size / 2 ? kSavedModel : kCoreMl;
}

} // namespace

std::optional<ForeignFormat> foreignFormat(std::string_view head, std::uint64_t size,
                                           const std::string& path)
{
    for (const Signature& one : kSignatures)
        if (head.size() > one.at && head.substr(one.at).starts_with(one.bytes))
            return one.format;
    if (isSafetensors(head, size))
        return kSafetensors;
    if (isHtml(head))
        return kHtml;
    if (isOpenVino(head))
        return kOpenVino;
    if (!isBinary(head))
        return std::nullopt;
    const auto named = byEnding(path);
    return named ? named : versionedMessage(head, size);
}

std::optional<ForeignFormat> foreignFolder(const std::string& path)
{
    std::error_code code;
    const auto holds = [&](const char* name) { return fs::exists(fs::path(path) / name, code); };
    std::string bare = path;
    while (bare.size() > 1 && bare.back() == '/')
        bare.pop_back();
    if (auto named = byEnding(bare))
        return named;
    if (holds("saved_model.pb") || holds("saved_model.pbtxt"))
        return kSavedModel;
    if (holds("config.json")
        && (holds("model.safetensors") || holds("pytorch_model.bin")
            || holds("model.safetensors.index.json")))
        return kTransformers;
    return std::nullopt;
}

} // namespace qs
