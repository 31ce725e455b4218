// Threads that work together.
//
// A team is a class of static functions, through which a thread knows its place and meets the others:
//
//   kLanes, kAllLanes                  threads of a warp, and the mask of all of them
//   block() blocks() thread() threads() lane()
//   ballot(mask, bit)                  the bits of all lanes in `mask`
//   shuffle(mask, value, from)         the value of lane `from`; 32 and 64 bits
//   shuffle_xor(mask, value, distance) the value of lane `lane() ^ distance`
//   sync_warp(mask)                    what lanes in `mask` stored before is seen by all of them after
//   sync_block()                       the same for all threads of a block
//   shared<T>()                        the block's own memory, not initialised; one T in a kernel
//   atomic_add(at, value) atomic_min(at, value)
//
// All lanes in a mask call the same function with the same mask, which has themselves in it. The number of threads in a
// block is a multiple of kLanes. Kernels take what they are asked to do from their arguments, and no more than their
// place from the team, so that any number of blocks and threads does the same work.
//
// GpuTeam is a GPU's, SoloTeam one thread of a CPU that is a block by itself. Tests have one of fibers, which runs the
// lanes of a block in an order that no GPU promises not to.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Of the values of all lanes, for each lane.
template <class Team, class Word>
GPUNVME_DEVICE Word warp_xor(Word value) {
  for (uint32_t distance = Team::kLanes / 2; distance > 0; distance /= 2)
    value ^= Team::shuffle_xor(Team::kAllLanes, value, distance);
  return value;
}

template <class Team, class Word>
GPUNVME_DEVICE Word warp_sum(Word value) {
  for (uint32_t distance = Team::kLanes / 2; distance > 0; distance /= 2)
    value += Team::shuffle_xor(Team::kAllLanes, value, distance);
  return value;
}

template <class Team, class Word>
GPUNVME_DEVICE Word warp_min(Word value) {
  for (uint32_t distance = Team::kLanes / 2; distance > 0; distance /= 2) {
    const Word other = Team::shuffle_xor(Team::kAllLanes, value, distance);
    if (other < value) value = other;
  }
  return value;
}

}  // namespace gpunvme
