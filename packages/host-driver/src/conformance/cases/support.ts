import type { DmaMemory, FaultAction, FaultMatch, FaultPlan, FaultRule, Plan } from '@gpunvme/nvme-spec/transport'
import type { ControllerEvent } from '../../events/controller-event.js'
import type { Namespace } from '../../namespace/namespace.js'
import { NS_PER_MS } from '../../wait.js'
import type { DriverArea, DriverCase } from '../case.js'
import type { ControllerOptions } from '../../open-options.js'
import type { Device, DriverContext, Opened } from '../context.js'
import { check } from '../check.js'
import { checkData, clearData, fillData } from '../data.js'
import type { TransportRequest } from '../request.js'

export const MIB = 1024 * 1024
export const SECOND_NS = 1_000 * NS_PER_MS

/** Registers and values as the figures of Base 2.1 §3.1 have them, apart from what the driver itself knows of them. */
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

/** A namespace whose LBAs a fault plan can name before it is opened. */
export const KNOWN: TransportRequest = { namespaces: [{ nsid: 1, blockBytes: 512, leastBytes: 64 * MIB }] }
/** Within it, apart from the blocks that the write guard reads: it looks for backup superblocks at 24 MiB and 1 KiB beyond. */
export const KNOWN_LBA = 65_536 - 16_384 + 64

/** Reasons of `DriverCase.ownEngine`. */
export const SEES_ENGINE = "it is about an engine's entries and doorbells, and sees those of the driver's own alone"
export const DISTURBS_ENGINE = "it disturbs an engine's accesses to registers, and those of the driver's own alone"

export function area(name: string, cases: readonly DriverCase[]): DriverArea {
  return { area: name, cases }
}

export function rule(action: FaultAction, match: FaultMatch): FaultRule {
  return { match, action }
}

/** Faults of commands that the case sends itself, as a request of a transport. */
export function withFaults(...rules: readonly FaultRule[]): TransportRequest & { readonly faults: FaultPlan } {
  return { ...KNOWN, faults: { rules } }
}

/** Reads of blocks from KNOWN_LBA on: `count` of them, `first` blocks behind it. */
export function readsOf(first: number, count = 1): FaultMatch {
  return { opcode: OPCODE.READ, lba: [KNOWN_LBA + first, KNOWN_LBA + first + count - 1] }
}

export function writesOf(first: number, count = 1): FaultMatch {
  return { ...readsOf(first, count), opcode: OPCODE.WRITE }
}

/** Writes the data of `seed` to `blocks` blocks from `lba` on; gives the memory, cleared. */
export async function store({ ns, alloc, lba }: Opened, blocks: number, seed: number, at = lba): Promise<DmaMemory> {
  const memory = alloc(blocks * ns.blockBytes)
  fillData(memory, seed)
  await ns.write(at, blocks, memory)
  clearData(memory)
  return memory
}

/** Writes, reads back, compares. */
export async function roundTrip(opened: Opened, blocks: number, seed = 1, at = opened.lba): Promise<void> {
  const memory = await store(opened, blocks, seed, at)
  await opened.ns.read(at, blocks, memory)
  checkData(memory, seed)
}

/** Reads of `blocks` blocks each, one command each, side by side on the drive and in memory. */
export function readPlan(ns: Namespace, lba: number, commands: number, blocks = 1): Plan {
  return ns.planReads(
    Array.from({ length: commands }, (_, index) => ({
      slba: lba + index * blocks,
      blocks,
      offsetBytes: index * blocks * ns.blockBytes,
    })),
  )
}

/**
 * A controller whose device leaves the bus at the `nth` command, or doorbell, of its first I/O queue. It is taken away
 * at the registers; with an engine that does not pass there the device leaves by itself.
 */
export async function openLeaving(context: DriverContext, nth: number, options: ControllerOptions): Promise<Opened> {
  const removed = { kind: 'remove-device' } as const
  if (context.disturbsEngine) {
    return context.open(options, { faults: { rules: [rule(removed, { register: 'SQyTDBL', qid: 1, nth })] } })
  }
  const itself = { faults: { rules: [rule(removed, { opcode: OPCODE.READ, qid: 1, nth })] } }
  return context.open(options, undefined, await context.device({}, itself))
}

/** Runs `action`, and holds that the driver wrote no register meanwhile: nothing was submitted. */
export async function withoutAWrite(device: Device, action: () => Promise<unknown>): Promise<void> {
  const before = device.writes.length
  await action()
  check(device.writes.length === before, 'nothing is submitted, and no register is written')
}

/** Everything that happens until the sequence ends. */
export async function collect(events: AsyncIterable<ControllerEvent>): Promise<ControllerEvent[]> {
  const seen: ControllerEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}

/** The steps of recoveries and how they ended, as `abort succeeded`. */
export function stepsOf(events: readonly ControllerEvent[]): string[] {
  return events.flatMap((event) =>
    event.kind === 'recovery' && event.result !== 'begun' ? [`${event.step} ${event.result}`] : [],
  )
}

/** A controller that somebody else has enabled and left: gives back its queues' memory. */
export function enableAsAnotherHost({ transport: { bar, dma } }: Device): () => void {
  const queues = dma.alloc(8192, { contiguous: true })
  bar.write32(REGISTER.AQA, 0x0001_0001)
  bar.write64(REGISTER.ASQ, BigInt(queues.iovaAt(0)))
  bar.write64(REGISTER.ACQ, BigInt(queues.iovaAt(4096)))
  bar.write32(REGISTER.CC, 0x0046_0001)
  return () => queues.free()
}

/** Waits until CSTS.RDY is that. */
export async function untilReady({ transport: { bar, clock } }: Device, ready: 0 | 1): Promise<void> {
  const deadlineNs = clock.now() + 30 * SECOND_NS
  while ((bar.read32(REGISTER.CSTS) & 1) !== ready) {
    check(clock.now() < deadlineNs, `CSTS.RDY is ${ready} within 30 s`)
    await clock.idle(Math.min(deadlineNs, clock.now() + NS_PER_MS))
  }
}
