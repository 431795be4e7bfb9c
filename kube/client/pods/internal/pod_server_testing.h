// A server with a pod, for tests of programs in pods: "web" in the namespace "book", with a node
// and the container "app".
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kube/client/core/v1.h"
#include "kube/http/internal/raw_server_testing.h"
#include "kube/testing/api_server.h"

namespace kube {

/// The SHA-256 of bytes that arrive in pieces.
class Checksum {
 public:
  Checksum() { EVP_DigestInit_ex(hash_, EVP_sha256(), nullptr); }
  ~Checksum() { EVP_MD_CTX_free(hash_); }
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::string_view bytes) { EVP_DigestUpdate(hash_, bytes.data(), bytes.size()); }
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(hash_, digest, &size);
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
    return text;
  }

 private:
  EVP_MD_CTX* const hash_ = EVP_MD_CTX_new();
};

/// A stream of bytes without repeated parts, in which all values occur.
class NoiseSource {
 public:
  std::string next(std::size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
      state_ ^= state_ << 13;
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
      byte = static_cast<char>(state_);
    }
    return bytes;
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

class PodServerTest : public ::testing::Test {
 protected:
  explicit PodServerTest(testing::ApiServerOptions options = {}) : server(std::move(options)) {
    corev1::Namespace book;
    book.metadata.name = "book";
    clients.coreV1().namespaces().create(book);
    create("web", {"app"});
  }

  void create(const char* name, const std::vector<const char*>& containers) {
    corev1::Pod pod;
    pod.metadata.name = name;
    pod.spec->nodeName = "node-1";
    for (const char* container : containers) {
      pod.spec->containers.push_back({.name = container, .image = "scratch"});
    }
    pods().create(pod);
  }

  PodClient pods() const { return clients.coreV1().pods("book"); }
  /// Sets the program that runs in the container.
  void program(testing::Program program) {
    server.containers().exec("book/web", "app", std::move(program));
  }

  testing::ApiServer server;
  Clientset clients{server.config()};
};

}  // namespace kube
