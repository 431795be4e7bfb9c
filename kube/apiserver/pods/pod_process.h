// A program's run for a client that has asked for exec or attach: the part that does not depend on
// how the client speaks, and how it speaks over a WebSocket.
//
// The channels are those of Kubernetes' remotecommand protocols: 0 stdin, 1 stdout, 2 stderr, 3 how
// it ended, 4 the terminal's sizes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/apiserver/pods/pod_containers.h"
#include "kube/apiserver/pods/pod_pipe.h"
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

  /// Runs it, on a thread of its own; says goodbye where that cannot be.
  void start(ContainerState& containers, testing::Program program);

 protected:
  // --- For the client's side.
  /// True: no more should come until there is room.
  [[nodiscard]] bool received(std::string_view input);
  void inputEnded() { stdin_.finish(); }
  /// A piece of the stream of sizes. False for what cannot be one.
  bool resized(std::string_view bytes);
  void clientGone();

  /// Waits for room. False when the client is gone.
  virtual bool deliver(std::uint8_t channel, std::string_view bytes) = 0;
  virtual void finish(const metav1::Status& status) = 0;

 private:
  bool writeTo(std::uint8_t channel, std::string_view bytes);

  const testing::ContainerCall call_;
  Clock& clock_;
  PodPipe stdin_;
  std::stop_source stop_;
  std::mutex sizesMutex_;
  std::condition_variable_any sizesChanged_;
  std::deque<TerminalSize> sizes_;
  std::string sizeText_;  // of the connection's strand
};

/// The subprotocols for exec and attach, best last.
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
  const bool base64_;                    // in text messages
  const bool closes_;                    // knows how to end a channel
  const bool plainErrors_;               // from before how it ended was told as a Status
  std::optional<std::uint8_t> channel_;  // of the message that is coming
  std::string gathered_;                 // of it, where it is needed as a whole
};

}  // namespace kube::apiserver
