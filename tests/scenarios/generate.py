#!/usr/bin/env python3
"""Writes the scenario folders: the logs of a job of 8 hosts with 8 GPUs each, and of its healthy twin.

Formats are those of NCCL 2.21.5 (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL) and of dmesg. Run it
from anywhere; it is deterministic. The expected answers beside the logs are written by the tests
(UPDATE_GOLDEN=1) and reviewed by people.
"""
import pathlib
import random

HOSTS, GPUS = 8, 8
BUS = [0x1B, 0x2A, 0x4A, 0x3B, 0x9A, 0xAB, 0xBA, 0xDB]  # GPU 3 of every host is 0000:3b:00.0
ROUNDS = 12
STOPPED_RANK, STOPPED_ROUND = 27, 9  # enters neither call of this round on its host's communicator


class Rank:
    def __init__(self, number, rng):
        self.number, self.host, self.local = number, number // GPUS, number % GPUS
        self.pid, self.tid = 40200 + 7 * self.local + self.host, 40900 + 7 * self.local
        self.world, self.group = (0x55D0_0000_0000 + rng.randrange(1 << 28) * 16 for _ in range(2))
        self.buffer = 0x7F00_0000_0000 + rng.randrange(1 << 24) * 4096
        self.stream = 0x55E0_0000_0000 + rng.randrange(1 << 28) * 16
        self.counts = {self.world: 0, self.group: 0}
        self.lines = []

    def info(self, text):
        self.lines.append(f"gpu-node-{self.host}:{self.pid}:{self.tid} [{self.local}] NCCL INFO {text}")

    def init(self, comm, rank, nranks, comm_id, parent):
        name = "ncclCommSplit" if parent else "ncclCommInitRank"
        tail = f"parent {self.world:#x} color {self.host} key {rank} " if parent else ""
        text = (f"{name} comm {comm:#x} rank {rank} nranks {nranks} cudaDev {self.local} nvmlDev {self.local} "
                f"busId {BUS[self.local]:x}000 {tail}commId {comm_id:#x} - Init ")
        self.info(text + "START")
        self.info(text + "COMPLETE")

    def call(self, name, comm, nranks, count, datatype):
        self.info(f"{name}: opCount {self.counts[comm]:x} sendbuff {self.buffer:#x} recvbuff {self.buffer:#x} "
                  f"count {count} datatype {datatype} op 0 root 0 comm {comm:#x} [nranks={nranks}] "
                  f"stream {self.stream:#x}")
        self.counts[comm] += 1


def run(stopped):
    rng = random.Random(7)
    ranks = [Rank(n, rng) for n in range(HOSTS * GPUS)]
    for rank in ranks:
        rank.info("cudaDriverVersion 12040")
        rank.info("Bootstrap : Using eth0:10.0.0.%d<0>" % (rank.host + 1))
        rank.init(rank.world, rank.number, HOSTS * GPUS, 0x9F3C51A07E22D001, None)
        rank.init(rank.group, rank.local, GPUS, 0x4400AA0000000000 + rank.host, True)
    for turn in range(ROUNDS):
        for rank in ranks:
            if stopped and turn > STOPPED_ROUND:
                continue
            late = stopped and turn == STOPPED_ROUND
            if late and rank.number == STOPPED_RANK:
                continue
            rank.call("AllReduce", rank.group, GPUS, 8388608, 9)
            if late and rank.host == STOPPED_RANK // GPUS:
                continue  # waits for the stopped rank before it gets to the world's call
            rank.call("ReduceScatter", rank.world, HOSTS * GPUS, 65536 * (1 + turn % 3), 9)
            rank.call("AllReduce", rank.world, HOSTS * GPUS, 1, 7)
    if not stopped:
        for rank in ranks:
            for comm, number, nranks in ((rank.group, rank.local, GPUS), (rank.world, rank.number, HOSTS * GPUS)):
                rank.info(f"comm {comm:#x} rank {number} nranks {nranks} cudaDev {rank.local} "
                          f"busId {BUS[rank.local]:x}000 - Destroy COMPLETE")
    return ranks


DRIVER = [
    "[   33.120110] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build",
    "[   41.512004] nvidia-nvlink: Nvlink Core is being initialized, major device number 510",
    "[   52.700023] mlx5_core 0000:5e:00.0: firmware version: 28.39.1002",
]
FALLEN = [
    "[41280.667123] pcieport 0000:37:01.0: DPC: containment event, status:0x1f01 source:0x0000",
    "[41280.701522] NVRM: GPU at PCI:0000:3b:00: GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de0042",
    "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=40224, name=python3, GPU has fallen off the bus.",
    "[41280.701560] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
]


def write(folder, ranks, kernel):
    for host in range(HOSTS):
        place = folder / f"gpu-node-{host}"
        place.mkdir(parents=True, exist_ok=True)
        of_host = [iter(rank.lines) for rank in ranks if rank.host == host]
        rng, lines = random.Random(host), []
        while of_host:  # ranks write one stream in bursts, in no order
            source = rng.choice(of_host)
            for _ in range(rng.randrange(1, 9)):
                line = next(source, None)
                if line is None:
                    of_host.remove(source)
                    break
                lines.append(line)
        (place / "nccl.log").write_text("\n".join(lines) + "\n")
    (folder / "gpu-node-3" / "dmesg.txt").write_text("\n".join(kernel) + "\n")


here = pathlib.Path(__file__).parent
write(here / "gpu_off_bus" / "logs", run(stopped=True), DRIVER + FALLEN)
write(here / "gpu_off_bus_healthy_twin" / "logs", run(stopped=False), DRIVER)
