// A server that serves recorded bytes: what is measured against it is the client.
//
//   kubexx-bench record FOLDER [--limit N]           from the server of $KUBECONFIG
//   kubexx-bench replay FOLDER --kubeconfig FILE     until it is told to end
//
// It knows pods only, and does no work for them: lists are sent whole, as they were recorded, in
// JSON or protobuf, of pods or of their metadata. A GET of any pod gives the recorded one. Watches
// stay open and silent; one that asks for a list by events is refused as a server without that
// feature does, so that clients list.
#pragma once

#include <string>

namespace kube::bench {

/// Saves the list of pods, that of their metadata, and one pod. `limit`: the first page of so many
/// pods, to decode; 0: all, which a replay needs, since it has no second page.
int record(const std::string& folder, int limit);

/// Serves them over TLS until a signal; writes a kubeconfig, then says "serving".
int replay(const std::string& folder, const std::string& kubeconfig);

}  // namespace kube::bench
