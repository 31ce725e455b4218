import type { Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, checkTransport, fit, timeoutOrNever } from '../arguments.js'
import { loadAddon } from '../host/addon.js'
import type { EngineAddon } from './engine-addon.js'
import { KernelEngine } from './kernel-engine.js'
import { EngineUnsuitableError } from './unsuitable.js'

/** How long a thread polls for another plan before it sleeps: longer than a program takes to send the next. */
const LINGER_NS = 100_000

/** How a kernel engine is made; what is not given is as the engine is meant to be used. */
export interface KernelEngineOptions {
  /**
   * How long a leader that has nothing to do polls for the next plan before it ends, in nanoseconds. Infinity is the
   * persistent kernel, which ends at `detach`: on a GPU only where nothing else in the process uses its primary context,
   * since a call that waits for all kernels would wait for ever.
   */
  readonly lingerNs?: number
  /**
   * For tests: its first word counts nanoseconds, by which time-outs are measured then, so that nobody waits for one. In
   * memory that stays where it is and that leaders reach, as `allocate` of `loadHardwareHost` gives. The clock of whoever
   * runs the device code when not given.
   */
  readonly clock?: BigUint64Array
  /**
   * For how many ticks in a row, of 10 ms, a leader with plans may give no sign of life, its first one included, before
   * the engine has failed; 1000 when not given.
   */
  readonly silentTicks?: number
}

/** Of the options that both engines have. */
export const kernelEngineChecks = {
  lingerNs: timeoutOrNever,
  clock: fit('a BigUint64Array of a word', (value) => value instanceof BigUint64Array && value.length > 0),
  silentTicks: fit('a whole number of ticks from 0 on', (value) => Number.isSafeInteger(value) && Number(value) >= 0),
}

/** 2^53 - 1 ns are a hundred days. */
export function lingerNsOf({ lingerNs }: KernelEngineOptions, otherwise: number): number {
  return Math.min(lingerNs ?? otherwise, Number.MAX_SAFE_INTEGER)
}

/** Where the clock's word is; 0n for none. */
export function clockAddress({ viewAddress }: EngineAddon, { clock }: KernelEngineOptions): bigint {
  return clock === undefined ? 0n : viewAddress(new Uint8Array(clock.buffer, clock.byteOffset, clock.byteLength))
}

/**
 * The engine `cpu-kernel`: the device code, compiled for the CPU, on a thread for each completion queue. It does what
 * the engine `cuda` does on a GPU, wherever the addon is.
 * @throws EngineUnsuitableError for a transport whose registers native code cannot reach; NativeAddonError; TypeError,
 *   RangeError for wrong arguments.
 */
export function cpuKernelEngine(
  transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
  options: KernelEngineOptions = {},
): KernelEngine {
  checkTransport(transport)
  checkOptions('cpuKernelEngine', options, kernelEngineChecks)
  // Before what would have to be built for it.
  if (transport.bar.window === undefined) throw new EngineUnsuitableError('cpu-kernel', transport.name)
  const addon = loadAddon()
  const native = { lingerNs: lingerNsOf(options, LINGER_NS), runLimitNs: 0, clock: clockAddress(addon, options) }
  return new KernelEngine(transport, {
    name: 'cpu-kernel',
    addon,
    takesGpuPointers: false,
    ...(options.silentTicks !== undefined && { silentTicks: options.silentTicks }),
    create: (onWake) => addon.createEngine(native, onWake),
  })
}
