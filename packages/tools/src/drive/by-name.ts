import { cpuKernelEngine, EngineUnsuitableError } from '@gpunvme/cuda-native'
import { cudaEngine, openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { HostEngine } from '@gpunvme/host-driver'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { UsageError } from '../command-line/tools-error.js'
import type { HardwareOptions } from './hardware-transport.js'
import type { SimulatedTransport, OpenedTransport } from './opened-transport.js'
import type { QtestOptions } from './qtest-transport.js'
import { openSim, type SimOptions } from './sim-transport.js'
import { TRANSPORTS } from './transport-names.js'
import type { VfioUserOptions } from './vfio-user-transport.js'

/** Names of engines. */
export type EngineName = 'host' | 'cpu-kernel' | 'cuda'

const ENGINES: readonly EngineName[] = ['host', 'cpu-kernel', 'cuda']

/** GPU of the engines created here: shared, and open until the program ends. */
let gpu: Cuda | undefined

/**
 * Opens a controller by the name of its transport: a simulated drive in this process (sim), QEMU's controller (qtest),
 * a drive on this machine's bus without a kernel driver (sysfs), bound to vfio-pci (vfio) or to the module gpunvme
 * (kmod), or one served by another program over a socket (vfio-user). Close it after use.
 * @throws UsageError for an unknown name; ImageFileError, ImageInUseError, UnknownProfileError; errors of `openSysfs`,
 * `openVfio`, `openKmod` and `openVfioUser` of host-driver; NativeAddonError if a required addon is not built.
 */
export function openTransport(name: 'sim', options?: SimOptions): Promise<SimulatedTransport>
export function openTransport(name: 'qtest', options?: QtestOptions): Promise<SimulatedTransport>
export function openTransport(name: 'sysfs' | 'vfio' | 'kmod', options: HardwareOptions): Promise<OpenedTransport>
export function openTransport(name: 'vfio-user', options: VfioUserOptions): Promise<OpenedTransport>
export async function openTransport(name: string, options: object = {}): Promise<OpenedTransport> {
  // The modules of a transport are loaded on demand.
  switch (name) {
    case 'sim':
      return openSim(options)
    case 'qtest':
      return (await import('./qtest-transport.js')).openQtest(options)
    case 'sysfs':
    case 'vfio':
    case 'kmod':
      return (await import('./hardware-transport.js')).openHardware(name, options as HardwareOptions)
    case 'vfio-user':
      return (await import('./vfio-user-transport.js')).openServed(options as VfioUserOptions)
    default:
      // Untyped callers and command lines may pass other names.
      throw refusal('transport', name, TRANSPORTS)
  }
}

/**
 * Creates an engine by name: `host` supports all transports; `cpu-kernel` and `cuda` those with memory-mapped
 * registers, as on hardware. Pass it to `Controller.open(transport, { engine })`. The first GPU is opened for `cuda`,
 * and stays open until the program ends; for other settings, use `cudaEngine` of `@gpunvme/cuda-native/cuda`.
 * @throws EngineUnsuitableError for an unsupported transport; NativeAddonError if the addon is not built;
 * CudaUnavailableError without a usable GPU; UsageError for an unknown name.
 */
export function openEngine(name: EngineName, transport: Transport): Engine {
  switch (name) {
    case 'host':
      return new HostEngine(transport)
    case 'cpu-kernel':
      return cpuKernelEngine(transport)
    case 'cuda':
      // Checked before a GPU is opened.
      if (transport.bar.window === undefined) throw new EngineUnsuitableError(name, transport.name)
      return cudaEngine(transport, (gpu ??= openCuda()))
    default:
      // Untyped callers and command lines may pass other names.
      throw refusal('engine', name, ENGINES)
  }
}

/** @throws UsageError for an unknown name */
export function requireTransport(name: string): void {
  if (!(TRANSPORTS as readonly string[]).includes(name)) throw refusal('transport', name, TRANSPORTS)
}

function refusal(kind: string, name: string, available: readonly string[]): UsageError {
  return new UsageError(`Unknown ${kind} '${name}'`, {
    facts: [`available: ${available.join(', ')}`],
    next: `use --${kind} ${available[0]!}`,
  })
}
