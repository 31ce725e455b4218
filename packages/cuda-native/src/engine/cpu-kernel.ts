import type { Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, checkTransport, fit, timeoutOrNever } from '../arguments.js'
import { loadAddon } from '../host/addon.js'
import type { EngineAddon } from './engine-addon.js'
import { KernelEngine } from './kernel-engine.js'
import { EngineUnsuitableError } from './unsuitable.js'

/** Time that a thread polls for another plan before it sleeps: longer than a program takes to post the next. */
const LINGER_NS = 100_000

/** Options of `cpuKernelEngine`. */
export interface KernelEngineOptions {
  /**
   * Time in nanoseconds that a thread or kernel without work polls for the next plan before it ends. Infinity makes it
   * persistent until `detach`. On a GPU, use Infinity only if nothing else in the process uses its primary context: a call
   * that waits for all kernels would never return. Default: 100,000 for `cpu-kernel`, 200,000 for `cuda`.
   */
  readonly lingerNs?: number
  /**
   * Clock for time-outs, for tests: its first word counts nanoseconds. It must be in memory that does not move and that the
   * device code can access, as `allocate` of `loadHardwareHost` returns. Default: the clock of the GPU or the CPU.
   */
  readonly clock?: BigUint64Array
  /**
   * Number of 10 ms ticks that a thread or kernel with plans may show no progress before the engine fails. Default: 1000.
   */
  readonly stallTicks?: number
}

/** Checks of the options that both engines have. */
export const kernelEngineChecks = {
  lingerNs: timeoutOrNever,
  clock: fit('a BigUint64Array with at least one element', (value) =>
    value instanceof BigUint64Array && value.length > 0),
  stallTicks: fit('a whole number of ticks, 0 or more', (value) => Number.isSafeInteger(value) && Number(value) >= 0),
}

/** Returns the linger time; 2^53 - 1 ns, a hundred days, stands for Infinity. */
export function lingerNsOf({ lingerNs }: KernelEngineOptions, otherwise: number): number {
  return Math.min(lingerNs ?? otherwise, Number.MAX_SAFE_INTEGER)
}

/** Returns the address of the clock's word; 0n for none. */
export function clockAddress({ viewAddress }: EngineAddon, { clock }: KernelEngineOptions): bigint {
  return clock === undefined ? 0n : viewAddress(new Uint8Array(clock.buffer, clock.byteOffset, clock.byteLength))
}

/**
 * Creates the engine `cpu-kernel`: the device code, compiled for the CPU, on one thread per queue. It does on threads
 * what the engine `cuda` does on a GPU.
 * @throws EngineUnsuitableError if native code cannot access the transport's registers; NativeAddonError; TypeError or
 *   RangeError for invalid arguments.
 */
export function cpuKernelEngine(
  transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
  options: KernelEngineOptions = {},
): KernelEngine {
  checkTransport(transport)
  checkOptions('cpuKernelEngine', options, kernelEngineChecks)
  // Checked before the addon is loaded, which may not be built.
  if (transport.bar.window === undefined) throw new EngineUnsuitableError('cpu-kernel', transport.name)
  const addon = loadAddon()
  const native = {
    ...{ lingerNs: lingerNsOf(options, LINGER_NS), runLimitNs: 0, clock: clockAddress(addon, options) },
    forwardsDoorbells: false,
  }
  return new KernelEngine(transport, {
    name: 'cpu-kernel',
    addon,
    takesGpuPointers: false,
    ...(options.stallTicks !== undefined && { stallTicks: options.stallTicks }),
    create: (onWake) => addon.createEngine(native, onWake),
  })
}
