// A read-only array on an NVMe drive. Any thread of any kernel reads its elements through a page cache in GPU memory.
//
//   // Sums elements at random indices. Lanes that need the same page share one access and one read of the drive.
//   __global__ void gather(gnv::Array<float> array, const uint64_t* indices, float* sums) {
//     const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
//     float value;
//     if (array.read(indices[thread], value, 0xffffffff).ok()) sums[thread] += value;
//   }
//
// The process that owns the controllers creates the array (layout: gpunvme_array.h) and passes it to kernels by value. The
// cache does not observe writes to the drive. Requires C++17 and compute capability 7.5 or newer.
//
// - Each access has one outcome. A failed read leaves no page: threads that waited for it get its outcome, and a later access
//   reads the page again. After GNV_TIMEOUT and GNV_LOST, the slot is quarantined until the host has reset the controller and
//   emptied the cache.
// - Each access ends within three time limits of the device: one to obtain a cache slot, one to obtain a queue slot, and one
//   for the command. If lanes call together, it ends within three for each distinct page: lanes that wait for a slot get
//   the full time limit again after each read by other lanes. An access that obtains no cache slot ends with GNV_BUSY.
// - A thread in `read` holds no page while it waits for a slot, except a page that another thread is reading. Threads in `read`
//   therefore cannot deadlock. A thread that has pinned a page and calls `read` or `pin` holds the page while it waits. All
//   threads together must hold fewer pages in this way than a set has slots. Otherwise, such calls can end with GNV_BUSY.
//
// Lanes of a warp that call a function together pass the same mask, as for gnv::Device. By default, a thread acts alone.
#pragma once

#include <type_traits>

#include "gpunvme.cuh"
#include "page_cache.cuh"

namespace gnv {

// `Team` identifies lanes (warp.cuh); `Port` accesses memory (gpu_port.cuh).
template <class T, class Team, class Port>
struct BasicArray : ::gnv_array {
  static_assert(std::is_trivially_copyable<T>::value, "elements are copied from the drive");
  static_assert((sizeof(T) & (sizeof(T) - 1)) == 0, "no element may extend over two pages");
  static_assert(sizeof(T) <= 512, "a page has at least a block, and a block has at least 512 bytes");

  // A pinned page. It is not evicted until the lanes that pinned it unpin it.
  struct Page {
    Outcome outcome;
    // Elements of the page, if the outcome is a success. Read them with ordinary loads.
    const T* data;
    // Index of the first element in the array, and number of elements.
    uint64_t first;
    uint32_t count;
    uint32_t slot;
    GPUNVME_DEVICE bool ok() const { return outcome.ok(); }
  };

  static GPUNVME_DEVICE uint32_t alone() { return 1u << Team::lane(); }

  // Number of elements in the array, and in a page.
  GPUNVME_DEVICE uint64_t size() const { return bytes / sizeof(T); }
  GPUNVME_DEVICE uint32_t page_size() const { return (1u << page_shift) / sizeof(T); }

  // Reads an element. Sets `value` if the outcome is a success.
  GPUNVME_DEVICE Outcome read(uint64_t index, T& value, uint32_t mask = alone()) const {
    return visit<true>(index, mask, [&](uint32_t slot) { value = page_of(slot)[index & (page_size() - 1)]; }).outcome;
  }

  // Pins the page that contains element `index`, for all lanes in `mask`, which pass the same index and unpin it together.
  GPUNVME_DEVICE Page pin(uint64_t index, uint32_t mask = alone()) const {
    // All lanes share one reference, so all use the index of the first lane.
    index = Team::shuffle(mask, index, gpunvme::lowest_bit(mask));
    const Visit visited = visit<false>(index, mask, [](uint32_t) {});
    if (!visited.outcome.ok()) return {visited.outcome, nullptr, 0, 0, 0};
    const uint64_t first = index & ~uint64_t{page_size() - 1}, left = size() - first;
    return {visited.outcome, page_of(visited.slot), first, left < page_size() ? static_cast<uint32_t>(left) : page_size(),
            visited.slot};
  }

  // Unpins a page after its last use. Has no effect on a page that could not be pinned, or is already unpinned.
  GPUNVME_DEVICE void unpin(Page& page, uint32_t mask = alone()) const {
    release(mask, page.data != nullptr && gpunvme::lowest_bit(mask) == Team::lane(), page.slot);
    page.data = nullptr;
  }

 private:
  enum class Step : uint32_t { SEEK, AWAIT, READY, DONE };
  struct Visit {
    Outcome outcome;
    uint32_t slot;
  };
  // Progress of lanes that need the same page. Only the first lane uses all members; the others use `step` and `slot`.
  struct Progress {
    Step step;
    uint32_t slot;
    uint64_t outcome;
    uint64_t give_up_ns;
    // This lane must read the page.
    bool claims;
  };

  GPUNVME_DEVICE const T* page_of(uint32_t slot) const {
    return reinterpret_cast<const T*>(static_cast<const char*>(memory.data) + (static_cast<uint64_t>(slot) << page_shift));
  }

  // Calls `act` with the slot that holds the page of element `index`, while the lanes hold a reference to it.
  template <bool RELEASES, class Act>
  GPUNVME_DEVICE Visit visit(uint64_t index, uint32_t mask, const Act& act) const {
    const bool is_inside = index < size();
    const uint64_t page = index * sizeof(T) >> page_shift;
    const uint32_t inside = Team::ballot(mask, is_inside);
    const uint32_t same = Team::match(mask, static_cast<uint32_t>(page)) & Team::match(mask, static_cast<uint32_t>(page >> 32));
    const uint32_t leader = is_inside ? gpunvme::lowest_bit(same & inside) : Team::lane();
    const bool leads = leader == Team::lane();
    Progress now = {is_inside ? Step::SEEK : Step::DONE, 0, gpunvme::refusal(GNV_INVALID, GNV_BAD_INDEX), 0, false};
    // The time limit for a slot restarts after each read by other lanes, which can take longer than the limit.
    bool restarts = true;
    for (uint32_t polls = 0; Team::ballot(mask, now.step != Step::DONE) != 0; polls++) {
      if (polls > 0) Port::relax(polls);
      const uint64_t now_ns = Team::shuffle(mask, Port::now_ns(), gpunvme::lowest_bit(mask));
      if (restarts && now.step == Step::SEEK) now.give_up_ns = now_ns + device.timeout_ns;
      if (leads && now.step == Step::SEEK) seek(now, page, now_ns);
      else if (leads && now.step == Step::AWAIT) look(now, page, now_ns);
      const uint64_t shared = Team::shuffle(mask, static_cast<uint64_t>(now.slot) << 32 | static_cast<uint32_t>(now.step), leader);
      now.step = static_cast<Step>(static_cast<uint32_t>(shared));
      now.slot = static_cast<uint32_t>(shared >> 32);
      // Makes the data that the first lane has acquired visible to the others.
      Team::sync_warp(mask);
      if (now.step == Step::READY) act(now.slot);
      // Released before lanes wait for the drive below.
      if (RELEASES) release(mask, leads && now.step == Step::READY, now.slot);
      if (now.step == Step::READY) now.step = Step::DONE;
      const uint32_t claims = Team::ballot(mask, now.claims);
      if (now.claims) load(page, now.slot, claims);
      now.claims = false;
      restarts = claims != 0;
    }
    return {Outcome(Team::shuffle(mask, now.outcome, leader)), now.slot};
  }

  GPUNVME_DEVICE void seek(Progress& now, uint64_t page, uint64_t now_ns) const {
    const gpunvme::Sought sought = gpunvme::seek_page<Port>(*this, page);
    now.slot = sought.slot;
    if (sought.result == gpunvme::Seek::NONE) {
      if (now_ns >= now.give_up_ns) give_up(now, page);
    } else if (sought.result == gpunvme::Seek::VALID) {
      now.step = Step::READY;
      now.outcome = gpunvme::refusal(GNV_SUCCESS);
    } else {
      now.step = Step::AWAIT;
      now.claims = sought.result == gpunvme::Seek::CLAIMED;
      // The reading thread waits for a queue slot, then for the command.
      now.give_up_ns = now_ns + 2 * device.timeout_ns;
    }
  }

  // Checks whether the read of the page has ended.
  GPUNVME_DEVICE void look(Progress& now, uint64_t page, uint64_t now_ns) const {
    const gnv_page_state state = gpunvme::state_in(Port::load_acquire64_gpu(words + now.slot));
    if (state == GNV_PAGE_LOADING && now_ns < now.give_up_ns) return;
    if (state == GNV_PAGE_VALID) {
      now.step = Step::READY;
      now.outcome = gpunvme::refusal(GNV_SUCCESS);
      return;
    }
    if (state == GNV_PAGE_LOADING) {
      give_up(now, page);
    } else {
      now.step = Step::DONE;
      now.outcome = Port::load_relaxed64(outcomes + now.slot);
    }
    gpunvme::release_page<Port>(*this, now.slot);
  }

  GPUNVME_DEVICE void give_up(Progress& now, uint64_t page) const {
    Port::count64_gpu(&sets[gpunvme::set_of(*this, page)].busy);
    now.step = Step::DONE;
    now.outcome = gpunvme::refusal(GNV_BUSY);
  }

  // Reads a page into its slot, and publishes the outcome. Each lane in `mask` reads its own page.
  GPUNVME_DEVICE void load(uint64_t page, uint32_t slot, uint32_t mask) const {
    const uint64_t from = page << page_shift, left = bytes - from, whole = 1ULL << page_shift;
    const uint64_t length = left < whole ? left : whole, blocks = ((length - 1) >> block_shift) + 1;
    const BasicDevice<Team, Port> drives_of{device};
    const Ticket ticket = drives_of.read(drive, first_block + (from >> block_shift), static_cast<uint32_t>(blocks), memory,
                                         static_cast<uint64_t>(slot) << page_shift, mask);
    gpunvme::publish_page<Port>(*this, slot, drives_of.wait(ticket, mask).word());
  }

  // Releases the pages of lanes with `releases`, after the loads of all lanes in `mask`.
  GPUNVME_DEVICE void release(uint32_t mask, bool releases, uint32_t slot) const {
    Team::sync_warp(mask);
    if (releases) gpunvme::release_page<Port>(*this, slot);
  }
};

#if defined(__CUDACC__)
template <class T>
using Array = BasicArray<T, gpunvme::GpuTeam, gpunvme::GpuPort>;
#endif

}  // namespace gnv
