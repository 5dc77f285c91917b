#include "simulate/warnings.h"

#include <fmt/format.h>

#include <iterator>

namespace faultline::simulation {
namespace {

// Source files moved between versions.
std::string net_ib(const NcclVersion& version, int line) {
  return fmt::format(
      "{}:{}", version.since(29, 2) ? "transport/net_ib/p2p.cc" : "transport/net_ib.cc", line);
}

std::string socket_file(const NcclVersion& version, int line) {
  return fmt::format("{}:{}", version.since(12, 7) ? "misc/socket.cc" : "include/socket.h", line);
}

// The error code of a network error; versions before 2.13.4 use that of system errors.
int remote_error(const NcclVersion& version) { return version.since(13, 4) ? 6 : 2; }

std::vector<Words> with_trace(std::vector<Words> words, std::vector<Words> trace) {
  words.insert(words.end(), std::make_move_iterator(trace.begin()),
               std::make_move_iterator(trace.end()));
  return words;
}

std::vector<Words> init_trace(const NcclVersion& version, int code, std::vector<Frame> frames) {
  frames.push_back({"init.cc:1093", "initTransportsRank"});
  frames.push_back({"init.cc:1358", "ncclCommInitRankFunc"});
  std::vector<Words> trace = back_trace(version, Thread::init, code, frames);
  std::vector<Words> last = back_trace(version, Thread::init, code,
                                       {{"group.cc:65", "ncclAsyncJobMain"}}, "Async thread");
  return with_trace(std::move(trace), std::move(last));
}

// Channels are set up in init or, if connecting is lazy, by a thread of its own at the first use.
Thread connecting_thread(const NcclVersion& version) {
  return connects_lazily(version) ? Thread::connect : Thread::init;
}

std::vector<Words> connect_trace(const NcclVersion& version, int code, std::vector<Frame> frames) {
  frames.push_back({"transport.cc:107", "ncclTransportP2pSetup"});
  if (!connects_lazily(version)) return init_trace(version, code, std::move(frames));
  frames.push_back({"transport/generic.cc:19", "ncclTransportRingConnect"});
  frames.push_back({"group.cc:152", "ncclCollPreconnectFunc"});
  std::vector<Words> trace = back_trace(version, Thread::connect, code, frames);
  std::vector<Words> last = back_trace(version, Thread::connect, code,
                                       {{"group.cc:75", "ncclAsyncJobMain"}}, "Async thread");
  return with_trace(std::move(trace), std::move(last));
}

}  // namespace

Words warning(Thread thread, std::string place, std::string function, std::string message) {
  return {.thread = thread,
          .warn = true,
          .place = std::move(place),
          .function = std::move(function),
          .message = std::move(message)};
}

Words info(Thread thread, std::string message) {
  return {.thread = thread, .message = std::move(message)};
}

std::vector<Words> back_trace(const NcclVersion& version, Thread thread, int code,
                              const std::vector<Frame>& frames, std::string_view thread_name) {
  std::vector<Words> trace;
  for (const Frame& frame : frames) {
    std::string text = frame.place;
    if (version.since(30, 7)) text += " (" + frame.function + ")";
    text += fmt::format(" -> {}", code);
    if (!thread_name.empty() && &frame == &frames.back()) text += fmt::format(" [{}]", thread_name);
    trace.push_back(info(thread, std::move(text)));
  }
  return trace;
}

bool network_errors_surface(const NcclVersion& version) {
  const bool lost =
      (version.since(18, 1) && !version.since(19)) || (version.since(26, 2) && !version.since(28));
  return !lost;
}

std::vector<Words> completion_error(const NcclVersion& version, const Completion& completion) {
  const int vendor = completion.status == 12 ? 129 : completion.status == 5 ? 249 : 136;
  const char* kind = completion.sends ? "Send" : "Recv";
  // If a completion is an error, opcode and length mean nothing.
  const int garbage = 32'500 + completion.device;
  std::string gids;
  if (!completion.local_gid.empty())
    gids = fmt::format(" localGid {} remoteGid{}{}", completion.local_gid,
                       version.since(20, 3) ? "s" : " ", completion.remote_gid);
  std::string text;
  if (version.since(28, 7)) {
    text = fmt::format(
        "NET/IB: Got completion from peer {} with status={}({}) opcode=IBV_WC_RDMA_WRITE(1) "
        "vendor_err={} {} hca {}",
        completion.peer,
        completion.status == 12  ? "IBV_WC_RETRY_EXC_ERR"
        : completion.status == 5 ? "IBV_WC_WR_FLUSH_ERR"
                                 : "IBV_WC_REM_ACCESS_ERR",
        completion.status, vendor, gids, completion.hca);
  } else if (version.since(20, 3)) {
    text = fmt::format(
        "NET/IB{}: Got completion from peer {} with status={} opcode={} len={} vendor "
        "err {} ({}){}",
        version.since(22, 3) ? "" : " ", completion.peer, completion.status, garbage, garbage - 2,
        vendor, kind, gids);
    if (version.since(22, 3)) text += " hca " + completion.hca;
  } else {
    text = fmt::format("NET/IB : Got completion {}with error {}, opcode {}, len {}, vendor err {}",
                       version.since(10, 3) ? "from peer " + completion.peer + " " : "",
                       completion.status, garbage, garbage - 2, vendor);
    if (version.since(18, 1)) text += fmt::format(" ({}){}", kind, gids);
  }
  std::vector<Words> words;
  if (version.since(29, 7))
    words.push_back(
        warning(Thread::progress, net_ib(version, 512), "ncclIbTest",
                fmt::format("NET/IB: Got CQE with error (devIndex=0, req=0x7f2b0c0{:05x}, "
                            "comm=0x7f2b0c000b80 ({}), wr_id=1, qp_num={})",
                            0x1000 * (completion.device + 1), completion.sends ? "send" : "recv",
                            420 + completion.device)));
  words.push_back(warning(Thread::progress, net_ib(version, 1909), "ncclIbTest", std::move(text)));

  std::vector<Frame> frames{
      {"transport/net.cc:1134", completion.sends ? "sendProxyProgress" : "recvProxyProgress"}};
  std::string_view thread_name;
  const bool only_net = version.since(26, 2) && !version.since(28, 3);
  if (!only_net) {
    if (!version.since(26, 2)) frames.push_back({"proxy.cc:698", "progressOps"});
    frames.push_back({"proxy.cc:878", "ncclProxyProgress"});
    thread_name = version.since(19) ? "Progress Thread" : "Proxy Thread";
  }
  return with_trace(std::move(words), back_trace(version, Thread::progress, remote_error(version),
                                                 frames, thread_name));
}

Words port_event(const NcclVersion& version, const std::string& nic, PortEvent event) {
  const char* said = event == PortEvent::fatal   ? "local catastrophic error"
                     : event == PortEvent::error ? "port error"
                                                 : "port active";
  const int number = event == PortEvent::fatal ? 8 : event == PortEvent::error ? 10 : 9;
  std::string text;
  if (!version.since(20, 3))
    text = fmt::format("NET/IB : Got async event : {}", said);
  else if (!version.since(23, 4))
    text = fmt::format("NET/IB : {}:1 Got async event : {}", nic, said);
  else if (event == PortEvent::fatal)
    text = fmt::format("NET/IB : {}:1 async fatal event: {}", nic, said);
  else if (!version.since(28, 7))
    text = fmt::format("NET/IB : {}:1 Got async error event: {}", nic, said);
  else
    text = fmt::format("NET/IB : {}:1 Got non-fatal async event: {}({})", nic, said, number);
  const char* file =
      version.since(29, 2) ? "transport/net_ib/common.cc:101" : "transport/net_ib.cc:101";
  return warning(Thread::async_event, file, "ncclIbAsyncThreadMain", std::move(text));
}

std::vector<Words> connect_failed(const NcclVersion& version, const std::string& address) {
  std::string text;
  std::string function = "socketPollConnect";
  if (version.since(29, 2)) function = "ncclOsSocketPollConnect";
  if (version.since(27, 3))
    text = fmt::format(
        "{}: connect to {} returned No route to host, exceeded error retry count "
        "after 35 attempts",
        function, address);
  else if (version.since(24, 3))
    text = fmt::format("{}: connect returned No route to host, exceeded error retry count (35)",
                       function);
  else if (version.since(16, 2))
    text = fmt::format("socketStartConnect: Connect to {} failed : No route to host", address);
  else if (version.since(10, 3))
    text = fmt::format("Net : Connect to {} failed : No route to host", address);
  else
    text = fmt::format("Connect to {} failed : No route to host", address);
  const int code = version.since(24, 3) ? 6 : 2;
  const std::string file = version.since(29, 2) ? "os/linux.cc:412" : socket_file(version, 526);
  return with_trace({warning(Thread::init, file, function, std::move(text))},
                    init_trace(version, code,
                               {{"misc/socket.cc:585", "ncclSocketConnect"},
                                {"bootstrap.cc:285", "bootstrapInit"}}));
}

std::vector<Words> closed_by_peer(const NcclVersion& version, const std::string& peer) {
  std::string text;
  if (version.since(16, 2))
    text = "socketProgress: Connection closed by remote peer " + peer;
  else if (version.since(10, 3))
    text = "Net : Connection closed by remote peer " + peer;
  else
    text = "Net : Connection closed by remote peer";
  std::vector<Frame> frames{{"misc/socket.cc:59", "socketProgress"},
                            {"transport/net_socket.cc:474", "ncclNetSocketTest"},
                            {"transport/net.cc:1298", "recvProxyProgress"}};
  std::string_view thread_name;
  if (!version.since(26, 2) || version.since(28, 3)) {
    frames.push_back({"proxy.cc:878", "ncclProxyProgress"});
    thread_name = version.since(19) ? "Progress Thread" : "Proxy Thread";
  }
  return with_trace(
      {warning(Thread::progress, socket_file(version, 49), "socketProgress", text)},
      back_trace(version, Thread::progress, remote_error(version), frames, thread_name));
}

std::vector<Words> memory_lock(const NcclVersion& version) {
  const char* tail = version.since(19, 1) ? " errno 12" : "";
  return with_trace(
      {warning(
          Thread::service, fmt::format("misc/ibvwrap.cc:{}", version.since(18) ? 261 : 195),
          "wrap_ibv_create_cq",
          fmt::format("Call to ibv_create_cq failed with error Cannot allocate memory{}", tail))},
      connect_trace(version, 2,
                    {{"transport/net_ib.cc:581", "ncclIbInitCommDevBase"},
                     {"transport/net.cc:688", "sendProxyConnect"}}));
}

std::vector<Words> too_many_files(const NcclVersion& version) {
  return with_trace({warning(Thread::service, socket_file(version, 393), "ncclSocketInit",
                             version.since(23, 4) ? "Call to socket failed: Too many open files"
                                                  : "Call to socket failed : Too many open files")},
                    connect_trace(version, 2,
                                  {{"misc/socket.cc:410", "ncclSocketInit"},
                                   {"transport/net_ib.cc:702", "ncclIbConnect"}}));
}

std::vector<Words> shared_memory_full(const NcclVersion& version) {
  std::vector<Words> words;
  const char* file = version.since(29, 2) ? "os/linux.cc"
                     : version.since(12)  ? "misc/shmutils.cc"
                                          : "include/shm.h";
  const auto warn = [&](int line, std::string text) {
    words.push_back(
        warning(Thread::service, fmt::format("{}:{}", file, line), "ncclShmOpen", std::move(text)));
  };
  if (version.since(22, 3)) {
    warn(87,
         "Error: failed to extend /dev/shm/nccl-Kq3vTz to 33030532 bytes, error: No space left "
         "on device (28)");
    warn(139,
         "Error while creating shared memory segment /dev/shm/nccl-Kq3vTz (size 33030528), "
         "error: No space left on device (28)");
  } else if (version.since(12, 7)) {
    warn(72, "Error: failed to extend /dev/shm/nccl-Kq3vTz to 9637892 bytes");
    warn(113, "Error while creating shared memory segment /dev/shm/nccl-Kq3vTz (size 9637888)");
  } else {
    warn(28, "Call to posix_fallocate failed : No space left on device");
    warn(48,
         "Error while creating shared memory segment nccl-shm-recv-9f3c51a07e22d001-0-1-2 (size "
         "9637888)");
  }
  return with_trace(std::move(words),
                    connect_trace(version, 2, {{"transport/shm.cc:114", "shmSendProxySetup"}}));
}

std::vector<Words> out_of_gpu_memory(const NcclVersion& version) {
  std::vector<Words> words;
  const bool driver = version.since(19, 1);
  words.push_back(
      warning(connecting_thread(version), "include/alloc.h:225", "ncclCudaCallocDebug",
              driver ? "Cuda failure 2 'out of memory'" : "Cuda failure 'out of memory'"));
  if (version.since(14, 3))
    words.push_back(warning(connecting_thread(version), "include/alloc.h:231",
                            "ncclCudaCallocDebug", "Failed to CUDA calloc 10485760 bytes"));
  return with_trace(std::move(words), connect_trace(version, 1,
                                                    {{"include/alloc.h:231", "ncclCudaCallocDebug"},
                                                     {"channel.cc:40", "initChannel"}}));
}

std::vector<Words> illegal_access(const NcclVersion& version) {
  return with_trace({warning(Thread::application, "enqueue.cc:1406", "ncclLaunchKernel",
                             "Cuda failure 'an illegal memory access was encountered'")},
                    back_trace(version, Thread::application, 1,
                               {{"group.cc:192", "doLaunches"},
                                {"group.cc:460", "groupLaunch"},
                                {"group.cc:581", "ncclGroupEndInternal"}}));
}

std::vector<Words> invalid_root(const NcclVersion& version, int root, int ranks) {
  return with_trace(
      {warning(Thread::application, "misc/argcheck.cc:36", "ArgsCheck",
               fmt::format("Broadcast : invalid root {} (root should be in the 0..{} "
                           "range)",
                           root, ranks))},
      back_trace(version, Thread::application, 4, {{"enqueue.cc:2180", "ncclEnqueueCheck"}}));
}

std::vector<Words> duplicate_gpu(const NcclVersion& version, int rank, int other,
                                 std::uint64_t bus) {
  const std::string text =
      version.since(30, 3)
          ? "Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to "
            "enable this configuration."
          : fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {:x}",
                        rank, other, bus);
  return with_trace({warning(Thread::init, "init.cc:785", "initTransportsRank", text)},
                    init_trace(version, 5, {}));
}

std::vector<Words> mismatched_versions(const NcclVersion& version, int rank, const NcclVersion& its,
                                       const NcclVersion& first) {
  const auto code = [](const NcclVersion& of) { return 20'000 + 100 * of.minor + of.patch; };
  return with_trace(
      {warning(
          Thread::init, "init.cc:770", "initTransportsRank",
          fmt::format("Mismatched NCCL version detected : rank {} version {} rank {} version {}",
                      rank, code(its), 0, code(first)))},
      init_trace(version, 5, {}));
}

}  // namespace faultline::simulation
