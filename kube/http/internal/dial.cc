#include "kube/http/internal/dial.h"

#include <fmt/core.h>
#include <sys/epoll.h>

#include <utility>

#include "kube/base/error.h"

namespace kube::detail {

using Status = Channel::Status;

Dial::Dial(EventLoop& loop, const TlsContext& tls, const Proxy* proxy, Url url, For purpose,
           TcpConnect::Ways ways, Done done)
    : loop_(loop),
      tls_(tls),
      proxy_(proxy),
      url_(std::move(url)),
      purpose_(purpose),
      done_(std::move(done)),
      tcp_(std::make_shared<TcpConnect>(
          loop, std::move(ways),
          [this](int fd, std::string error) { connected(fd, std::move(error)); })),
      timer_(loop) {}

Dial::~Dial() { tcp_->cancel(); }

void Dial::start(std::chrono::nanoseconds timeout) {
  timer_.set(loop_.now() + timeout, [this, timeout] {
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
    fail(fmt::format("no connection within {} ms", millis.count()));
  });
  tcp_->start(proxy_ != nullptr ? proxy_->host : url_.host,
              proxy_ != nullptr ? proxy_->port : url_.port);
}

void Dial::connected(int fd, std::string error) {
  if (fd < 0) return fail(std::move(error));
  channel_ = std::make_unique<Channel>(fd);
  if (!done_) return;
  watch_.emplace(loop_, fd, 0u, *this);
  try {
    if (enterNextStep()) advance();
  } catch (const ConfigError& thrown) {
    permanent_ = true;
    fail(thrown.what());
  } catch (const std::exception& thrown) {
    fail(thrown.what());
  }
}

void Dial::onEvents(std::uint32_t) {
  const auto self = shared_from_this();
  try {
    advance();
  } catch (const ConfigError& thrown) {
    permanent_ = true;
    fail(thrown.what());
  } catch (const std::exception& thrown) {
    fail(thrown.what());
  }
}

// Returns whether there is a next step; otherwise the channel is ready and was passed on.
bool Dial::enterNextStep() {
  const bool https = url_.scheme == "https";
  switch (step_) {
    case Step::Tcp:
      if (proxy_ != nullptr && proxy_->kind == Proxy::Kind::Https) {
        step_ = Step::ProxyTls;
        channel_->startTls(tls_.toProxy(proxy_->host));
        return true;
      }
      [[fallthrough]];
    case Step::ProxyTls:
      // A plain http request is sent to an HTTP proxy as it is.
      if (proxy_ != nullptr &&
          (https || purpose_ == For::Upgrade || proxy_->kind == Proxy::Kind::Socks5)) {
        step_ = Step::ProxyHello;
        hello_ = proxyHandshake(*proxy_, url_.host, url_.port);
        return true;
      }
      [[fallthrough]];
    case Step::ProxyHello:
      if (https) {
        step_ = Step::Tls;
        channel_->startTls(tls_.toServer(url_.host, purpose_ == For::Http));
        return true;
      }
      break;
    case Step::Tls:
      break;
  }
  finish("");
  return false;
}

void Dial::advance() {
  for (;;) {
    const Status status =
        step_ == Step::ProxyHello ? hello_->advance(*channel_) : channel_->handshake();
    if (status == Status::Failed || status == Status::End) {
      permanent_ = channel_->certificateRefused();
      return fail(step_ == Step::ProxyHello ? hello_->error() : channel_->error());
    }
    if (status == Status::WantRead) return watch_->setEvents(EPOLLIN);
    if (status == Status::WantWrite) return watch_->setEvents(EPOLLOUT);
    if (!enterNextStep()) return;
  }
}

void Dial::fail(std::string error) {
  const bool atProxy = proxy_ != nullptr && step_ != Step::Tls;
  finish(atProxy ? fmt::format("proxy {}: {}", proxy_->display(), error) : std::move(error));
}

void Dial::finish(std::string error) {
  const auto self = shared_from_this();
  timer_.cancel();
  watch_.reset();
  Done done = std::exchange(done_, nullptr);
  if (!done) return;
  if (!error.empty()) channel_.reset();
  done(*this, std::move(channel_), std::move(error));
}

}  // namespace kube::detail
