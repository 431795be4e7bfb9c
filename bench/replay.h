// A server that sends recorded bytes, so that a benchmark measures the client alone.
//
//   kubexx-bench record FOLDER [--limit N]           from the server of $KUBECONFIG
//   kubexx-bench replay FOLDER --kubeconfig FILE     until a signal
//
// It serves pods only, and does no work for them: it sends lists whole, as they were recorded, in
// JSON or protobuf, of pods or of their metadata. A GET of any pod returns the recorded one.
// Watches stay open and silent; it refuses streamed lists like a server without that feature, so
// that clients list.
#pragma once

#include <string>

namespace kube::bench {

/// Saves the list of pods, the list of their metadata, and one pod. With a `limit`, the lists are
/// first pages of so many pods, for decoding alone. A replay needs whole lists (0), since it serves
/// no second page.
int record(const std::string& folder, int limit);

/// Serves them over TLS until a signal. Writes a kubeconfig, then prints "serving".
int replay(const std::string& folder, const std::string& kubeconfig);

}  // namespace kube::bench
