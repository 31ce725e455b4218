import { AQA, CC, CSTS, type ErrorCategory } from '@gpunvme/nvme-spec'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** Writes by the GPU, one at a time, without reads. */
export interface GpuStores {
  readonly store32: (offset: number, value: number) => Promise<void>
}

export interface ProbeResult {
  /** Whether the CPU saw all values written by the GPU. */
  readonly arrived: boolean
  readonly stores: readonly ProbedStore[]
  /** Register value before the probe, restored afterwards. */
  readonly before: number
}

export interface ProbedStore {
  readonly value: number
  /** Last value read by the CPU. */
  readonly seen: number
  readonly arrived: boolean
}

/** AQA: two 0's based sizes of 12 bits, readable and writable (Base 2.1 §3.1.4.8). It has no effect before CC.EN. */
const VALUES = [0x0123_0abc, 0x0edc_0543, 0x0001_0001]

/** All ones: the function does not respond. */
const GONE = 0xffff_ffff

/** Time until a write is repeated. */
const SETTLING_MS = 20

export interface ProbeOptions {
  readonly signal: AbortSignal
  /** Time limit for a write to become visible. */
  readonly timeoutMs?: number
}

/**
 * Lets a GPU write to AQA of a disabled controller, and checks with the CPU whether the writes arrive, as doorbells
 * require. The GPU reads nothing. The register is restored.
 * @throws ToolsError (PROBE) if the controller is enabled or gone.
 */
export async function probeStores(bar: Bar, gpu: GpuStores, options: ProbeOptions): Promise<ProbeResult> {
  const { signal, timeoutMs = 1000 } = options
  checkPresent(bar)
  if (CC.EN.of(bar.read32(CC.offset)) === 1 || CSTS.RDY.of(bar.read32(CSTS.offset)) === 1) {
    throw probeError('infeasible', 'The controller is enabled, so AQA must not be written', {
      next: {
        first: 'end programs that use it',
        command: ['nvme', 'identify', '--drive', 'ADDRESS'],
        note: 'which leaves it disabled',
      },
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
    // The first error is reported.
    await putBack(bar, before, timeoutMs)
    throw error
  }
  const after = await putBack(bar, before, timeoutMs)
  checkPresent(bar)
  if (after !== before)
    throw probeError('device', `AQA reads ${hex(after)} after ${hex(before)} was restored`, {
      next: { command: ['nvme', 'identify', '--drive', 'ADDRESS'], note: 'which resets the controller' },
    })
  return { arrived: stores.every(({ arrived }) => arrived), stores, before }
}

/**
 * Repeats the write until it is visible: a simulated drive may process an earlier write of the GPU after a later one of
 * the CPU.
 */
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
  throw probeError('device', 'The controller does not respond: all registers read ffffffffh', {
    next: { command: ['doctor'], note: 'then power-cycle the drive if it has left the bus' },
  })
}

export function hex(value: number): string {
  return `${value.toString(16).padStart(8, '0')}h`
}

/** Error of a probe that is not possible, or during which the drive failed. */
export function probeError(
  category: ErrorCategory,
  headline: string,
  details: { readonly next: NextStep },
): ToolsError {
  return new ToolsError('ERR_GPUNVME_PROBE', category, headline, details)
}
