// Cooperating threads.
//
// A team is a class of static functions by which a thread identifies itself and synchronizes with others:
//
//   kLanes, kAllLanes                  number of threads in a warp, and the mask of all
//   block() blocks() thread() threads() lane()
//   ballot(mask, bit)                  the bits of all lanes in `mask`
//   shuffle(mask, value, from)         the value of lane `from`; 32 and 64 bits
//   shuffle_xor(mask, value, distance) the value of lane `lane() ^ distance`
//   match(mask, value)                 the lanes in `mask` with the same value; 32 bits
//   sync_warp(mask)                    makes earlier stores of the lanes in `mask` visible to each other
//   sync_block()                       the same for all threads of a block
//   shared<T>()                        memory of the block, uninitialised; one T per kernel
//   atomic_add(at, value) atomic_min(at, value)
//
// All lanes in a mask call the same function with the same mask, which includes them. The number of threads in a block
// is a multiple of kLanes. Kernels take their work from their arguments and only their position from the team, so that
// any number of blocks and threads does the same work.
//
// GpuTeam runs on a GPU. SoloTeam is one CPU thread as a whole block. Tests have a team of fibers, which runs the lanes
// of a block in any order that a GPU could use.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Combine the values of all lanes; every lane gets the result.
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
