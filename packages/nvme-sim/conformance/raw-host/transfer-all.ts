import { statusOf } from './entry.js'
import { prpsOf } from './prps.js'
import type { RawHost } from './raw-host.js'

/** Time limit for a completion. */
const LIMIT_NS = 10e9

/** Transfers of consecutive blocks with one opcode. */
export interface Transfers {
  /** Default: 02h, Read. */
  readonly opcode?: number
  readonly qid?: number
  readonly commands: number
  readonly blocks: number
  readonly blockBytes?: number
  /** Commands in flight. */
  readonly depth: number
  /** Number of blocks after which the commands start again at LBA 0. */
  readonly spanBlocks: number
}

/**
 * Transfers blocks of namespace 1 with `depth` commands in flight, each with separate memory; every status must be
 * success. Benchmarks compare drivers with it: it does the minimum to move blocks, without garbage, plans or retries.
 */
export async function transferAll(
  host: RawHost,
  { opcode = 0x02, qid = 1, commands, blocks, blockBytes = 512, depth, spanBlocks }: Transfers,
): Promise<void> {
  const { clock } = host
  const sq = host.sqs.get(qid)!
  const cq = host.cqs.get(sq.cqid)!
  const held: { free: () => void }[] = []
  const alloc = (lengthBytes: number) => {
    const memory = host.alloc(lengthBytes)
    held.push(memory)
    return memory
  }
  const slots = Array.from({ length: depth }, () => {
    const lengthBytes = blocks * blockBytes
    const data = alloc(lengthBytes)
    const [prp1, prp2] = prpsOf(data, 0, lengthBytes, host.pageBytes, alloc)
    return { data, lengthBytes, prp1, prp2 }
  })
  const free = slots.map((_, index) => index)
  let submitted = 0
  let completed = 0
  let endNs = clock.now() + LIMIT_NS
  while (completed < commands) {
    const before = completed
    for (let dw3 = cq.peek(); dw3 >= 0; dw3 = cq.peek()) {
      if (dw3 >>> 17 !== 0) throw new Error(`CQ ${cq.qid}: expected status 0/00, got ${statusOf(dw3)}`)
      const slot = dw3 & 0xffff
      slots[slot]!.data.forHost(0, slots[slot]!.lengthBytes)
      free.push(slot)
      completed++
      cq.advance()
    }
    const from = submitted
    while (free.length > 0 && submitted < commands) {
      const slot = free.pop()!
      const { prp1, prp2 } = slots[slot]!
      sq.stageTransfer(opcode, slot, 1, prp1, prp2, (submitted++ * blocks) % spanBlocks, blocks)
    }
    if (submitted !== from) host.ringTail(qid)
    if (completed !== before) {
      host.ringHead(cq.qid)
      endNs = clock.now() + LIMIT_NS
    } else if (clock.now() >= endNs) throw new Error(`CQ ${cq.qid}: no completion within ${LIMIT_NS / 1e9} s`)
    if (completed < commands) await clock.idle(endNs)
  }
  for (const memory of held) memory.free()
}
