// The exceptions of kubexx.
//
// Every exception that the library throws on purpose is a kube::Error. The hierarchy is flat: a
// subclass exists only where a caller would act differently. Facts that a caller may need are
// members and need not be parsed out of what(). Code that handles several kinds alike catches Error
// and switches on kind().
//
// Thread safety: exceptions are immutable; copying one never throws.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace kube {

enum class ErrorKind : unsigned char {
  Other,      // a plain Error
  Config,     // the configuration is wrong: a person has to change it
  Transport,  // no usable answer arrived: trying again may help
  Timeout,    // the caller's deadline passed
  Canceled,   // the caller's stop token was triggered
  Decode,     // bytes or text are not in the expected form
  Api,        // the API server answered with a failure Status
};

/// The base of all exceptions of the library.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : Error(ErrorKind::Other, message) {}
  ~Error() override;

  ErrorKind kind() const noexcept { return kind_; }

 protected:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

 private:
  ErrorKind kind_;
};

/// A kubeconfig, an option or an environment variable is missing or wrong.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(ErrorKind::Config, message) {}
};

/// A connection could not be made, was lost, or carried data that does not follow the protocol.
class TransportError : public Error {
 public:
  explicit TransportError(const std::string& message, bool requestSent = true,
                          bool permanent = false)
      : Error(ErrorKind::Transport, message), requestSent_(requestSent), permanent_(permanent) {}

  /// True if the request may have reached the server. If false, any request can safely be sent
  /// again; if true, only a request whose repetition changes nothing more.
  bool requestSent() const noexcept { return requestSent_; }

  /// True if the same request would most likely fail in the same way: the answer is not HTTP, is
  /// longer than allowed, or redirects to another host; or the server's certificate is refused. The
  /// library does not send such a request again by itself.
  bool permanent() const noexcept { return permanent_; }

 private:
  bool requestSent_;
  bool permanent_;
};

/// The time allowed for a call ran out. The call may or may not have had its effect.
class TimeoutError : public Error {
 public:
  explicit TimeoutError(const std::string& message) : Error(ErrorKind::Timeout, message) {}
};

/// The caller's stop token was triggered. The call may or may not have had its effect.
class CanceledError : public Error {
 public:
  explicit CanceledError(const std::string& message) : Error(ErrorKind::Canceled, message) {}
};

/// Input could not be decoded. what() has this form, without the parts that are unknown:
///   json: line 3, column 14 (offset 57): spec.replicas: expected a number, found a string
class DecodeError : public Error {
 public:
  /// The position of the error in the input. Each layer fills in the parts that it knows.
  struct Where {
    std::string format = {};                 // "json", "yaml", "protobuf", ...
    std::string path = {};                   // spec.containers[0].ports[1].containerPort
    std::optional<std::size_t> offset = {};  // bytes from the start of the input
    std::size_t line = 0;                    // from 1; 0 if unknown
    std::size_t column = 0;                  // from 1; 0 if unknown

    bool operator==(const Where&) const = default;
  };

  DecodeError(Where where, std::string reason);
  ~DecodeError() override;

  /// The same error, as an outer layer reports it. That layer copies where(), extends the path or
  /// translates the offset, and throws the result.
  DecodeError withWhere(Where where) const { return DecodeError(std::move(where), reason()); }

  const Where& where() const noexcept { return facts_->where; }
  const std::string& reason() const noexcept { return facts_->reason; }

  const std::string& format() const noexcept { return where().format; }
  const std::string& path() const noexcept { return where().path; }
  std::optional<std::size_t> offset() const noexcept { return where().offset; }
  std::size_t line() const noexcept { return where().line; }
  std::size_t column() const noexcept { return where().column; }

 private:
  struct Facts {
    Where where;
    std::string reason;
  };
  std::shared_ptr<const Facts> facts_;  // shared, so that copying cannot throw
};

}  // namespace kube
