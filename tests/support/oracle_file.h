// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtCore/QFile>
#include <QtCore/QProcess>
#include <QtCore/QProcessEnvironment>
#include <QtCore/QTemporaryDir>

#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <string>
#include <vector>

namespace qs::test {

/// Runs a script of the pinned Python, which writes a `torch.save` file to its first argument, and
/// reads that file. On failure returns an empty IValue with the reason in `error`.
inline at::IValue runOracle(const QString& script, const QStringList& arguments, QString& error)
{
    QTemporaryDir folder;
    const QString path = folder.filePath("oracle.pt");
    QProcess python;
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("OMP_NUM_THREADS", "1");
    python.setProcessEnvironment(environment);
    python.setWorkingDirectory(folder.path());
    python.start(QS_PYTHON, QStringList {script, path} + arguments);
    if (!python.waitForFinished(240000) || python.exitCode() != 0) {
        error = "the oracle failed: " + QString::fromUtf8(python.readAllStandardError()).right(800);
        return {};
    }
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        error = "the oracle wrote nothing";
        return {};
    }
    const QByteArray bytes = file.readAll();
    return torch::jit::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
}

/// Returns an entry of a dictionary with string keys.
inline at::IValue entry(const at::IValue& dictionary, const char* key)
{
    return dictionary.toGenericDict().at(key);
}

inline at::Tensor tensorEntry(const at::IValue& dictionary, const char* key)
{
    const at::IValue value = entry(dictionary, key);
    return value.isTensor() ? value.toTensor() : at::Tensor();
}

} // namespace qs::test
