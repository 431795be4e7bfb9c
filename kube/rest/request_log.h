// Shows requests and answers, as kubectl does with -v=7 to -v=9.
//
//   config.middleware.push_back(kube::logRequests(8));
//
// 7 shows each request with its headers; 8 also the headers of the answer, and bodies of up to 1
// KiB; 9 shows a command for curl instead, and bodies of up to 10 KiB; 10 whole bodies. Credentials
// are masked, as are the bodies of secrets and tokens, and the values of parameters that are not
// those of Kubernetes. Bodies in protobuf are shown as their size. (A line with verb, URL, status
// and time of each attempt is logged at level `debug` without this.)
//
// As the last of the middleware it shows what is sent.
#pragma once

#include <functional>
#include <string>

#include "kube/rest/middleware.h"

namespace kube {

/// `write` is called with one or several lines, by any thread. None: they are logged at level
/// `debug`.
Middleware logRequests(int verbosity, std::function<void(const std::string& text)> write = {});

}  // namespace kube
