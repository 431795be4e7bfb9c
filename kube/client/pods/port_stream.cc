#include "kube/client/pods/port_stream.h"

#include <utility>

namespace kube {

using detail::runBlocking;

PortStream::PortStream(AsyncPortStream stream, std::stop_token stop)
    : stream_(std::move(stream)), stop_(std::move(stop)) {}

std::optional<std::string_view> PortStream::read() { return runBlocking(stream_.read(), stop_); }
bool PortStream::write(std::string bytes) {
  return runBlocking(stream_.write(std::move(bytes)), stop_);
}
bool PortStream::endOutput() { return stream_.endOutput(); }

}  // namespace kube
