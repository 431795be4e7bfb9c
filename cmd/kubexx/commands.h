// The commands that talk to a cluster. Each function adds one to the program; the invocation must
// outlive it.
#pragma once

namespace CLI {
class App;
}

namespace kube::cmd {

class Invocation;

void addGet(CLI::App& app, Invocation& invocation);
void addWatch(CLI::App& app, Invocation& invocation);
void addApply(CLI::App& app, Invocation& invocation);
void addCreate(CLI::App& app, Invocation& invocation);
void addDelete(CLI::App& app, Invocation& invocation);
void addPatch(CLI::App& app, Invocation& invocation);
void addWait(CLI::App& app, Invocation& invocation);
void addApiResources(CLI::App& app, Invocation& invocation);
void addApiVersions(CLI::App& app, Invocation& invocation);
void addExplain(CLI::App& app, Invocation& invocation);
void addConfig(CLI::App& app, Invocation& invocation);
void addWhoAmI(CLI::App& app, Invocation& invocation);
void addCache(CLI::App& app, Invocation& invocation);
void addExec(CLI::App& app, Invocation& invocation);
void addAttach(CLI::App& app, Invocation& invocation);
void addPortForward(CLI::App& app, Invocation& invocation);
void addLogs(CLI::App& app, Invocation& invocation);
void addCopy(CLI::App& app, Invocation& invocation);
void addCompletion(CLI::App& app, Invocation& invocation);

}  // namespace kube::cmd
