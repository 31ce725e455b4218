// A team (see cuda/warp.cuh) whose threads are fibers of one CPU thread. It runs kernels as a GPU does, but in a chosen
// order: a thread runs until it meets others, so a missing synchronization leaves it far ahead or far behind. Warps,
// and lanes within a warp, run in order of ranks, which are drawn from a seed, and drawn again whenever threads have
// met.
//
// The program exits with status 70, and the reason on stderr, if a kernel does something that would fail on a GPU.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <typeinfo>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace gpunvme {

struct FiberLaunch {
  uint32_t blocks = 1;
  uint32_t threads = 32;
  uint64_t seed = 0;
  // The limit of a GPU. More threads represent several concurrent blocks, and cannot use `sync_block`.
  uint32_t max_threads = 1024;
  uint64_t max_pauses = 1'000'000;
  // Called after each empty poll, for example to run a controller.
  std::function<void()> between = [] {};
};

[[noreturn]] inline void fiber_failure(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "fibers: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  exit(70);
}

class FiberBlock {
 public:
  using Values = std::array<uint64_t, 32>;

  FiberBlock(const FiberLaunch& launch, uint32_t index, const std::function<void()>& kernel)
      : launch_(launch),
        index_(index),
        kernel_(kernel),
        random_(launch.seed * 0x9e3779b97f4a7c15 + index),
        turns_(launch.threads, kNoTurn),
        warp_turns_(launch.threads / 32) {
    if (launch.threads == 0 || launch.threads % 32 != 0 || launch.threads > launch.max_threads)
      fiber_failure("%u threads in a block", launch.threads);
    for (uint32_t thread = 0; thread < launch.threads; thread++) threads_.push_back(std::make_unique<Fiber>());
    memset(shared_, 0xa5, sizeof shared_);
    draw_block_ranks();
  }

  // Returns the running block.
  static FiberBlock& now() { return *current(); }

  void run() {
    current() = this;
    for (uint32_t thread = 0; thread < threads_.size(); thread++) start(*threads_[thread], stack_of(thread));
    while (finished_ < threads_.size()) {
      thread_ = next_thread();
      enter(*threads_[thread_]);
    }
    current() = nullptr;
  }

  const FiberLaunch& launch() const { return launch_; }
  uint32_t index() const { return index_; }
  uint32_t thread() const { return thread_; }

  // Waits for the lanes of this warp in `mask`. Returns the values of all of them.
  Values meet(const char* what, uint32_t mask, uint64_t value) {
    const uint32_t lane = thread_ % 32;
    if ((mask >> lane & 1) == 0)
      fiber_failure("lane %u of warp %u calls %s with mask %08x, which it is not in", lane, thread_ / 32, what, mask);
    Fiber& self = *threads_[thread_];
    self.wait = {what, mask, value};
    set_state(thread_, State::kWaiting);
    const uint32_t warp = thread_ / 32 * 32;
    bool all = true;
    for (uint32_t i = 0; i < 32 && all; i++)
      if (mask >> i & 1) all = waits_for(*threads_[warp + i], what, mask);
    if (all) {
      Values values{};
      for (uint32_t i = 0; i < 32; i++)
        if (mask >> i & 1) values[i] = threads_[warp + i]->wait.value;
      for (uint32_t i = 0; i < 32; i++)
        if (mask >> i & 1) {
          set_state(warp + i, State::kReady);
          threads_[warp + i]->answer = values;
        }
      draw_lane_ranks(warp, mask);
    }
    leave();
    return self.answer;
  }

  void meet_block() {
    threads_[thread_]->wait = {kBlock, 0, 0};
    set_state(thread_, State::kWaiting);
    if (++waiting_for_block_ == threads_.size()) {
      waiting_for_block_ = 0;
      for (uint32_t thread = 0; thread < threads_.size(); thread++) set_state(thread, State::kReady);
      draw_block_ranks();
    }
    leave();
  }

  // Yields to all other threads, after an empty poll.
  void pause() {
    if (++pauses_ > launch_.max_pauses) fiber_failure("thread %u polled %llu times without progress", thread_, static_cast<unsigned long long>(pauses_));
    launch_.between();
    set_rank(thread_, ++last_rank_);
    leave();
  }

  // Yields to all other threads at random.
  void maybe_pause() {
    if (random_() % 4 != 0) return;
    set_rank(thread_, ++last_rank_);
    leave();
  }

  template <class T>
  T& shared() {
    static_assert(sizeof(T) <= sizeof shared_, "more than a block has");
    if (shared_type_ == nullptr) shared_type_ = &typeid(T);
    if (*shared_type_ != typeid(T)) fiber_failure("shared memory of two types");
    return *reinterpret_cast<T*>(shared_);
  }

 private:
  static constexpr const char* kBlock = "sync_block";
  static constexpr size_t kStackBytes = 64 << 10;
  static constexpr uint64_t kNoTurn = UINT64_MAX;
  static constexpr uint64_t kStale = 0;
  enum class State { kReady, kWaiting, kFinished };
  struct Wait {
    const char* what = nullptr;
    uint32_t mask = 0;
    uint64_t value = 0;
  };
  // Blocks run one after another and share stacks, since allocating them takes most of a launch's time. Without
  // AddressSanitizer, a stack also keeps its context, suspended in `body` until a thread of the next block resumes it:
  // creating and entering a context takes two system calls.
  struct Stack {
    std::unique_ptr<char[]> memory{new char[kStackBytes]};
    ucontext_t context;
    jmp_buf left;
    bool has_left = false;
  };
  struct Fiber {
    Stack* stack = nullptr;
    State state = State::kReady;
    uint64_t rank = 0;
    Wait wait;
    Values answer{};
    void* fake_stack = nullptr;
  };

  struct Turn {
    uint64_t rank = kStale;
    uint32_t thread = 0;
  };

  static FiberBlock*& current() {
    static thread_local FiberBlock* block = nullptr;
    return block;
  }

  static bool waits_for(const Fiber& fiber, const char* what, uint32_t mask) {
    if (fiber.state != State::kWaiting || fiber.wait.mask != mask) return false;
    // Equal literals usually have one address.
    return fiber.wait.what == what || strcmp(fiber.wait.what, what) == 0;
  }

  void set_state(uint32_t thread, State state) {
    threads_[thread]->state = state;
    turns_[thread] = state == State::kReady ? threads_[thread]->rank : kNoTurn;
    warp_turns_[thread / 32].rank = kStale;
  }

  // The ready thread of the lowest rank. Plain loops: most of the programs run without optimization, and mostly here.
  uint32_t next_thread() {
    uint32_t next = 0;
    uint64_t lowest = kNoTurn;
    for (size_t warp = 0; warp < warp_turns_.size(); warp++) {
      if (warp_turns_[warp].rank == kStale) find_turn(warp);
      if (warp_turns_[warp].rank >= lowest) continue;
      lowest = warp_turns_[warp].rank;
      next = warp_turns_[warp].thread;
    }
    if (lowest == kNoTurn) report_deadlock();
    return next;
  }

  void find_turn(size_t warp) {
    const uint64_t* const ranks = turns_.data() + warp * 32;
    uint32_t lowest = 0;
    for (uint32_t lane = 1; lane < 32; lane++)
      if (ranks[lane] < ranks[lowest]) lowest = lane;
    warp_turns_[warp] = {ranks[lowest], static_cast<uint32_t>(warp * 32 + lowest)};
  }

  void set_rank(uint32_t thread, uint64_t rank) {
    threads_[thread]->rank = rank;
    set_state(thread, threads_[thread]->state);
  }

  void draw_block_ranks() {
    std::vector<uint32_t> order(threads_.size() / 32);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    last_rank_ = (last_rank_ / 32 + 1) * 32;
    for (uint32_t warp = 0; warp < order.size(); warp++) {
      for (uint32_t lane = 0; lane < 32; lane++) set_rank(warp * 32 + lane, last_rank_ + order[warp] * 32);
      draw_lane_ranks(warp * 32, 0xffffffff);
    }
    last_rank_ += threads_.size();
  }

  // The lanes in `mask`, which have met, stay in their place among the others.
  void draw_lane_ranks(uint32_t warp, uint32_t mask) {
    std::array<uint32_t, 32> order;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    uint64_t first = UINT64_MAX;
    for (uint32_t lane = 0; lane < 32; lane++)
      if (mask >> lane & 1) first = std::min(first, threads_[warp + lane]->rank);
    first = first / 32 * 32;
    for (uint32_t lane = 0; lane < 32; lane++)
      if (mask >> lane & 1) set_rank(warp + lane, first + order[lane]);
  }

  static Stack& stack_of(uint32_t thread) {
    static thread_local std::vector<std::unique_ptr<Stack>> stacks;
    while (stacks.size() <= thread) stacks.push_back(std::make_unique<Stack>());
    return *stacks[thread];
  }

  void start(Fiber& fiber, Stack& stack) {
    fiber.stack = &stack;
    if (stack.has_left) return;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(stack.memory.get(), kStackBytes);
#endif
    getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = stack.memory.get();
    stack.context.uc_stack.ss_size = kStackBytes;
    stack.context.uc_link = nullptr;
    makecontext(&stack.context, &FiberBlock::body, 0);
  }

  // Runs a thread of each block that uses this stack.
  static void body() {
    for (;;) {
      FiberBlock& block = now();
      block.entered(nullptr);
      block.kernel_();
      block.set_state(block.thread_, State::kFinished);
      block.finished_++;
      block.leave();
    }
  }

#if defined(__SANITIZE_ADDRESS__)
  void enter(Fiber& fiber) {
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, fiber.stack->memory.get(), kStackBytes);
    swapcontext(&scheduler_, &fiber.stack->context);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
  }
  void entered(void* fake) { __sanitizer_finish_switch_fiber(fake, &scheduler_stack_, &scheduler_stack_bytes_); }
  void leave() {
    Fiber& self = *threads_[thread_];
    const bool last = self.state == State::kFinished;
    __sanitizer_start_switch_fiber(last ? nullptr : &self.fake_stack, scheduler_stack_, scheduler_stack_bytes_);
    swapcontext(&self.stack->context, &scheduler_);
    entered(self.fake_stack);
  }
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_bytes_ = 0;
  ucontext_t scheduler_;
#else
  // A jump takes no system call; swapcontext takes one, for the signal mask.
  void enter(Fiber& fiber) {
    if (_setjmp(scheduler_) != 0) return;
    if (fiber.stack->has_left) _longjmp(fiber.stack->left, 1);
    setcontext(&fiber.stack->context);
  }
  void entered(void*) {}
  // A finished thread resumes here in a later block, when `this` has been destroyed: nothing after the jump may use it.
  void leave() {
    Stack& stack = *threads_[thread_]->stack;
    stack.has_left = true;
    if (_setjmp(stack.left) == 0) _longjmp(scheduler_, 1);
  }
  jmp_buf scheduler_;
#endif

  [[noreturn]] void report_deadlock() {
    fprintf(stderr, "fibers: no thread of block %u can go on\n", index_);
    for (uint32_t thread = 0; thread < threads_.size(); thread++) {
      const Fiber& fiber = *threads_[thread];
      if (fiber.state == State::kFinished) fprintf(stderr, "  thread %u has ended\n", thread);
      else fprintf(stderr, "  thread %u waits in %s, mask %08x\n", thread, fiber.wait.what, fiber.wait.mask);
    }
    exit(70);
  }

  const FiberLaunch& launch_;
  const uint32_t index_;
  const std::function<void()>& kernel_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fiber>> threads_;
  // The rank of each thread that is ready, kNoTurn for the others; and the lowest of each warp, kStale after a change.
  std::vector<uint64_t> turns_;
  std::vector<Turn> warp_turns_;
  uint32_t thread_ = 0;
  size_t finished_ = 0;
  size_t waiting_for_block_ = 0;
  uint64_t last_rank_ = 0;
  uint64_t pauses_ = 0;
  const std::type_info* shared_type_ = nullptr;
  alignas(16) unsigned char shared_[48 << 10];
};

// Runs all blocks of a launch, one after another, in an order drawn from the seed.
inline void run_fibers(const FiberLaunch& launch, const std::function<void()>& kernel) {
  std::vector<uint32_t> order(launch.blocks);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(launch.seed));
  for (const uint32_t block : order) std::make_unique<FiberBlock>(launch, block, kernel)->run();
}

struct FiberTeam {
  static constexpr uint32_t kLanes = 32;
  static constexpr uint32_t kAllLanes = 0xffffffff;

  static uint32_t block() { return FiberBlock::now().index(); }
  static uint32_t blocks() { return FiberBlock::now().launch().blocks; }
  static uint32_t thread() { return FiberBlock::now().thread(); }
  static uint32_t threads() { return FiberBlock::now().launch().threads; }
  static uint32_t lane() { return thread() % kLanes; }

  static uint32_t ballot(uint32_t mask, bool value) {
    const auto values = FiberBlock::now().meet("ballot", mask, value);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kLanes; i++) bits |= static_cast<uint32_t>(values[i]) << i;
    return bits;
  }
  template <class Word>
  static Word shuffle(uint32_t mask, Word value, uint32_t from) {
    const auto values = FiberBlock::now().meet("shuffle", mask, value);
    if ((mask >> from % kLanes & 1) == 0) fiber_failure("shuffle from lane %u, which is not in mask %08x", from, mask);
    return static_cast<Word>(values[from % kLanes]);
  }
  template <class Word>
  static Word shuffle_xor(uint32_t mask, Word value, uint32_t distance) {
    return shuffle(mask, value, lane() ^ distance);
  }
  static uint32_t match(uint32_t mask, uint32_t value) {
    const auto values = FiberBlock::now().meet("match", mask, value);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kLanes; i++)
      if ((mask >> i & 1) && values[i] == value) bits |= 1u << i;
    return bits;
  }
  static void sync_warp(uint32_t mask) { FiberBlock::now().meet("sync_warp", mask, 0); }
  static void sync_block() { FiberBlock::now().meet_block(); }

  template <class T>
  static T& shared() {
    return FiberBlock::now().shared<T>();
  }

  template <class Word>
  static void atomic_add(Word* at, Word value) {
    FiberBlock::now().maybe_pause();
    *at += value;
  }
  template <class Word>
  static void atomic_min(Word* at, Word value) {
    FiberBlock::now().maybe_pause();
    if (value < *at) *at = value;
  }
};

}  // namespace gpunvme
