// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_file.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/import/archive/lazy_tensors.h"
#include "engine/import/archive/pickle_check.h"
#include "engine/import/torchscript/torchscript_purity.h"

#include <ATen/core/Dict.h>
#include <caffe2/serialize/versions.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import_source.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

constexpr std::string_view kCellParams = "__torch__.torch.classes.rnn.CellParamsBase";

/// (kind, biases, numbers, numbers, packed weights), of which LibTorch takes two biases and two
/// weights without a look at how many there are.
bool isCellState(const at::IValue& state)
{
    if (!state.isTuple() || state.toTupleRef().elements().size() != 5)
        return false;
    const auto parts = state.toTupleRef().elements().vec();
    const auto holdsTwo = [](const at::IValue& list) {
        return (list.isList() && list.toListRef().size() == 2)
            || (list.isTensorList() && list.toTensorList().size() == 2);
    };
    if (!parts[0].isString() || !holdsTwo(parts[4]))
        return false;
    const std::string& kind = parts[0].toStringRef();
    return kind == "quantized_fp16" || (kind == "quantized_dynamic" && holdsTwo(parts[1]));
}

/// Hands out a text, which must outlive it, piece by piece.
auto readerOf(const std::string& bytes)
{
    return [&bytes, at = std::size_t(0)](char* out, std::size_t wanted) mutable {
        const std::size_t got = bytes.copy(out, wanted, at);
        at += got;
        return got;
    };
}

class ScriptReading
{
public:
    ScriptReading(const Pt2Archive& archive, const JobContext& job)
        : m_archive(archive)
        , m_job(job)
    {
    }

    Result<ScriptFile> read()
    {
        QS_TRY(const std::uint64_t version, formatVersion());
        QS_CHECK(lookAtCode());
        m_file.unit = std::make_shared<torch::jit::CompilationUnit>();
        m_file.constants = std::make_shared<std::vector<at::IValue>>();
        torch::jit::SourceImporter importer(
            m_file.unit, m_file.constants.get(),
            [this](const std::string& qualifier) { return source(qualifier); }, version);
        m_importer = &importer;
        m_version = version;
        if (m_archive.has("constants.pkl")) {
            QS_TRY(const at::IValue constants, unpickle("constants", false));
            for (const at::IValue& item : constants.toTupleRef().elements())
                m_file.constants->push_back(item);
        }
        QS_CHECK(m_job.check());
        QS_TRY(m_file.root, unpickle("data", m_lazy));
        if (!m_file.root.isObject() || !m_file.root.toObjectRef().type()->is_module())
            return fail(bad("holds no TorchScript module"));
        m_file.lazy = m_lazy;
        if (m_archive.has("traced_inputs.pkl"))
            readTracedInputs();
        return std::move(m_file);
    }

    /// Why we left LibTorch's reader, where we did.
    const std::optional<Error>& refusal() const { return m_refusal; }

private:
    Error bad(const std::string& what) const
    {
        return makeError(ErrorCode::BadInput, what).inFile(m_archive.path());
    }

    Result<std::uint64_t> formatVersion() const
    {
        const std::string record = m_archive.has("version") ? "version" : ".data/version";
        if (!m_archive.has("data.pkl") || !m_archive.has(record))
            return fail(bad("is a TorchScript file of an old form (before torch 1.4)")
                            .withHint("load and save it again with a newer torch"));
        QS_TRY(const std::string text, m_archive.read(record));
        std::uint64_t version = 0;
        std::from_chars(text.data(), text.data() + text.size(), version);
        if (version < caffe2::serialize::kMinSupportedFileFormatVersion
            || version > caffe2::serialize::kMaxSupportedFileFormatVersion)
            return fail(bad("was written in TorchScript format " + std::to_string(version)
                            + ", which LibTorch " QUANTSCOPE_TORCH_VERSION " does not read"));
        return version;
    }

    /// Before anything of the code is compiled.
    Result<void> lookAtCode()
    {
        const auto holdsOne = [](const std::string& text, const auto& words) {
            return std::any_of(words.begin(), words.end(),
                               [&](const char* word) { return text.find(word) != text.npos; });
        };
        // Rebuilding packed weights reads their elements.
        static constexpr std::array kInCode {"__setstate__", "torch.classes."};
        static constexpr std::array kInPickle {"_rebuild_qtensor", "_rebuild_sparse_tensor",
                                               "_rebuild_meta"};
        for (const auto& record : m_archive.names()) {
            if (!record.starts_with("code/") || !record.ends_with(".py"))
                continue;
            QS_TRY(const std::string text, m_archive.read(record));
            if (const std::string why = objectionToSource(text); !why.empty())
                return fail(bad("cannot be read: " + why));
            // LibTorch compiles nothing that names a class that is not registered.
            for (const std::string& name : foreignClassesIn(text))
                if (!findForeignClass(name))
                    return fail(bad("uses objects of the C++ class " + plainClassName(name)
                                    + ", which this LibTorch does not have")
                                    .withHint("load the extension pack that has it: "
                                              "--extension DIR"));
            m_lazy = m_lazy && !holdsOne(text, kInCode);
        }
        QS_TRY(const std::string pickle, m_archive.read("data.pkl"));
        m_lazy = m_lazy && !holdsOne(pickle, kInPickle);
        return {};
    }

    std::shared_ptr<torch::jit::Source> source(const std::string& qualifier) const
    {
        std::string record = "code/" + qualifier;
        std::replace(record.begin(), record.end(), '.', '/');
        record += ".py";
        if (!m_archive.has(record))
            return nullptr;
        auto text = m_archive.read(record);
        TORCH_CHECK(text, text.error().message);
        return std::make_shared<torch::jit::Source>(*text, record, 1);
    }

    Result<at::IValue> unpickle(const std::string& name, bool lazy)
    {
        QS_TRY(const std::string bytes, m_archive.read(name + ".pkl"));
        const auto held = [&](const std::string& key) -> std::optional<std::uint64_t> {
            const std::string record = name + "/" + key;
            return m_archive.has(record) ? std::optional(m_archive.size(record)) : std::nullopt;
        };
        if (auto sound = checkPickle(bytes, held); !sound)
            return fail(bad("cannot be read as TorchScript: " + sound.error().message)
                            .withHint("the file is damaged; save it again"));
        const auto types = [this](const c10::QualifiedName& type) {
            return c10::StrongTypePtr(m_file.unit, m_importer->loadType(type));
        };
        const auto objects = [this](const at::StrongTypePtr& type, at::IValue state) {
            return object(type, std::move(state));
        };
        const auto record = [&](const std::string& key) { return storage(name + "/" + key, lazy); };
        torch::jit::Unpickler unpickler(readerOf(bytes), types, objects, record,
                                        at::Device(at::kCPU));
        unpickler.set_version(m_version);
        const at::IValue value = unpickler.parse_ivalue();
        QS_CHECK(checkTensors(value));
        return value;
    }

    at::DataPtr storage(const std::string& record, bool lazy)
    {
        const std::uint64_t held = m_archive.size(record);
        // A place holder has an address of its own and nothing behind it.
        const std::uint64_t allocated = lazy ? 1 : std::max<std::uint64_t>(held, 1);
        at::DataPtr memory = at::getCPUAllocator()->allocate(allocated);
        if (!lazy && held > 0) {
            auto done = m_archive.readInto(record, memory.get(), held);
            TORCH_CHECK(done, done.error().message);
        }
        m_backing[memory.get()] = record;
        return memory;
    }

    c10::intrusive_ptr<c10::ivalue::Object> object(const at::StrongTypePtr& type, at::IValue state)
    {
        const auto cls = type.type_->expect<c10::ClassType>();
        const std::size_t count = cls->numAttributes();
        if (cls->findMethod("__setstate__") == nullptr) {
            auto made = c10::ivalue::Object::create(type, count);
            const auto slots = std::move(state).toGenericDict();
            for (std::size_t i = 0; i < count; ++i)
                made->setSlot(i, slots.at(cls->getAttributeName(i)));
            return made;
        }
        const std::string name = cls->name() ? cls->name()->qualifiedName() : "";
        const std::string impure = firstImpureOperator(*cls);
        if (!impure.empty())
            refuse(bad("would have to run code to be opened: __setstate__ of '" + name + "' calls "
                       + impure)
                       .withHint("save the model without __setstate__, or export it with "
                                 "torch.export"));
        if (auto sound = checkTensors(state); !sound)
            refuse(std::move(sound).error());
        if (name == kCellParams && !isCellState(state))
            refuse(bad("holds a recurrent cell whose parts are not complete")
                       .withHint("the file is damaged; save it again"));
        auto made = c10::ivalue::Object::create(type, count);
        const torch::jit::GraphOptimizerEnabledGuard unspecialized(false);
        auto& setState = cls->getMethod("__setstate__");
        setState({made, state});
        return made;
    }

    /// Leaves LibTorch's reader, which calls us back.
    [[noreturn]] void refuse(Error error)
    {
        m_refusal = std::move(error);
        C10_THROW_ERROR(Error, m_refusal->message);
    }

    /// That no tensor reaches beyond its record; remembers where the storages lie.
    Result<void> checkTensors(const at::IValue& value)
    {
        std::string problem;
        std::unordered_set<std::size_t> seen; // a pickle may hold itself
        value.visit([&](const at::IValue& part) {
            if (part.isPtrType() && !part.isTensor()
                && !seen.insert(at::IValue::HashIdentityIValue()(part)).second)
                return true;
            if (!part.isTensor() || !part.toTensor().defined() || !part.toTensor().has_storage())
                return !problem.empty();
            const at::Tensor& tensor = part.toTensor();
            const auto& storage = tensor.storage();
            const auto found = m_backing.find(storage.data());
            if (found == m_backing.end())
                return !problem.empty();
            const TensorLayout layout {{},
                                       DType::Unknown,
                                       tensor.sizes().vec(),
                                       tensor.strides().vec(),
                                       tensor.storage_offset()};
            const std::uint64_t inOne = tensor.scalar_type() == at::kQUInt4x2 ? 2
                : tensor.scalar_type() == at::kQUInt2x4                       ? 4
                                                                              : 1;
            const auto reach = layout.reach();
            if (!reach
                || (*reach + inOne - 1) / inOne
                    > m_archive.size(found->second) / tensor.element_size())
                problem = "a tensor does not fit its record '" + found->second + "'";
            m_file.records[storage.unsafeGetStorageImpl()] = found->second;
            return !problem.empty();
        });
        if (problem.empty())
            return {};
        return fail(bad(problem).withHint("the file is damaged; save it again"));
    }

    /// Their elements are not in the file, their shapes are.
    void readTracedInputs()
    {
        const auto read = guardTorch([&]() -> Result<void> {
            QS_TRY(const std::string bytes, m_archive.read("traced_inputs.pkl"));
            QS_CHECK(checkPickle(bytes, [](const std::string&) { return UINT64_MAX; }));
            torch::jit::Unpickler unpickler(
                readerOf(bytes), nullptr, nullptr,
                [](const std::string&) { return at::getCPUAllocator()->allocate(1); },
                at::Device(at::kCPU));
            const at::IValue all = unpickler.parse_ivalue();
            if (!all.isGenericDict())
                return {};
            for (const auto& entry : all.toGenericDict())
                if (entry.key().isString() && entry.key().toStringRef() == "forward"
                    && entry.value().isList())
                    for (const at::IValue& item : entry.value().toListRef())
                        m_file.tracedInputs.push_back(item);
            return {};
        });
        if (!read) // shapes are a convenience
            m_file.tracedInputs.clear();
    }

    const Pt2Archive& m_archive;
    const JobContext& m_job;
    ScriptFile m_file;
    torch::jit::SourceImporter* m_importer = nullptr;
    std::uint64_t m_version = 0;
    bool m_lazy = true;
    std::optional<Error> m_refusal;
    std::unordered_map<const void*, std::string> m_backing; ///< records by their memory
};

} // namespace

Result<ScriptFile> openScriptFile(const Pt2Archive& archive, const JobContext& job)
{
    ScriptReading reading(archive, job);
    auto file = guardTorchValue<ScriptFile>([&] { return reading.read(); });
    if (file)
        return file;
    if (reading.refusal())
        return fail(*reading.refusal());
    Error error = std::move(file).error();
    if (error.code == ErrorCode::Internal || error.code == ErrorCode::Device)
        error.code = ErrorCode::BadInput;
    if (error.file.empty() && error.hint.empty())
        error.message = "cannot be read as TorchScript (" + error.message + ")";
    return fail(std::move(error).inFile(archive.path()));
}

} // namespace qs
