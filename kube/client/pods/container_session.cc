#include "kube/client/pods/container_session.h"

#include <utility>

#include "kube/base/internal/mutex.h"
#include "kube/client/pods/async_container_session.h"

namespace kube {

using detail::runBlocking;

struct ContainerSession::State {
  explicit State(AsyncContainerSession opened) : session(std::move(opened)) {}

  AsyncContainerSession session;
  detail::Mutex stdinMutex;  // held while a message to stdin is sent in pieces
};

ContainerSession::ContainerSession(AsyncContainerSession session)
    : state_(std::make_unique<State>(std::move(session))) {}
ContainerSession::ContainerSession(ContainerSession&&) noexcept = default;
ContainerSession& ContainerSession::operator=(ContainerSession&&) noexcept = default;
ContainerSession::~ContainerSession() = default;

std::optional<ContainerSession::Piece> ContainerSession::read() {
  return runBlocking(state_->session.read(), {});
}

int ContainerSession::wait() { return runBlocking(state_->session.wait(), {}); }

ContainerOutput ContainerSession::output(std::size_t maxBytes) {
  return runBlocking(state_->session.output(maxBytes), {});
}

bool ContainerSession::write(std::string_view bytes) {
  const detail::Lock lock(state_->stdinMutex);
  return runBlocking(state_->session.writeView(bytes), {});
}

bool ContainerSession::canCloseStdin() const { return state_->session.canCloseStdin(); }

void ContainerSession::closeStdin() {
  if (!canCloseStdin()) return state_->session.closeStdin();  // throws
  const detail::Lock lock(state_->stdinMutex);
  state_->session.closeStdin();
}

void ContainerSession::resize(TerminalSize size) { state_->session.resize(size); }

void ContainerSession::cancel() { state_->session.cancel(); }

}  // namespace kube
