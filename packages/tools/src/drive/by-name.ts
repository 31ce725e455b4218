import { cpuKernelEngine, EngineUnsuitableError } from '@gpunvme/cuda-native'
import { cudaEngine, openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { HostEngine } from '@gpunvme/host-driver'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { UsageError } from '../command-line/usage-error.js'
import type { HardwareOptions } from './hardware-transport.js'
import type { HarmlessTransport, OpenedTransport } from './opened-transport.js'
import type { QtestOptions } from './qtest-transport.js'
import { openSim, type SimOptions } from './sim-transport.js'
import { TRANSPORTS } from './transport-names.js'
import type { VfioUserOptions } from './vfio-user-transport.js'

export type EngineName = 'host' | 'cpu-kernel' | 'cuda'

const ENGINES: readonly EngineName[] = ['host', 'cpu-kernel', 'cuda']

/** The GPU of engines that were made here: one is enough, and it goes with the program. */
let gpu: Cuda | undefined

/**
 * Opens a controller by the name of its transport: a simulated drive in this process, QEMU's own controller, a drive on
 * this machine's bus that no kernel driver has (sysfs), that vfio-pci has (vfio), or that our module has (kmod), or one that
 * another program serves over a socket (vfio-user). Close it after use.
 * @throws UsageError for a name that means nothing; ImageFileError, UnknownProfileError; of drives on the bus and of those
 *   that are served whatever `openSysfs`, `openVfio`, `openKmod` and `openVfioUser` of host-driver throw, and
 *   NativeAddonError where the addon is not built that they need.
 */
export function openTransport(name: 'sim', options?: SimOptions): Promise<HarmlessTransport>
export function openTransport(name: 'qtest', options?: QtestOptions): Promise<HarmlessTransport>
export function openTransport(name: 'sysfs' | 'vfio' | 'kmod', options: HardwareOptions): Promise<OpenedTransport>
export function openTransport(name: 'vfio-user', options: VfioUserOptions): Promise<OpenedTransport>
export async function openTransport(name: string, options: object = {}): Promise<OpenedTransport> {
  // Modules of one transport are loaded when it is called for.
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
      // Callers without types, and command lines, bring other names.
      throw refusal('transport', name, TRANSPORTS)
  }
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
      throw refusal('engine', name, ENGINES)
  }
}

function refusal(kind: string, name: string, available: readonly string[]): UsageError {
  return new UsageError(`Unknown ${kind} '${name}'`, {
    facts: [`available: ${available.join(', ')}`],
    next: `--${kind} ${available[0]!}`,
  })
}
