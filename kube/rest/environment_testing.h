// Folders, environment variables and certificates for the tests of configuration.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/error.h"

namespace kube::test {

/// An empty folder, which is deleted with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kubexx-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(std::string_view name = {}) const {
    return name.empty() ? path_ : path_ + "/" + std::string(name);
  }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content,
                    bool executable = false) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    if (executable) std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }

 private:
  std::string path_;
};

inline std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Sets (or, without a value, unsets) a variable for its own lifetime.
class ScopedVariable {
 public:
  explicit ScopedVariable(std::string name, std::optional<std::string> value = std::nullopt)
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

/// Returns the message of the kube::Error of that type which `call` throws; fails if it throws
/// none.
template <class Expected = ConfigError, class Call>
std::string messageOf(Call call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// Two certificates of an unknown authority, with their keys; the third key needs a pass phrase.
inline constexpr char kCertificate1[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBgjCCASmgAwIBAgIUIokaVXJpGBC5zSA+eBox87tQbp0wCgYIKoZIzj0EAwIw\n"
    "FjEUMBIGA1UEAwwLa3ViZXh4LXRlc3QwIBcNMjYxMTE1MjI1NjE4WhgPMjEyNjEw\n"
    "MjIyMjU2MThaMBYxFDASBgNVBAMMC2t1YmV4eC10ZXN0MFkwEwYHKoZIzj0CAQYI\n"
    "KoZIzj0DAQcDQgAEsTLzkyNXICpHHIBxZNqHuQLPkL1XupQwxslnIuAxA013V37j\n"
    "amH4rhoXh/imNryEJlma0DMfhTGaKa8kxOX8h6NTMFEwHQYDVR0OBBYEFK/6dvaY\n"
    "3Xomc47LI7UtyvsCP/eiMB8GA1UdIwQYMBaAFK/6dvaY3Xomc47LI7UtyvsCP/ei\n"
    "MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgIh54AnvcbSfqb2cx\n"
    "b1dImZWQfgNpylYfxdtDDlKzxsQCIGL+rHk/vAl0kfp/GJz7mEddjpD7x72c/gB6\n"
    "LY8m2d+L\n"
    "-----END CERTIFICATE-----\n";
inline constexpr char kKey1[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+8IvbzPm9PXQZR4/\n"
    "JFMHpdTpuo16tTJ0zZgRKQRmcgihRANCAASxMvOTI1cgKkccgHFk2oe5As+QvVe6\n"
    "lDDGyWci4DEDTXdXfuNqYfiuGheH+KY2vIQmWZrQMx+FMZopryTE5fyH\n"
    "-----END PRIVATE KEY-----\n";
inline constexpr char kCertificate2[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBhjCCAS2gAwIBAgIUItfWBFocz9YKGvTaBpke/mEeuW4wCgYIKoZIzj0EAwIw\n"
    "GDEWMBQGA1UEAwwNa3ViZXh4LXRlc3QtMjAgFw0yNjExMTUyMjU2MThaGA8yMTI2\n"
    "MTAyMjIyNTYxOFowGDEWMBQGA1UEAwwNa3ViZXh4LXRlc3QtMjBZMBMGByqGSM49\n"
    "AgEGCCqGSM49AwEHA0IABIxxFVMZkzkCv68qxHHKht8tlDMUEFiNWZ71KiiWvUL+\n"
    "KJpNfelD3EqH/S1ufghZdLTHnSIIy3S3zlvW0fmfV5ijUzBRMB0GA1UdDgQWBBSN\n"
    "ohdwpnqcbEPTkE2cCuZCzhYU6DAfBgNVHSMEGDAWgBSNohdwpnqcbEPTkE2cCuZC\n"
    "zhYU6DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIHvMY5Qm9MT2\n"
    "DP49N7lL1B42tDX5uwj0cSoJPE14raEyAiAnmeDot9WvQmDQiFNwAbIZA+e6Ccec\n"
    "D28BUZdnuXThWA==\n"
    "-----END CERTIFICATE-----\n";
inline constexpr char kKey2[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgT3mIRO65lFDJjNrG\n"
    "xA2SO/YgCAHFdHCnBkBp8uEVuSChRANCAASMcRVTGZM5Ar+vKsRxyobfLZQzFBBY\n"
    "jVme9Soolr1C/iiaTX3pQ9xKh/0tbn4IWXS0x50iCMt0t85b1tH5n1eY\n"
    "-----END PRIVATE KEY-----\n";
inline constexpr char kLockedKey1[] =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgytfbQBMP8dQICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEG5lI+Szxptv8M8XcVkqRO0EgZCg\n"
    "ISVz+essP++JwJV17+66o3dxvO3kNy+pK/85J1/k9MtRojopwDE0XcnrAbmpobyI\n"
    "9gC2rtFVGmGuecGoTNzrLDVziVYOg898/vFp4PUnnpLi2Yn/Wbftd2/bw4o+p9BK\n"
    "a4l8Voxml6S5V54uwqh0Zvm5PG5XPtirPxWgZzCZOVHvNYOQ5qL0M3BBqxtG3X0=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

}  // namespace kube::test
