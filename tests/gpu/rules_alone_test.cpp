// SPDX-License-Identifier: Apache-2.0
//
// Rules of docs/capture-rules.md that end with a failed capture or a lost device, and what is to be
// verified on a GPU because no source says it. Each test gets a process of its own.
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <thread>

#include "gpu/gpu_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;

/// CUDA's own calls, without LibTorch: a failed capture leaves no trace.
class GpuRulesAlone : public GpuTest {
 protected:
  cudaStream_t new_stream() {
    streams_.push_back(c10::cuda::getStreamFromPool());
    return streams_.back().stream();
  }

  static cudaError_t begin(cudaStream_t stream,
                           cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    return cudaStreamBeginCapture(stream, mode);
  }

  static cudaError_t end(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return error;
  }

  static cudaStreamCaptureStatus status_of(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
    return status;
  }

 private:
  std::vector<c10::cuda::CUDAStream> streams_;
};

TEST_F(GpuRulesAlone, rule_3_a_capture_ends_on_the_stream_where_it_began) {
  const cudaStream_t origin = new_stream(), elsewhere = new_stream();
  ASSERT_EQ(begin(origin), cudaSuccess);
  const cudaError_t wrong = end(elsewhere);
  observe("rule 3", "a stream that does not capture ends it: " + name_of(wrong));
  observe("rule 3", "the capture is then of status " + std::to_string(status_of(origin)) +
                        " (1 active, 2 invalidated), and its end gives " + name_of(end(origin)));
  EXPECT_NE(wrong, cudaSuccess);
}

TEST_F(GpuRulesAlone, rule_3_a_joined_stream_does_not_end_the_capture) {
  const cudaStream_t origin = new_stream(), joined = new_stream();
  at::cuda::CUDAEvent fork;
  ASSERT_EQ(begin(origin), cudaSuccess);
  fork.record(c10::cuda::getStreamFromExternal(origin, 0));
  fork.block(c10::cuda::getStreamFromExternal(joined, 0));
  EXPECT_EQ(end(joined), cudaErrorStreamCaptureUnmatched);
  const cudaError_t after = end(origin);
  observe("rule 3", "after an end on a joined stream (903) the end gives " + name_of(after));
  EXPECT_EQ(after, cudaErrorStreamCaptureInvalidated) << "as the simulated device has it";
}

TEST_F(GpuRulesAlone, rule_4_a_capture_ends_on_the_thread_where_it_began) {
  const cudaStream_t stream = new_stream();
  ASSERT_EQ(begin(stream), cudaSuccess);
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = end(stream); }).join();
  EXPECT_EQ(elsewhere, cudaErrorStreamCaptureWrongThread);
  const cudaError_t here = end(stream);
  observe("rule 4", "after an end on another thread (908) the end gives " + name_of(here));
  EXPECT_EQ(here, cudaSuccess) << "as the simulated device has it";
}

TEST_F(GpuRulesAlone, rule_19_bare_allocation_is_refused_as_the_mode_says) {
  const auto allocate = [](cudaStream_t stream, cudaStreamCaptureMode mode) {
    EXPECT_EQ(begin(stream, mode), cudaSuccess);
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, 64);
    const cudaError_t at_end = end(stream);
    if (memory != nullptr) cudaFree(memory);
    static_cast<void>(cudaGetLastError());
    observe("rule 19", "cudaMalloc in a capture of mode " + std::to_string(mode) +
                           " (0 global, 1 thread-local, 2 relaxed): " + name_of(error) +
                           ", its end: " + name_of(at_end));
    return error;
  };
  EXPECT_EQ(allocate(new_stream(), cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(allocate(new_stream(), cudaStreamCaptureModeThreadLocal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(allocate(new_stream(), cudaStreamCaptureModeRelaxed), cudaSuccess);
}

TEST_F(GpuRulesAlone, rule_18_legacy_stream_work_beside_captures) {
  const at::Tensor x = at::zeros({1}, on_gpu());
  device_->synchronize();
  float host = 0;
  const auto copy_beside = [&](cudaStream_t stream) {
    EXPECT_EQ(begin(stream), cudaSuccess);
    const cudaError_t error = cudaMemcpy(&host, x.const_data_ptr(), 4, cudaMemcpyDeviceToHost);
    static_cast<void>(end(stream));
    static_cast<void>(cudaGetLastError());
    return error;
  };
  cudaStream_t blocking = nullptr, non_blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&non_blocking, cudaStreamNonBlocking), cudaSuccess);
  const cudaError_t beside_blocking = copy_beside(blocking);
  observe("rule 18",
          "cudaMemcpy beside a blocking stream that captures: " + name_of(beside_blocking));
  observe("rule 18", "cudaMemcpy beside a non-blocking stream that captures: " +
                         name_of(copy_beside(non_blocking)));
  EXPECT_EQ(beside_blocking, cudaErrorStreamCaptureImplicit);
  cudaStreamDestroy(blocking);
  cudaStreamDestroy(non_blocking);
}

TEST_F(GpuRulesAlone, rule_31_a_stream_that_was_not_joined_back_is_904) {
  const at::Tensor x = at::zeros({2}, on_gpu());
  EXPECT_EQ(code_of([&] {
              capture([&] {
                at::cuda::CUDAEvent fork;
                fork.record();
                const auto side = c10::cuda::getStreamFromPool();
                fork.block(side);
                const c10::cuda::CUDAStreamGuard on_side(side);
                x.add_(1);
              });
            }),
            904);
}

TEST_F(GpuRulesAlone, rule_52_a_launch_inside_another_capture_adds_a_child_graph) {
  const at::Tensor x = at::zeros({2}, on_gpu());
  const auto inner = capture([&] { x.add_(1); });
  std::unique_ptr<Graph> outer;
  const int code = code_of([&] { outer = capture([&] { inner->replay(); }); });
  observe("rule 52", code != 0 ? "a launch inside a capture fails with " + std::to_string(code)
                               : "it adds " + std::to_string(outer->node_count()) + " node, '" +
                                     outer->nodes().front().operation + "'");
  ASSERT_EQ(code, 0);
  outer->replay();
  EXPECT_THAT(values(x), Each(1));
}

/// Rule 14, mended by cuda::Recording: what comes after a failed capture works.
class GpuFailedCaptureAlone : public GpuTest {
 protected:
  void expect_that_all_still_works() {
    const at::Tensor x = at::full({2}, 1, on_gpu());
    at::Tensor y;
    const auto graph = capture([&] { y = x.add(at::rand({2}, on_gpu()).ceil()); });
    graph->replay();
    EXPECT_THAT(values(y), Each(2));
    EXPECT_THAT(values(at::rand({2}, on_gpu()).ceil()), Each(1));
  }
};

TEST_F(GpuFailedCaptureAlone, rule_15_reading_a_value_back_is_900_and_the_device_goes_on) {
  const at::Tensor x = at::zeros({1}, on_gpu());
  EXPECT_EQ(code_of([&] { capture([&] { x.add(1).item(); }); }), 900);
  expect_that_all_still_works();
}

TEST_F(GpuFailedCaptureAlone, rule_7_everything_after_the_first_illegal_call_is_901) {
  const at::Tensor x = at::zeros({1}, on_gpu());
  EXPECT_EQ(code_of([&] {
              capture([&] {
                EXPECT_EQ(code_of([&] { x.item(); }), 900);
                EXPECT_EQ(code_of([&] { x.add_(1); }), 901);
              });
            }),
            901);
  expect_that_all_still_works();
}

TEST_F(GpuFailedCaptureAlone, rule_21_shapes_that_depend_on_data_are_900) {
  const at::Tensor x = at::full({4}, 1, on_gpu());
  EXPECT_EQ(code_of([&] { capture([&] { x.nonzero(); }); }), 900);
  expect_that_all_still_works();
}

TEST_F(GpuFailedCaptureAlone, rule_37_a_pageable_copy_is_refused) {
  const at::Tensor host = at::zeros({2}), x = at::zeros({2}, on_gpu());
  std::string message = "accepted";
  try {
    capture([&] { x.copy_(host, /*non_blocking=*/true); });
  } catch (const DeviceError& e) {
    message = e.what();
  } catch (const c10::Error& e) {
    message = std::string("by a check on the host: ") + e.what_without_backtrace();
  }
  observe("rule 37", "a pageable copy in a capture: " + message.substr(0, 300));
  EXPECT_NE(message, "accepted");
  expect_that_all_still_works();
}

TEST_F(GpuFailedCaptureAlone, rule_38_a_blocking_copy_is_900_also_from_pinned_memory) {
  const at::Tensor host = at::zeros({2}, at::TensorOptions().pinned_memory(true));
  const at::Tensor x = at::zeros({2}, on_gpu());
  EXPECT_EQ(code_of([&] { capture([&] { x.copy_(host, /*non_blocking=*/false); }); }), 900);
  expect_that_all_still_works();
}

/// Rule 54: what the device reports late stays for the rest of the process.
class GpuLostDeviceAlone : public GpuTest {};

TEST_F(GpuLostDeviceAlone, rule_54_an_index_out_of_range_at_replay_is_710_and_stays) {
  const at::Tensor table = at::zeros({4, 2}, on_gpu());
  const at::Tensor index = at::zeros({1}, on_gpu(at::kLong));
  const at::Tensor row = at::full({1, 2}, 3, on_gpu());
  const auto graph = capture([&] { table.index_copy_(0, index, row); });
  graph->replay();
  device_->synchronize();
  index.fill_(4);
  graph->replay();
  const int code = code_of([&] { device_->synchronize(); });
  const int after = code_of([&] {
    row.add_(1);
    device_->synchronize();
  });
  observe("rule 54", "index_copy_ past the end at a replay: " + std::to_string(code) +
                         ", the next call: " + std::to_string(after));
  EXPECT_EQ(code, 710);
  EXPECT_EQ(after, 710);
}

}  // namespace
}  // namespace thaw::test
