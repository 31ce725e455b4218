/** Offset and size of a structure's member, in bytes: a word, or the structure of an argument. */
export type Member = readonly [offset: number, bytes: 4 | 8 | 32]

/** A structure of a C header in cuda/, with its members by their names in C. */
export interface Structure {
  readonly bytes: number
  readonly members: Readonly<Record<string, Member>>
}

// A test compares all of this with what a C compiler makes of the headers.

// gpunvme_device.h

/** GNV_LAYOUT_VERSION. */
export const LAYOUT_VERSION = 1
/** GNV_TAKEN: the outcome of a slot without a command. */
export const TAKEN = 1n << 40n
export const CID_SHIFT = 16n
/** Flag of a drive that kernels may write. */
export const WRITABLE = 1
/** States of a queue: `gnv_state`. */
export const RUNNING = 0
export const HALTED = 1
export const LOST = 2

export const RUNS = { bytes: 16, members: { iovas: [0, 8], shift: [8, 8] } } as const satisfies Structure

export const BUFFER = {
  bytes: 32,
  members: { 'runs.iovas': [0, 8], 'runs.shift': [8, 8], bytes: [16, 8], data: [24, 8] },
} as const satisfies Structure

export const SLOT = { bytes: 16, members: { outcome: [0, 8], deadline_ns: [8, 8] } } as const satisfies Structure

export const QUEUE = {
  bytes: 512,
  members: {
    sq: [0, 8],
    cq: [8, 8],
    tail_doorbell: [16, 8],
    head_doorbell: [24, 8],
    prp_lists: [32, 8],
    'prp_list_runs.iovas': [40, 8],
    'prp_list_runs.shift': [48, 8],
    slots: [56, 8],
    ready: [64, 8],
    free_slots: [72, 8],
    entries: [80, 4],
    slot_count: [84, 4],
    slot_bits: [88, 4],
    qid: [92, 4],
    prp_list_bytes: [96, 4],
    page_bytes: [100, 4],
    state: [104, 4],
    free_count: [128, 4],
    free_head: [132, 4],
    free_tail: [136, 4],
    sq_ticket: [140, 4],
    ring_requests: [256, 4],
    sq_tail: [260, 4],
    tail_doorbell_writes: [264, 4],
    cq_lock: [384, 4],
    cq_head: [388, 4],
    cq_released: [392, 4],
    head_doorbell_writes: [396, 4],
    stale: [400, 4],
  },
} as const satisfies Structure

export const DRIVE = {
  bytes: 32,
  members: {
    blocks: [0, 8],
    nsid: [8, 4],
    block_shift: [12, 4],
    max_blocks: [16, 4],
    first_queue: [20, 4],
    queue_count: [24, 4],
    flags: [28, 4],
  },
} as const satisfies Structure

export const DEVICE = {
  bytes: 32,
  members: { version: [0, 4], drive_count: [4, 4], drives: [8, 8], queues: [16, 8], timeout_ns: [24, 8] },
} as const satisfies Structure

// gpunvme_array.h

/** GNV_ARRAY_VERSION. */
export const ARRAY_VERSION = 1
/** GNV_PAGE_NUMBER_BITS: number of bits of a page's number. */
export const PAGE_NUMBER_BITS = 40

export const PAGE_SET = {
  bytes: 64,
  members: {
    lock: [0, 4],
    hand: [4, 4],
    hits: [8, 8],
    misses: [16, 8],
    coalesced: [24, 8],
    evictions: [32, 8],
    busy: [40, 8],
  },
} as const satisfies Structure

export const ARRAY = {
  bytes: 128,
  members: {
    version: [0, 4],
    drive: [4, 4],
    device: [8, 32],
    first_block: [40, 8],
    bytes: [48, 8],
    memory: [56, 32],
    sets: [88, 8],
    words: [96, 8],
    outcomes: [104, 8],
    page_shift: [112, 4],
    block_shift: [116, 4],
    set_shift: [120, 4],
    ways: [124, 4],
  },
} as const satisfies Structure

// gpunvme_fetch.h

/** GNV_FETCH_VERSION. */
export const FETCH_VERSION = 1
/** GNV_FETCH_MAX_POSITIONS. */
export const FETCH_MAX_POSITIONS = 512

export const DESTINATION = { bytes: 16, members: { offset: [0, 8], bytes: [8, 8] } } as const satisfies Structure

export const FETCH_RESULT = {
  bytes: 32,
  members: {
    ending: [0, 4],
    reason: [4, 4],
    position: [8, 4],
    extent: [12, 4],
    expected: [16, 4],
    actual: [20, 4],
    read: [24, 8],
  },
} as const satisfies Structure

export const FETCH_PROGRESS = {
  bytes: 16,
  members: { failure: [0, 8], ended: [8, 4] },
} as const satisfies Structure

export const FETCH = {
  bytes: 96,
  members: {
    table: [0, 8],
    ids: [8, 8],
    destinations: [16, 8],
    results: [24, 8],
    progress: [32, 8],
    crcs: [40, 8],
    buffer: [48, 32],
    layer: [80, 4],
    count: [84, 4],
    max_read_bytes: [88, 8],
  },
} as const satisfies Structure

/** Values of a structure's members; those that are not given are 0. */
export type Values<S extends Structure> = {
  readonly [Name in keyof S['members']]?: S['members'][Name][1] extends 32 ? Uint8Array : bigint | number
}

/** Writes a structure at byte `at` of a view. */
export function encode<S extends Structure>(
  { bytes, members }: S,
  view: DataView,
  at: number,
  values: Values<S>,
): void {
  new Uint8Array(view.buffer, view.byteOffset + at, bytes).fill(0)
  for (const [name, [offset, size]] of Object.entries(members)) {
    const value: Uint8Array | bigint | number = values[name as keyof S['members']] ?? 0
    if (value instanceof Uint8Array) new Uint8Array(view.buffer, view.byteOffset + at + offset, size).set(value)
    else if (size === 8) view.setBigUint64(at + offset, BigInt(value), true)
    else view.setUint32(at + offset, Number(value), true)
  }
}

/** Returns a structure as the bytes of a kernel's argument. */
export function argumentOf<S extends Structure>(structure: S, values: Values<S>): Uint8Array {
  const bytes = new Uint8Array(structure.bytes)
  encode(structure, new DataView(bytes.buffer), 0, values)
  return bytes
}
