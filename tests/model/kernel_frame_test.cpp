#include "model/kernel_frame.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

std::string read(std::string_view text) {
  const auto frame = kernel_frame_in(text);
  return frame ? std::string(frame->module) + ":" + std::string(frame->function) : "none";
}

TEST(KernelFrame, IsReadInEachFormInWhichKernelsPrintIt) {
  EXPECT_EQ(read(" mlx5e_napi_poll+0x12a/0x6f0 [mlx5_core]"), "mlx5_core:mlx5e_napi_poll");
  EXPECT_EQ(read("mlx5e_napi_poll+0x12a/0x6f0 [mlx5_core] "), "mlx5_core:mlx5e_napi_poll");
  EXPECT_EQ(read("[<ffffffffc0a1b2c3>] nfs4_wait_clnt_recover+0x3f/0x70 [nfsv4]"),
            "nfsv4:nfs4_wait_clnt_recover");
  EXPECT_EQ(read("RIP: 0010:nfs_wait_bit_killable+0x1c/0x90 [nfs]"), "nfs:nfs_wait_bit_killable");
  EXPECT_EQ(read(" RIP: 0010:nfs_wait_bit_killable+0x1c/0x90 [nfs]"), "nfs:nfs_wait_bit_killable");
  EXPECT_EQ(read("RIP: 0010:[<ffffffffc0a1b2c3>]  [<ffffffffc0a1b2c3>] wait.part.3+0x83/0x230 [x]"),
            "x:wait.part.3");
  EXPECT_EQ(read("pc : amdgpu_device_rreg+0x18/0xb0 [amdgpu]"), "amdgpu:amdgpu_device_rreg");
  EXPECT_EQ(read(" _nv012345rm+0x33/0x120 [nvidia 0a1b2c3d4e5f]"), "nvidia:_nv012345rm");
}

TEST(KernelFrame, IsNoneIfItIsUnsureOrInNoModule) {
  for (const char* text :
       {"", "]", " []", "[<ffffffffc0a1b2c3>] ? nfs4_wait+0x3f/0x70 [nfsv4]",
        " ? mlx5e_napi_poll+0x12a/0x6f0 [mlx5_core]", " schedule+0x46/0xb0",
        "Modules linked in: nfs(E) mlx5_core(OE) [last unloaded: x]",
        "python3[5187]: segfault at 0 ip 7f6a sp 7f69 error 4 in libc.so[7f6a20000000+11a000]",
        "lr : amdgpu_device_rreg+0x18/0xb0 [amdgpu]", " +0x12/0x34 [x]", "f+0x/0x34 [x]",
        "f+0x12 [x]", "f+0x12/ [x]", "f+0x12/0x34 [a-b]"})
    EXPECT_EQ(read(text), "none") << text;
}

}  // namespace
}  // namespace faultline
