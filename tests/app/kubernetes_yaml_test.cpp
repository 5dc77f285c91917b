// Pods, nodes and jobs as `kubectl get -o yaml` prints them, and YAML that is something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pasted.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string first_title(const std::string& text) {
  const Diagnosis diagnosis = pasted(text);
  return diagnosis.root_causes.empty() ? "" : diagnosis.root_causes.front().title;
}

constexpr const char* kFailedOf =
    "status:\n"
    "  conditions:\n"
    "  - lastTransitionTime: \"2026-03-05T02:47:12Z\"\n"
    "    message: 1/4 workers are evicted\n"
    "    reason: MPIJobEvicted\n"
    "    status: \"True\"\n"
    "    type: Failed\n";

TEST(KubernetesYaml, OfAJobThatFailedIsReadWholeAndAsAnExcerpt) {
  const std::string head = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: a\n";
  EXPECT_THAT(first_title(head + kFailedOf), HasSubstr("MPIJobEvicted"));
  EXPECT_THAT(first_title(kFailedOf), HasSubstr("MPIJobEvicted"));
}

TEST(KubernetesYaml, OfAnEvictedPodTellsWhy) {
  EXPECT_THAT(
      first_title("apiVersion: v1\n"
                  "kind: Pod\n"
                  "metadata:\n"
                  "  labels:\n"
                  "    name: no-name\n"
                  "  name: train-0\n"
                  "spec:\n"
                  "  nodeName: gpu-2\n"
                  "status:\n"
                  "  conditions:\n"
                  "  - lastTransitionTime: \"2026-03-05T02:10:00Z\"\n"
                  "    status: \"True\"\n"
                  "    type: PodScheduled\n"
                  "  message: 'The node was low on resource: memory. Threshold quantity: 1'\n"
                  "  phase: Failed\n"
                  "  reason: Evicted\n"),
      HasSubstr("evicted pod train-0, because its node had no memory left"));
}

TEST(KubernetesYaml, OfAContainerThatRunsTellsOfItsLastEndButNotOfInitContainers) {
  const auto pod = [](const std::string& list) {
    return "apiVersion: v1\n"
           "kind: Pod\n"
           "metadata:\n"
           "  name: train-0\n"
           "status:\n"
           "  " +
           list +
           ":\n"
           "  - containerID: containerd://0a\n"
           "    lastState:\n"
           "      terminated:\n"
           "        exitCode: 137\n"
           "        reason: OOMKilled\n"
           "    name: worker\n"
           "  hostIP: 10.0.0.7\n";
  };
  EXPECT_THAT(first_title(pod("containerStatuses")), HasSubstr("was killed for memory"));
  EXPECT_EQ(first_title(pod("initContainerStatuses")), "");
}

TEST(KubernetesYaml, LeavesWhatStandsBelowItToOthers) {
  for (const char* head : {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
                           "apiVersion: v2\nname: chart\n", kFailedOf})
    for (const char* below :
         {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
          "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"})
      EXPECT_THAT(first_title(std::string(head) + below),
                  testing::AnyOf(HasSubstr("out of GPU memory"), HasSubstr("ncorrectable")))
          << head << below;
}

TEST(KubernetesYaml, OfOtherProgramsSaysNothing) {
  for (const char* kind : {"PrometheusRule", "Backup", "TrainConfig", "Deployment"}) {
    const std::string head =
        "apiVersion: example.org/v1\nkind: " + std::string(kind) + "\nmetadata:\n  name: a\n";
    EXPECT_THAT(pasted(head + "status:\n"
                              "  conditions:\n"
                              "  - lastTransitionTime: \"2026-03-05T02:47:12Z\"\n"
                              "    message: 2 replica(s) failed\n"
                              "    reason: Unhealthy\n"
                              "    status: \"True\"\n"
                              "    type: Failed\n")
                    .root_causes,
                IsEmpty())
        << kind;
    EXPECT_THAT(pasted(head + "state:\n  reason: OOMKilled\n  exitCode: 137\n").root_causes,
                IsEmpty())
        << kind;
  }
}

}  // namespace
}  // namespace faultline
