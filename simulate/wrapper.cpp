#include "simulate/wrapper.h"

#include <fmt/format.h>

#include "simulate/calendar.h"

namespace faultline::simulation {
namespace {

using Text = std::string;
using View = std::string_view;

template <class... Arguments>
void put(Text& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

void slurm(Text& out, View line, const Speaker& speaker, Timestamp) {
  put(out, "{:0{}}: {}\n", speaker.rank, std::to_string(speaker.ranks - 1).size(), line);
}

void torchrun(Text& out, View line, const Speaker& speaker, Timestamp) {
  put(out, "[default{}]:{}\n", speaker.local_rank, line);
}

void mpirun(Text& out, View line, const Speaker& speaker, Timestamp) {
  put(out, "[1,{}]<stdout>:{}\n", speaker.rank, line);
}

void ray(Text& out, View line, const Speaker& speaker, Timestamp) {
  put(out, "\x1b[36m(RayTrainWorker pid={}, ip={})\x1b[0m {}\n", speaker.pid, speaker.address,
      line);
}

void cri(Text& out, View line, const Speaker&, Timestamp time) {
  put(out, "{} stdout F {}\n", nanosecond_stamp(time), line);
}

void docker(Text& out, View line, const Speaker&, Timestamp time) {
  out += R"({"log":")";
  for (const char c : line) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '<' || c == '>' || c == '&')
      put(out, "\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  }
  put(out,
      R"(\n","stream":"stdout","time":"{}"}})"
      "\n",
      nanosecond_stamp(time));
}

void kubectl(Text& out, View line, const Speaker&, Timestamp time) {
  put(out, "{} {}\n", nanosecond_stamp(time), line);
}

void syslog(Text& out, View line, const Speaker& speaker, Timestamp time) {
  put(out, "{} {} python3[{}]: {}\n", syslog_stamp(time), speaker.host, speaker.pid, line);
}

void journal(Text& out, View line, const Speaker& speaker, Timestamp time) {
  put(out, "{} {} python3[{}]: {}\n", short_iso(time), speaker.host, speaker.pid, line);
}

constexpr Wrapper kWrappers[] = {
    {"none", "lines as NCCL prints them", nullptr},
    {"slurm", "srun --label", slurm},
    {"torchrun", "torchrun --tee", torchrun},
    {"mpirun", "Open MPI's --tag-output", mpirun},
    {"ray", "Ray's actors, with colours", ray},
    {"cri", "containerd's log files", cri},
    {"docker", "docker's JSON files", docker},
    {"kubectl", "kubectl logs --timestamps", kubectl},
    {"syslog", "/var/log/messages", syslog},
    {"journal", "journalctl -o short-iso", journal},
};

}  // namespace

std::span<const Wrapper> wrappers() { return kWrappers; }

const Wrapper* wrapper_named(std::string_view name) {
  for (const Wrapper& wrapper : kWrappers)
    if (wrapper.name == name) return &wrapper;
  return nullptr;
}

}  // namespace faultline::simulation
