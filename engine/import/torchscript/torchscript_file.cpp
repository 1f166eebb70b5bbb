// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_file.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/archive/lazy_tensors.h"
#include "engine/import/archive/pickle_check.h"

#include <ATen/core/Dict.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import_source.h>
#include <torch/csrc/jit/serialization/unpickler.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

/// Checks the state (kind, biases, numbers, numbers, packed weights): LibTorch reads two biases and
/// two weights without checking their number.
bool isCellState(const at::IValue& state)
{
    if (!state.isTuple() || state.toTupleRef().elements().size() != 5)
        return false;
    const auto parts = state.toTupleRef().elements().vec();
    const auto holdsTwo
        = [](const at::IValue& list) { return list.isList() && list.toListRef().size() == 2; };
    if (!parts[0].isString() || !holdsTwo(parts[4]))
        return false;
    const std::string& kind = parts[0].toStringRef();
    return kind == "quantized_fp16" || (kind == "quantized_dynamic" && holdsTwo(parts[1]));
}

/// Returns a function that reads the text piece by piece; the text must outlive it.
auto readerOf(const std::string& bytes)
{
    return [&bytes, at = std::size_t(0)](char* out, std::size_t wanted) mutable {
        const std::size_t got = bytes.copy(out, wanted, at);
        at += got;
        return got;
    };
}

bool isPure(std::string_view kind)
{
    return hasTrait(kind, OperatorTrait::Restores)
        || ((kind.starts_with("quantized::") || kind.starts_with("onednn::q"))
            && (kind.find("prepack") != std::string_view::npos
                || kind.find("make_quantized_cell_params") != std::string_view::npos));
}

/// True for C++ classes of LibTorch that only pack weights, and for classes of loaded packs, whose
/// code the user allowed to run.
bool isPackedWeightsClass(const std::string& qualifiedName)
{
    static constexpr std::array<std::string_view, 5> kFamilies {
        "__torch__.torch.classes.quantized.", "__torch__.torch.classes.rnn.",
        "__torch__.torch.classes.sparse.", "__torch__.torch.classes.xnnpack.",
        "__torch__.torch.classes.mkldnn."};
    return findForeignClass(qualifiedName)
        || std::any_of(kFamilies.begin(), kFamilies.end(),
                       [&](std::string_view family) { return qualifiedName.starts_with(family); });
}

/// LibTorch restores packed weights by running `__setstate__` from the file. Returns the first
/// operator in the `__setstate__` of `type`, or in functions it calls, that does not serve this
/// (prepacking, unpacking tuples, setting attributes); "" if none.
std::string firstImpureOperator(const c10::ClassType& type)
{
    if (type.name() && isPackedWeightsClass(type.name()->qualifiedName()))
        return {};
    std::vector<const torch::jit::Block*> blocks;
    std::string impure;
    const auto follow = [&](torch::jit::Function* function) {
        if (!function || !function->isGraphFunction()) {
            impure = function ? function->qualname().qualifiedName() : "an unknown function";
            return;
        }
        const auto* body = torch::jit::toGraphFunction(*function).graph()->block();
        if (std::find(blocks.begin(), blocks.end(), body) == blocks.end())
            blocks.push_back(body);
    };
    follow(&type.getMethod("__setstate__"));
    for (std::size_t i = 0; i < blocks.size() && impure.empty(); ++i)
        for (const torch::jit::Node* node : blocks[i]->nodes()) {
            const auto kind = node->kind();
            if (kind == c10::prim::CallMethod) {
                const auto owner = node->input(0)->type()->cast<c10::ClassType>();
                follow(owner ? owner->findMethod(node->s(c10::attr::name)) : nullptr);
            } else if (kind == c10::prim::CallFunction) {
                const auto called = node->input(0)->type()->cast<c10::FunctionType>();
                follow(called ? called->function() : nullptr);
            } else if (!isPure(kind.toQualString())) {
                impure = kind.toQualString();
            }
            if (!impure.empty())
                break;
            blocks.insert(blocks.end(), node->blocks().begin(), node->blocks().end());
        }
    return impure;
}

/// The class of objects whose own class is compiled as an equal one.
struct SharedType
{
    c10::TypePtr type;
    c10::TypePtr standIn; ///< what the reader of the pickle gets
    SharedCode code;
};

class ScriptReading
{
public:
    ScriptReading(const Pt2Archive& archive, const ScriptCode& code, const JobContext& job)
        : m_archive(archive)
        , m_code(code)
        , m_job(job)
    {
    }

    Result<ScriptFile> read()
    {
        m_file.unit = std::make_shared<torch::jit::CompilationUnit>();
        m_file.constants = std::make_shared<std::vector<at::IValue>>();
        torch::jit::SourceImporter importer(
            m_file.unit, m_file.constants.get(),
            [this](const std::string& qualifier) { return m_code.source(qualifier); },
            m_code.version());
        m_importer = &importer;
        if (m_archive.has("constants.pkl")) {
            QS_TRY(const at::IValue constants, unpickle("constants", false));
            for (const at::IValue& item : constants.toTupleRef().elements())
                m_file.constants->push_back(item);
        }
        QS_CHECK(m_job.check());
        QS_TRY(m_file.root, unpickle("data", m_code.readsNoWeights()));
        if (!m_file.root.isObject() || !m_file.root.toObjectRef().type()->is_module())
            return fail(bad("holds no TorchScript module"));
        m_file.lazy = m_code.readsNoWeights();
        if (m_archive.has("traced_inputs.pkl"))
            readTracedInputs();
        return std::move(m_file);
    }

    /// The error if this code aborted LibTorch's reader.
    const std::optional<Error>& refusal() const { return m_refusal; }

private:
    Error bad(const std::string& what) const
    {
        return makeError(ErrorCode::BadInput, what).inFile(m_archive.path());
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
            return c10::StrongTypePtr(m_file.unit, typeOf(type));
        };
        const auto objects = [this](const at::StrongTypePtr& type, at::IValue state) {
            return object(type, std::move(state));
        };
        const auto record = [&](const std::string& key) { return storage(name + "/" + key, lazy); };
        torch::jit::Unpickler unpickler(readerOf(bytes), types, objects, record,
                                        at::Device(at::kCPU));
        unpickler.set_version(m_code.version());
        const at::IValue value = unpickler.parse_ivalue();
        QS_CHECK(checkTensors(value));
        return value;
    }

    at::DataPtr storage(const std::string& record, bool lazy)
    {
        const std::uint64_t held = m_archive.size(record);
        // A placeholder has a unique address but no content.
        const std::uint64_t allocated = lazy ? 1 : std::max<std::uint64_t>(held, 1);
        at::DataPtr memory = at::getCPUAllocator()->allocate(allocated);
        if (!lazy && held > 0) {
            auto done = m_archive.readInto(record, memory.get(), held);
            TORCH_CHECK(done, done.error().message);
        }
        m_backing[memory.get()] = record;
        return memory;
    }

    /// Returns the class; in place of one whose code another class shares, a type that only stands
    /// for it, since the object is to keep its own record of code.
    c10::TypePtr typeOf(const c10::QualifiedName& name)
    {
        const std::string record = codeRecord(name.prefix());
        const std::string* compiled = m_code.compiledFor(record);
        if (!compiled)
            return m_importer->loadType(name);
        const c10::QualifiedName first(c10::QualifiedName(codeQualifier(*compiled)), name.name());
        const c10::TypePtr type = m_importer->loadType(first);
        auto standIn = c10::ClassType::create(name, m_file.unit, true);
        m_shared.emplace(standIn.get(), SharedType {type, standIn, {*compiled, record}});
        return standIn;
    }

    c10::intrusive_ptr<c10::ivalue::Object> object(const at::StrongTypePtr& given, at::IValue state)
    {
        const auto shared = m_shared.find(given.type_.get());
        if (shared == m_shared.end())
            return makeObject(given, std::move(state));
        auto made = makeObject({m_file.unit, shared->second.type}, std::move(state));
        m_file.sharedCode.emplace(made.get(), shared->second.code);
        return made;
    }

    c10::intrusive_ptr<c10::ivalue::Object> makeObject(const at::StrongTypePtr& type,
                                                       at::IValue state)
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
        if (name == "__torch__.torch.classes.rnn.CellParamsBase" && !isCellState(state))
            refuse(bad("holds a recurrent cell whose parts are not complete")
                       .withHint("the file is damaged; save it again"));
        auto made = c10::ivalue::Object::create(type, count);
        const torch::jit::GraphOptimizerEnabledGuard unspecialized(false);
        auto& setState = cls->getMethod("__setstate__");
        setState({made, state});
        return made;
    }

    /// Aborts LibTorch's reader from within its callback.
    [[noreturn]] void refuse(Error error)
    {
        m_refusal = std::move(error);
        C10_THROW_ERROR(Error, m_refusal->message);
    }

    /// Checks that no tensor exceeds its record; stores the records of the storages.
    Result<void> checkTensors(const at::IValue& value)
    {
        std::string problem;
        std::unordered_set<std::size_t> seen; // a pickle may be cyclic
        value.visit([&](const at::IValue& part) {
            if (!part.isTensor())
                return !problem.empty()
                    || (part.isPtrType()
                        && !seen.insert(at::IValue::HashIdentityIValue()(part)).second);
            const at::Tensor& tensor = part.toTensor();
            const auto found = tensor.defined() && tensor.has_storage()
                ? m_backing.find(tensor.storage().data())
                : m_backing.end();
            if (found == m_backing.end())
                return !problem.empty();
            const std::uint64_t inOne = tensor.scalar_type() == at::kQUInt4x2 ? 2
                : tensor.scalar_type() == at::kQUInt2x4                       ? 4
                                                                              : 1;
            const auto reach = layoutOf(tensor, found->second).reach();
            if (!reach
                || (*reach + inOne - 1) / inOne
                    > m_archive.size(found->second) / tensor.element_size())
                problem = "a tensor does not fit its record '" + found->second + "'";
            m_file.records[tensor.storage().unsafeGetStorageImpl()] = found->second;
            return !problem.empty();
        });
        if (problem.empty())
            return {};
        return fail(bad(problem).withHint("the file is damaged; save it again"));
    }

    /// Reads the traced inputs' shapes; the file does not contain their elements.
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
            const auto methods = all.toGenericDict();
            const auto forward = methods.find("forward");
            if (forward != methods.end())
                m_file.tracedInputs = forward->value().toListRef().vec();
            return {};
        });
        if (!read) // shapes are optional
            m_file.tracedInputs.clear();
    }

    const Pt2Archive& m_archive;
    const ScriptCode& m_code;
    const JobContext& m_job;
    ScriptFile m_file;
    torch::jit::SourceImporter* m_importer = nullptr;
    std::optional<Error> m_refusal;
    std::unordered_map<const c10::Type*, SharedType> m_shared; ///< by the type given to the reader
    std::unordered_map<const void*, std::string> m_backing; ///< records by address of their memory
};

} // namespace

Result<ScriptFile> openScriptFile(const Pt2Archive& archive, const ScriptCode& code,
                                  const JobContext& job)
{
    ScriptReading reading(archive, code, job);
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
