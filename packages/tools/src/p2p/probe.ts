import { AQA, CC, CSTS, type ErrorCategory } from '@gpunvme/nvme-spec'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** Stores from the GPU, one at a time, and no loads. */
export interface GpuStores {
  readonly store32: (offset: number, value: number) => Promise<void>
}

export interface ProbeResult {
  /** All that the GPU stored was seen by the CPU. */
  readonly arrived: boolean
  readonly stores: readonly ProbedStore[]
  /** What the register held before, and holds again. */
  readonly before: number
}

export interface ProbedStore {
  readonly value: number
  /** What the CPU read at last. */
  readonly seen: number
  readonly arrived: boolean
}

/** AQA: two sizes of 12 bits, 0's based, read and written (Base 2.1 §3.1.4.8). Nothing of it counts before CC.EN. */
const VALUES = [0x0123_0abc, 0x0edc_0543, 0x0001_0001]

/** All ones: the function does not answer. */
const GONE = 0xffff_ffff

/** How long a write may take to be seen before it is written again. */
const SETTLING_MS = 20

export interface ProbeOptions {
  readonly signal: AbortSignal
  /** How long a store may take to be seen. */
  readonly timeoutMs?: number
}

/**
 * Lets a GPU store to AQA of a controller that is disabled, and looks with the CPU whether it arrives: what doorbells
 * need. The GPU reads nothing. The register holds afterwards what it held before.
 * @throws ProbeError where the controller is enabled, or gone.
 */
export async function probeStores(bar: Bar, gpu: GpuStores, options: ProbeOptions): Promise<ProbeResult> {
  const { signal, timeoutMs = 1000 } = options
  checkPresent(bar)
  if (CC.EN.of(bar.read32(CC.offset)) === 1 || CSTS.RDY.of(bar.read32(CSTS.offset)) === 1) {
    throw new ProbeError('infeasible', 'The controller is enabled: a store to AQA would not be harmless', {
      next: { first: 'end what uses it', command: ['identify'], note: 'which brings it up and leaves it disabled' },
    })
  }
  const before = bar.read32(AQA.offset)
  const stores: ProbedStore[] = []
  try {
    for (const value of VALUES.filter((candidate) => candidate !== before)) {
      signal.throwIfAborted()
      await gpu.store32(AQA.offset, value)
      const seen = await watch(bar, value, timeoutMs, signal)
      stores.push({ value, seen, arrived: seen === value })
      if (seen !== value) break
    }
  } catch (error) {
    // What went wrong first is what is to be told.
    await putBack(bar, before, timeoutMs)
    throw error
  }
  const after = await putBack(bar, before, timeoutMs)
  checkPresent(bar)
  if (after !== before)
    throw new ProbeError('device', `AQA reads ${hex(after)} after ${hex(before)} was written back to it`, {
      next: { command: ['identify'], note: 'which resets the controller' },
    })
  return { arrived: stores.every(({ arrived }) => arrived), stores, before }
}

/** Writes until it is seen: a simulated drive may take a store of the GPU after a write of the CPU that came later. */
async function putBack(bar: Bar, before: number, timeoutMs: number): Promise<number> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    bar.write32(AQA.offset, before)
    const seen = await watch(bar, before, Math.min(timeoutMs, SETTLING_MS))
    if (seen === before || seen === GONE || performance.now() >= endMs) return seen
  }
}

async function watch(bar: Bar, wanted: number, timeoutMs: number, signal?: AbortSignal): Promise<number> {
  const endMs = performance.now() + timeoutMs
  for (;;) {
    const seen = bar.read32(AQA.offset)
    if (seen === wanted || seen === GONE || performance.now() >= endMs) return seen
    await sleep(1, undefined, { ...(signal !== undefined && { signal }) })
  }
}

function checkPresent(bar: Bar): void {
  if (bar.read32(CSTS.offset) !== GONE) return
  throw new ProbeError('device', 'The controller does not answer: every register reads ffffffffh', {
    next: { command: ['doctor'], note: 'and a power cycle if the drive has left the bus' },
  })
}

export function hex(value: number): string {
  return `${value.toString(16).padStart(8, '0')}h`
}

/** The probe cannot be made, or the drive went wrong in it. */
export class ProbeError extends ToolsError {
  readonly code = 'ERR_GPUNVME_PROBE'
  readonly category: ErrorCategory

  constructor(category: 'infeasible' | 'device' | 'not-found', message: string, details: { readonly next: NextStep }) {
    super(message, details)
    this.category = category
  }
}
