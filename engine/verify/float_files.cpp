// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/float_files.h"

#include "engine/export/exporter.h"
#include "engine/export/onnx/onnx_exporter.h"

#include <filesystem>

namespace qs {

Result<FloatFiles::Written> FloatFiles::of(const std::string& form, const JobContext& job)
{
    if (!m_folder) {
        QS_TRY(TemporaryFolder folder, TemporaryFolder::create("float"));
        m_folder.emplace(std::move(folder));
    }
    const std::string file = m_folder->file(form + ".model");
    if (std::filesystem::exists(file))
        return Written {file, {}};
    const auto written = form == "onnx" ? writeOnnx(m_model, file, file, {}, job)
        : form == "pt2"                 ? writePt2(m_model, file, job)
                                        : writeTorchScript(m_model, file, job);
    if (written)
        return Written {file, {}};
    if (written.error().code == ErrorCode::Cancelled)
        return fail(written.error());
    return Written {{},
                    "the float model cannot be written in this form: " + written.error().message};
}

} // namespace qs
