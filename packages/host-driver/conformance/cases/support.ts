import type { Bar, DmaMemory, FaultAction, FaultMatch, FaultPlan, FaultRule, Plan } from '@gpunvme/nvme-spec/transport'
import type { ControllerEvent, ControllerOptions } from '../../src/index.js'
import { NS_PER_MS, SECOND_NS, waitUntil } from '../time.js'
import type { DriverArea, DriverCase } from '../case.js'
import type { Device, DriverContext, Opened } from '../context.js'
import { check } from '../check.js'
import type { CaseNamespace } from '../driver.js'
import { checkData, clearData, fillData } from '../data.js'
import type { TransportRequest } from '../request.js'

export const MIB = 1024 * 1024

/** Register offsets of Base 2.1 §3.1, independent of the driver's declarations. */
export const REGISTER = {
  CAP: 0x00,
  VS: 0x08,
  CC: 0x14,
  CSTS: 0x1c,
  AQA: 0x24,
  ASQ: 0x28,
  ACQ: 0x30,
  CRTO: 0x68,
} as const
export const OPCODE = { FLUSH: 0x00, WRITE: 0x01, READ: 0x02 } as const

/** Request for a namespace with a known size, so that fault plans can refer to its LBAs before it is opened. */
export const KNOWN: TransportRequest = { namespaces: [{ nsid: 1, blockBytes: 512, minBytes: 64 * MIB }] }
/** An LBA of this namespace that the write guard does not read: 32 KiB after a backup superblock at 24 MiB. */
export const KNOWN_LBA = 65_536 - 16_384 + 64

/** Time limit of commands that may get no completion. */
export const TIMEOUT_NS = 300 * NS_PER_MS
export const TIMEOUT_OPTIONS = {
  queues: 2,
  queueDepth: 8,
  maxTransferBytes: 8192,
  commandTimeoutNs: TIMEOUT_NS,
} as const

/** Reasons of `DriverCase.ownEngine`. */
export const SEES_ENGINE = "it observes entries and doorbells, which is possible only with the driver's own engine"
export const DISTURBS_ENGINE = "it changes register accesses, which affects only the driver's own engine"

export function area(name: string, cases: readonly DriverCase[]): DriverArea {
  return { area: name, cases }
}

export function rule(action: FaultAction, match: FaultMatch): FaultRule {
  return { match, action }
}

/** Returns a request for a transport with faults of commands that the case sends. */
export function withFaults(...rules: readonly FaultRule[]): TransportRequest & { readonly faults: FaultPlan } {
  return { ...KNOWN, faults: { rules } }
}

/** Matches reads of `count` blocks, from `first` blocks after KNOWN_LBA. */
export function readsOf(first: number, count = 1): FaultMatch {
  return { opcode: OPCODE.READ, lba: [KNOWN_LBA + first, KNOWN_LBA + first + count - 1] }
}

export function writesOf(first: number, count = 1): FaultMatch {
  return { ...readsOf(first, count), opcode: OPCODE.WRITE }
}

/** Writes the data of `seed` to `blocks` blocks; returns the cleared memory. */
export async function store({ ns, alloc, lba }: Opened, blocks: number, seed: number, at = lba): Promise<DmaMemory> {
  const memory = alloc(blocks * ns.blockBytes)
  fillData(memory, seed)
  await ns.write(at, blocks, memory)
  clearData(memory)
  return memory
}

/** Writes, reads back and compares. */
export async function roundTrip(opened: Opened, blocks: number, seed = 1, at = opened.lba): Promise<void> {
  const memory = await store(opened, blocks, seed, at)
  await opened.ns.read(at, blocks, memory)
  checkData(memory, seed)
}

/** Returns a plan of reads of `blocks` blocks each, consecutive on the drive and in memory. */
export function readPlan(ns: CaseNamespace, lba: number, commands: number, blocks = 1): Plan {
  return ns.planReads(
    Array.from({ length: commands }, (_, index) => ({
      slba: lba + index * blocks,
      blocks,
      offsetBytes: index * blocks * ns.blockBytes,
    })),
  )
}

/**
 * Opens a controller whose device leaves the bus at the `nth` doorbell write of its first I/O queue. With an engine
 * that bypasses the wrapped registers, the simulated device itself leaves the bus at the `nth` command.
 */
export async function openLeaving(context: DriverContext, nth: number, options: ControllerOptions): Promise<Opened> {
  const removed = { kind: 'remove-device' } as const
  if (context.affectsEngine) {
    return context.open(options, { faults: { rules: [rule(removed, { register: 'SQyTDBL', qid: 1, nth })] } })
  }
  const itself = { faults: { rules: [rule(removed, { opcode: OPCODE.READ, qid: 1, nth })] } }
  return context.open(options, undefined, await context.device({}, itself))
}

/** Runs `action` and checks that the driver writes no register meanwhile. */
export async function withoutAWrite(device: Device, action: () => Promise<unknown>): Promise<void> {
  const before = device.writes.length
  await action()
  check(device.writes.length === before, 'nothing is submitted, and no register is written')
}

/** Collects all events until the sequence ends. */
export async function collect(events: AsyncIterable<ControllerEvent>): Promise<ControllerEvent[]> {
  const seen: ControllerEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

/** Returns the recovery steps with their results, such as `abort succeeded`. */
export function stepsOf(events: readonly ControllerEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'recovery' && event.result !== 'begun' ? [`${event.step} ${event.result}`] : [],
  )
}

/** Replaces the value of CAP that the driver reads. */
export function withCap(change: (cap: bigint) => bigint): (bar: Bar) => Partial<Bar> {
  return (bar) => ({
    read64: (offset) => (offset === REGISTER.CAP ? change(bar.read64(offset)) : bar.read64(offset)),
    read32(offset) {
      if (offset > REGISTER.CAP + 4) return bar.read32(offset)
      return Number((change(bar.read64(REGISTER.CAP)) >> BigInt(offset * 8)) & 0xffff_ffffn)
    },
  })
}

/** Enables a controller as another host would; returns a function that frees the memory of its queues. */
export function enableAsAnotherHost({ transport: { bar, dma } }: Device): () => void {
  const queues = dma.alloc(8192, { contiguous: true })
  bar.write32(REGISTER.AQA, 0x0001_0001)
  bar.write64(REGISTER.ASQ, BigInt(queues.iovaAt(0)))
  bar.write64(REGISTER.ACQ, BigInt(queues.iovaAt(4096)))
  bar.write32(REGISTER.CC, 0x0046_0001)
  return () => queues.free()
}

/** Waits until CSTS.RDY has this value. */
export async function untilReady({ transport: { bar, clock } }: Device, ready: 0 | 1): Promise<void> {
  const isSo = () => (bar.read32(REGISTER.CSTS) & 1) === ready
  check(await waitUntil(clock, 30 * SECOND_NS, isSo), `CSTS.RDY is ${ready} within 30 s`)
}
