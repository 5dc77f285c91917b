// What launchers put before the lines of the processes they start. The ranks are global ones; a
// number that counts only within a host is taken off and ignored.
#pragma once

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/text_pool.h"

namespace faultline {

// (RayTrainWorker pid=615, ip=10.72.7.6) msg [repeated 7x across cluster]
bool peel_ray(Peeled& line);

// [1,5]<stdout>:msg, Open MPI's tag; newer ones name the job: [prterun-node7-123@1,5]<stderr>:msg
bool peel_open_mpi(Peeled& line);
// The same; a program that writes a line in pieces gets the tag before each of them.
bool peel_open_mpi_pieces(Peeled& line, TextPool& pool);

// Mon Jan 13 10:11:12 2020[1,5]<stdout>:msg, the same with --timestamp-output.
bool peel_open_mpi_stamp(Peeled& line);

// [rank3]: msg and [rank3]:[E816 ...] of PyTorch; [default0]:msg and [trainer3]:msg of torchrun.
bool peel_torch_label(Peeled& line);

// [0] node7:4242:4243 [0] NCCL INFO ...: MPICH's. NCCL's own [0] looks the same and stays.
bool peel_hydra(Peeled& line);

// MPICH ERROR [Rank 8281] [job id 14104.0] [Wed Aug 23 06:05:55 2023] [node7] - msg, HPE Cray's.
bool peel_mpich_error(Peeled& line);

// Abort(1091215) on node 5 (rank 5 in comm 0): msg, of MPICH and its like; comm 0 is all ranks.
bool peel_mpi_abort(Peeled& line);

// " 3: msg" of srun --label
bool peel_srun_label(Peeled& line);

// "  111  msg" of an editor or `cat -n`, before what begins a line.
bool peel_line_number(Peeled& line);

// "logs/gpu-7.log:4242:text", "kern.log:text", "4242:text": the file and the number that grep puts
// before a line. The text must begin like a line, unless file and number are there and the file is
// a log.
bool peel_grep(Peeled& line);

// "RANK3: msg", "Node 0: msg", made by hand.
bool peel_handmade(Peeled& line);

// Whether this is the name of a device. Before a colon, it is no host.
bool is_device(std::string_view name);

// "worker-0: msg" of pdsh and MPIJob, "trainer-1  | msg" of docker-compose.
bool peel_host_label(Peeled& line);

// [pod/NAME/CONTAINER] msg
bool peel_kubectl_prefix(Peeled& line);

}  // namespace faultline
