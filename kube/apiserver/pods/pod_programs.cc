// The built-in programs of scripted containers.
#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/meta/time.h"
#include "kube/testing/scripted_container.h"

namespace kube::apiserver {

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void unknown(std::string_view program) {
  throw Error(fmt::format(
      "failed to exec in container: failed to start exec: OCI runtime exec failed: exec failed: "
      "unable to start container process: exec: \"{}\": executable file not found in $PATH: "
      "unknown",
      program));
}

// Redirects the output of a command in a shell.
class Redirected final : public testing::Process {
 public:
  explicit Redirected(testing::Process& to) : to_(to) {}
  const testing::ContainerCall& call() const override { return to_.call(); }
  Clock& clock() const override { return to_.clock(); }
  std::stop_token stop() const override { return to_.stop(); }
  std::optional<std::string> read() override { return to_.read(); }
  bool write(std::string_view bytes) override { return to_.writeError(bytes); }
  bool writeError(std::string_view bytes) override { return to_.writeError(bytes); }
  std::optional<TerminalSize> nextSize() override { return to_.nextSize(); }

 private:
  testing::Process& to_;
};

int usage(testing::Process& process, std::string_view text) {
  process.writeError(fmt::format("usage: {}\n", text));
  return 2;
}

int echo(testing::Process& process, const Words& words) {
  const bool bare = words.size() > 1 && words[1] == "-n";
  std::string line;
  for (std::size_t i = bare ? 2 : 1; i < words.size(); ++i) {
    if (i > (bare ? 2u : 1u)) line += ' ';
    line += words[i];
  }
  if (!bare) line += '\n';
  process.write(line);
  return 0;
}

int cat(testing::Process& process, const Words&) {
  while (const auto piece = process.read()) {
    if (!process.write(*piece)) break;
  }
  return 0;
}

int env(testing::Process& process, const Words&) {
  std::string text = fmt::format(
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nHOSTNAME={}\n",
      process.call().pod);
  if (process.call().tty) text += "TERM=xterm\n";
  for (const auto& [name, value] : process.call().env) text += name + "=" + value + "\n";
  process.write(text);
  return 0;
}

int date(testing::Process& process, const Words&) {
  process.write(Time(std::chrono::floor<std::chrono::seconds>(process.clock().wallNow())).str() +
                "\n");
  return 0;
}

int hostname(testing::Process& process, const Words&) {
  process.write(process.call().pod + "\n");
  return 0;
}

int pwd(testing::Process& process, const Words&) {
  process.write("/\n");
  return 0;
}

int sleep(testing::Process& process, const Words& words) {
  const auto seconds =
      words.size() == 2 ? kube::detail::parseNumber<std::uint64_t>(words[1]) : std::nullopt;
  if (!seconds) return usage(process, "sleep SECONDS");
  const auto time = std::chrono::seconds(std::min<std::uint64_t>(*seconds, 1'000'000'000));
  return process.clock().sleepFor(time, process.stop()) ? 0 : 137;
}

int sha256sum(testing::Process& process, const Words&) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
  EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr);
  while (const auto piece = process.read()) {
    EVP_DigestUpdate(hash.get(), piece->data(), piece->size());
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(hash.get(), digest, &size);
  std::string line;
  for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(line), "{:02x}", digest[i]);
  process.write(line + "  -\n");
  return 0;
}

int yes(testing::Process& process, const Words& words) {
  const std::string line = (words.size() > 1 ? words[1] : "y") + "\n";
  std::string many;
  while (many.size() < 16 << 10) many += line;
  while (process.write(many)) {
  }
  return 1;
}

int bytes(testing::Process& process, const Words& words) {
  const auto size =
      words.size() == 2 ? kube::detail::parseNumber<std::uint64_t>(words[1]) : std::nullopt;
  if (!size) return usage(process, "bytes N");
  constexpr std::uint64_t kPeriod = 251;
  std::string block(kPeriod * 128, '\0');
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i % kPeriod);
  for (std::uint64_t left = *size; left != 0;) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(left, block.size()));
    if (!process.write({block.data(), count})) return 1;
    left -= count;
  }
  return 0;
}

int ttySize(testing::Process& process, const Words& words) {
  const auto count = words.size() > 1 ? kube::detail::parseNumber<std::uint64_t>(words[1])
                                      : std::optional<std::uint64_t>(1);
  if (!count) return usage(process, "tty-size [N]");
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto size = process.nextSize();
    if (!size) return 1;
    process.write(fmt::format("{}x{}\n", size->width, size->height));
  }
  return 0;
}

// --- A shell.

struct Command {
  Words words;
  bool toError = false;
};

// Quoted words are single and may be empty; a backslash takes the next character literally.
std::vector<Command> parseLine(std::string_view line) {
  std::vector<Command> commands(1);
  std::string word;
  bool inWord = false;
  char quote = 0;
  const auto endWord = [&] {
    if (!std::exchange(inWord, false)) return;
    Command& command = commands.back();
    if (word == ">&2" || word == "1>&2") {
      command.toError = true;
    } else {
      command.words.push_back(word);
    }
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      inWord = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      inWord = true;
    } else if (c == ';' || c == '\n') {
      endWord();
      commands.emplace_back();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      endWord();
    } else {
      word += c;
      inWord = true;
    }
  }
  endWord();
  return commands;
}

int run(testing::Process& process, const Words& words);

struct Shell {
  int code = 0;
  bool over = false;

  void runLine(testing::Process& process, std::string_view line) {
    for (const Command& command : parseLine(line)) {
      if (command.words.empty()) continue;
      if (command.words[0] == "exit") {
        if (command.words.size() > 1) {
          code = static_cast<int>(
              kube::detail::parseNumber<std::uint64_t>(command.words[1]).value_or(2) & 0xff);
        }
        over = true;
        return;
      }
      Redirected redirected(process);
      testing::Process& to = command.toError ? redirected : process;
      try {
        code = run(to, command.words);
      } catch (const Error&) {
        process.writeError(fmt::format("sh: 1: {}: not found\n", command.words[0]));
        code = 127;
      }
    }
  }
};

int shell(testing::Process& process, const Words& words) {
  Shell shell;
  if (words.size() > 1) {
    if (words[1] != "-c" || words.size() < 3) return usage(process, "sh [-c COMMANDS]");
    shell.runLine(process, words[2]);
    return shell.code;
  }
  // A terminal echoes its input, and its lines end with CR.
  const bool tty = process.call().tty;
  if (tty) process.write("# ");
  std::string line;
  while (const auto piece = process.read()) {
    for (const char c : *piece) {
      if (tty && c == '\4' && line.empty()) return shell.code;
      if (tty) process.write(c == '\r' || c == '\n' ? std::string("\r\n") : std::string(1, c));
      if (c != '\n' && (!tty || c != '\r')) {
        line += c;
        continue;
      }
      shell.runLine(process, std::exchange(line, {}));
      if (shell.over) return shell.code;
      if (tty) process.write("# ");
    }
  }
  shell.runLine(process, line);
  return shell.code;
}

int run(testing::Process& process, const Words& words) {
  using Run = int (*)(testing::Process&, const Words&);
  static const std::map<std::string_view, Run> kPrograms = {
      {"echo", echo},
      {"cat", cat},
      {"env", env},
      {"date", date},
      {"hostname", hostname},
      {"pwd", pwd},
      {"true", [](testing::Process&, const Words&) { return 0; }},
      {"false", [](testing::Process&, const Words&) { return 1; }},
      {"sleep", sleep},
      {"sha256sum", sha256sum},
      {"yes", yes},
      {"bytes", bytes},
      {"tty-size", ttySize},
      {"sh", shell},
      {"bash", shell}};
  std::string_view name = words[0];
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) {
    const std::string_view folder = name.substr(0, slash);
    if (folder != "/bin" && folder != "/usr/bin") unknown(name);
    name.remove_prefix(slash + 1);
  }
  const auto program = kPrograms.find(name);
  if (program == kPrograms.end()) unknown(words[0]);
  return program->second(process, words);
}

}  // namespace

}  // namespace kube::apiserver

int kube::testing::runBuiltIn(Process& process) {
  if (process.call().command.empty()) return apiserver::cat(process, {});
  return apiserver::run(process, process.call().command);
}
