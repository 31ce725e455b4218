import type { Transport } from '@gpunvme/nvme-spec/transport'
import { loadAddon } from '../host/addon.js'
import { KernelEngine } from './kernel-engine.js'
import { EngineUnsuitableError } from './unsuitable.js'

/** How long a thread polls for another plan before it sleeps: longer than a program takes to send the next. */
const LINGER_NS = 100_000

/** How a kernel engine is made; what is not given is as the engine is meant to be used. */
export interface KernelEngineOptions {
  /**
   * How long a leader that has nothing to do polls for the next plan before it ends, in nanoseconds. Infinity is the
   * persistent kernel, which ends at `detach`.
   */
  readonly lingerNs?: number
  /**
   * The address of a word of 64 bits that counts nanoseconds: time-outs are measured by it, so that a test waits for
   * none. The clock of whoever runs the device code when not given.
   */
  readonly clock?: bigint
  /**
   * For how many ticks in a row, of 10 ms, a leader with plans may give no sign of life, its first one included, before
   * the engine has failed; 1000 when not given.
   */
  readonly silentTicks?: number
}

/** 2^53 - 1 ns are a hundred days. */
export function lingerNsOf({ lingerNs }: KernelEngineOptions, otherwise: number): number {
  if (lingerNs === undefined) return otherwise
  if (lingerNs === Infinity) return Number.MAX_SAFE_INTEGER
  if (Number.isSafeInteger(lingerNs) && lingerNs >= 0) return lingerNs
  throw new RangeError(`lingerNs: expected whole nanoseconds from 0 on or Infinity, got ${lingerNs}`)
}

/**
 * The engine `cpu-kernel`: the device code, compiled for the CPU, on a thread for each completion queue. It does what
 * the engine `cuda` does on a GPU, wherever the addon is.
 * @throws EngineUnsuitableError for a transport whose registers native code cannot reach; NativeAddonError.
 */
export function cpuKernelEngine(
  transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
  options: KernelEngineOptions = {},
): KernelEngine {
  const native = { lingerNs: lingerNsOf(options, LINGER_NS), runLimitNs: 0, clock: options.clock ?? 0n }
  // Before what would have to be built for it.
  if (transport.bar.window === undefined) throw new EngineUnsuitableError('cpu-kernel', transport.name)
  const addon = loadAddon()
  return new KernelEngine(transport, {
    name: 'cpu-kernel',
    addon,
    takesGpuPointers: false,
    ...(options.silentTicks !== undefined && { silentTicks: options.silentTicks }),
    create: (onWake) => addon.createEngine(native, onWake),
  })
}
