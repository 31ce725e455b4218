import { cpuKernelEngine, EngineUnsuitableError } from '@gpunvme/cuda-native'
import { cudaEngine, openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { HostEngine } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { openSim, type SimOptions } from './drive/sim-transport.js'
import { UsageError } from './command-line/usage-error.js'

export { ImageFileError } from './drive/image-file.js'
export { UnknownProfileError, type SimOptions } from './drive/sim-transport.js'
export { UsageError } from './command-line/usage-error.js'

/** A transport, and what is known about the machine behind it. */
export interface OpenedTransport {
  readonly transport: Transport
  /** What the transport's clock counts. Never add up, or compare, a modelled time and a wall time. */
  readonly time: 'modelled'
  /** The controller's link, where there is one: the denominator of a rate. */
  readonly link: Link | undefined
  /** The controller's serial number, where writing to it can destroy nothing that is not meant: on a simulated drive. */
  readonly serial: string
  /** Why the machine that simulates the drive could not serve it, such as a full disk: the drive knows no such reasons. */
  readonly hostError: () => GpuNvmeError | undefined
  /** After the controller on it is closed. */
  readonly close: () => Promise<void>
}

/** What can be opened, and with which options. */
export interface TransportOptions {
  readonly sim: SimOptions
}

export type TransportName = keyof TransportOptions
export type EngineName = 'host' | 'cpu-kernel' | 'cuda'

const OTHER_TRANSPORTS = ['qtest', 'sysfs', 'vfio', 'kmod', 'vfio-user']
/** Those of them that programs have already, by an entry of host-driver's own. */
const ENTRIES: ReadonlyMap<string, string> = new Map([
  ['qtest', "startQemu() of '@gpunvme/host-driver/qtest'"],
  ['sysfs', "openSysfs() of '@gpunvme/host-driver/sysfs'"],
  ['vfio', "openVfio() of '@gpunvme/host-driver/vfio'"],
  ['kmod', "openKmod() of '@gpunvme/host-driver/kmod'"],
])

/** The GPU of engines that were made here: one is enough, and it goes with the program. */
let gpu: Cuda | undefined

/**
 * Opens a controller by the name of its transport. Close it after use.
 * @throws NotAvailableError for a transport that is planned; UsageError for a name that means nothing; ImageFileError,
 * UnknownProfileError.
 */
export async function openTransport<N extends TransportName>(
  name: N,
  options: TransportOptions[N] = {},
): Promise<OpenedTransport> {
  // Callers without types, and command lines, bring other names.
  if ((name as string) === 'sim') return openSim(options)
  const entry = ENTRIES.get(name)
  const reasons = entry === undefined ? [] : [`programs open it themselves: ${entry}`]
  throw refusal('transport', name, ['sim'], OTHER_TRANSPORTS, reasons)
}

/**
 * Makes the engine of that name: `host` drives every transport; `cpu-kernel` and `cuda` those whose registers are memory,
 * as on hardware. `Controller.open(transport, { engine })` gives it its queues. The first GPU is opened for `cuda`, and
 * stays open until the program ends; programs with wishes of their own call `cudaEngine` of `@gpunvme/cuda-native/cuda`.
 * @throws EngineUnsuitableError for a transport that it cannot drive; NativeAddonError where the addon is not built;
 * CudaUnavailableError where there is no GPU that could be used; UsageError for a name that means nothing.
 */
export function openEngine(name: EngineName, transport: Transport): Engine {
  switch (name) {
    case 'host':
      return new HostEngine(transport)
    case 'cpu-kernel':
      return cpuKernelEngine(transport)
    case 'cuda':
      // Before a GPU is opened for it.
      if (transport.bar.window === undefined) throw new EngineUnsuitableError(name, transport.name)
      return cudaEngine(transport, (gpu ??= openCuda()))
    default:
      // Callers without types, and command lines, bring other names.
      throw refusal('engine', name, ['host', 'cpu-kernel', 'cuda'], [], [])
  }
}

function refusal(kind: string, name: string, available: string[], planned: string[], reasons: string[]): GpuNvmeError {
  if (planned.includes(name)) return new NotAvailableError(kind, name, available, reasons)
  return new UsageError(`Unknown ${kind} '${name}'`, {
    facts: [`available: ${available.join(', ')}`, ...(planned.length > 0 ? [`planned: ${planned.join(', ')}`] : [])],
    next: `--${kind} ${available[0]!}`,
  })
}

/** A transport or an engine that this version knows by name and does not contain. */
export class NotAvailableError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NOT_AVAILABLE'
  readonly category = 'infeasible'
  constructor(kind: string, name: string, available: readonly string[], reasons: readonly string[]) {
    super(`The ${kind} '${name}' is not available yet`, {
      facts: [...reasons, `available: ${available.join(', ')}`],
      next: `--${kind} ${available[0]!}`,
    })
  }
}
