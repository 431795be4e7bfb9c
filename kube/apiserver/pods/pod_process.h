// The run of a program for a client of exec or attach: a part that does not depend on the protocol,
// and the protocol over a WebSocket.
//
// The channels are those of Kubernetes' remotecommand protocols: 0 stdin, 1 stdout, 2 stderr, 3 the
// result, 4 terminal sizes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/apiserver/pods/pod_containers.h"
#include "kube/apiserver/pods/pod_pipe.h"
#include "kube/base/internal/mutex.h"
#include "kube/http/internal/streams/server_websocket.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

class PodProcess : public testing::Process, public std::enable_shared_from_this<PodProcess> {
 public:
  static constexpr std::uint8_t kStdin = 0, kStdout = 1, kStderr = 2, kStatus = 3, kResize = 4;

  PodProcess(testing::ContainerCall call, Clock& clock, std::function<void()> onRoom)
      : call_(std::move(call)), clock_(clock), stdin_(std::move(onRoom)) {}

  const testing::ContainerCall& call() const override { return call_; }
  Clock& clock() const override { return clock_; }
  std::stop_token stop() const override { return stop_.get_token(); }
  std::optional<std::string> read() override { return stdin_.read(); }
  bool write(std::string_view bytes) override;
  bool writeError(std::string_view bytes) override;
  std::optional<TerminalSize> nextSize() override;

  /// Runs the program on a thread of its own. If there are too many, the client gets an error.
  void start(ContainerState& containers, testing::Program program);

 protected:
  // --- For the client's side.
  /// Returns true if the program's stdin is full.
  [[nodiscard]] bool received(std::string_view input);
  void inputEnded() { stdin_.finish(); }
  /// Takes a piece of the stream of sizes. Returns false for malformed data.
  bool resized(std::string_view bytes);
  void clientGone();

  /// Waits for room. Returns false if the client is gone.
  virtual bool deliver(std::uint8_t channel, std::string_view bytes) = 0;
  virtual void finish(const metav1::Status& status) = 0;

 private:
  bool writeTo(std::uint8_t channel, std::string_view bytes);

  const testing::ContainerCall call_;
  Clock& clock_;
  PodPipe stdin_;
  std::stop_source stop_;
  detail::Mutex sizesMutex_;
  std::condition_variable_any sizesChanged_;
  std::deque<TerminalSize> sizes_ KUBE_GUARDED_BY(sizesMutex_);
  std::string sizeText_;  // owned by the connection's strand
};

/// The subprotocols for exec and attach, the best one last.
std::span<const std::string_view> execProtocols() noexcept;

class WebSocketProcess final : public PodProcess {
 public:
  /// Answers the request by running the program.
  static void run(const ServerRequest& request, const Responder& responder,
                  const std::string& protocol, testing::ContainerCall call,
                  testing::Program program, ContainerState& containers);

  WebSocketProcess(std::shared_ptr<detail::ServerWebSocket> socket, std::string_view protocol,
                   testing::ContainerCall call, Clock& clock);

 private:
  void listen();
  void refuse(std::uint16_t code, std::string_view reason);
  void data(std::string_view piece, bool first, bool last);
  void message(std::uint8_t channel, std::string_view piece, bool last);
  bool deliver(std::uint8_t channel, std::string_view bytes) override;
  void finish(const metav1::Status& status) override;

  const std::shared_ptr<detail::ServerWebSocket> socket_;
  const bool base64_;       // in text messages
  const bool closes_;       // the protocol can close a channel
  const bool plainErrors_;  // the protocol has errors as plain text instead of a Status
  std::optional<std::uint8_t> channel_;  // of the current message
  std::string gathered_;                 // the message so far, on channels that need all of it
};

}  // namespace kube::apiserver
