import type { Change } from '../device/compile.js'

/** A bug, the check that has to find it, and what it says then. */
export interface Planted {
  readonly what: string
  readonly change: Change
  readonly id: string
  readonly says: RegExp
}

/** Bugs that do not meet: each is seen by one check, so that one build has them all. */
export const planted: readonly Planted[] = [
  {
    what: 'every entry of a PRP list is its first',
    change: {
      path: 'cuda/prp.cuh',
      from: 'Port::store64(entry, iova_at(memory, at));',
      to: 'Port::store64(entry, iova_at(memory, offset + in_first));',
    },
    id: 'plans-qd32-pairs1',
    says: /^\d+ reads of 131072 bytes: \d+ of \d+ bytes differ/,
  },
  {
    what: 'every lane of a warp writes the same command',
    change: {
      path: 'cuda/warp_read.cuh',
      from: 'active.submitted + lane, slot, at, order.now_ns',
      to: 'active.submitted, slot, at, order.now_ns',
    },
    id: 'plans-warp-qd32-pairs1',
    says: /./,
  },
  {
    what: 'a completion is credited whatever generation its identifier has',
    change: {
      path: 'cuda/complete.cuh',
      from: 'place.owner == Owner::COMMAND && cid_of(pair, slot, place.generation) == cid',
      to: 'place.owner == Owner::COMMAND',
    },
    id: 'fault-wrong-cid',
    says: /^outcomes that the engine gave first: expected \[\[8,"timeout"\]\], got \[\]/,
  },
  {
    what: 'an abort goes unheard',
    change: { path: 'cuda/serve.cuh', from: '(changed & CONTROL_CANCELS) != 0', to: '(changed & 0) != 0' },
    id: 'plan-aborted',
    says: /^outcomes that are no success: expected \["not-submitted"\], got \[\]/,
  },
  {
    what: 'a kernel gives no sign of life',
    change: {
      path: 'cuda/serve.cuh',
      from: 'Port::store_relaxed64(&leader.report->heartbeat, ++leader.heartbeat);',
      to: '++leader.heartbeat;',
    },
    id: 'persistent-kernel',
    says: /^the heartbeat stands still/,
  },
  {
    what: 'the polynomial of a checksum is another',
    change: { path: 'cuda/checksum.cuh', from: 'kCrcX32 = 0xedb88320', to: 'kCrcX32 = 0xedb88321' },
    id: 'checksum',
    says: /: checksums: expected/,
  },
  {
    what: 'the first bytes of a piece are not copied',
    change: { path: 'cuda/scatter.cuh', from: 'warp_copy_bytes<Team>(to, from, head);', to: '' },
    id: 'scatter',
    says: /^the destination: \d+ of \d+ bytes differ/,
  },
  {
    what: 'a pattern begins at another word',
    change: { path: 'cuda/pattern.cuh', from: 'seed + (index + 1) *', to: 'seed + (index + 2) *' },
    id: 'pattern',
    says: /^the pattern from byte 0 on, at 0: \d+ of \d+ bytes differ/,
  },
  {
    what: 'a copy to GPU memory ends too early',
    change: {
      path: 'test/standin/libcuda.cc',
      from: 'Copy(reinterpret_cast<void*>(to), from, bytes);',
      to: 'Copy(reinterpret_cast<void*>(to), from, bytes == 1 << 20 ? bytes - 1 : bytes);',
    },
    id: 'copy-overlap',
    says: /^GPU memory: \d+ of \d+ bytes differ/,
  },
  {
    what: 'a program reads where it was to write',
    change: {
      path: 'cuda/block_io.cuh',
      from: 'io.opcode,   0, 0};',
      to: 'io.opcode == GPUNVME_NVM_OPCODE_WRITE ? GPUNVME_NVM_OPCODE_READ : io.opcode, 0, 0};',
    },
    id: 'block-io',
    says: /^what was written, and all else: \d+ of \d+ bytes differ/,
  },
  {
    what: 'a single command that is not submitted has the outcome of the one before',
    change: { path: 'cuda/block_io.cuh', from: 'io.outcome = 0;', to: '' },
    id: 'block-io-unanswered',
    says: /^outcomes: expected .*"not submitted","not submitted"\], got \["success","timeout","timeout","timeout"\]/,
  },
]

/** Of the twelve reads of a fault check, nobody tells the controller. */
export const lostDoorbell: Change = {
  path: 'cuda/submit.cuh',
  from: 'Port::mmio_store32(pair.tail_doorbell, pair.sq_tail);',
  to: 'if (staged != 12) Port::mmio_store32(pair.tail_doorbell, pair.sq_tail);',
}
