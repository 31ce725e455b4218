import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CudaDevice, KernelEngine } from '@gpunvme/cuda-native'
import { cudaEngine, type Cuda, type CudaEngineOptions } from '@gpunvme/cuda-native/cuda'
import { loadHardwareHost, nativeHostModule } from '@gpunvme/cuda-native/host'
import { Controller, type ControllerOptions, type WritableNamespace } from '@gpunvme/host-driver'
import { deriveProfile } from '@gpunvme/nvme-sim'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import type { Engine, FaultPlan, NativeRegion, Transport } from '@gpunvme/nvme-spec/transport'
import type { KernelTexts } from './kernels.js'
import { NotApplicable } from './check.js'
import type { DriveAddon } from './drive-addon.js'
import type { Figure } from './report.js'
import { Scope } from './scope.js'

export const KIB = 1024
export const MIB = 1024 * KIB
export const BLOCK_BYTES = 512
export const SERIAL = 'GPUCHECK1'

/** Amount of work. No value makes a check more lenient. */
export interface Scale {
  /** Maximum size of a plan, and size of the drive. */
  readonly planBytes: number
  /** Commands of a run for a speed figure. */
  readonly speedCommands: number
  /** Numbers of leaders to measure. */
  readonly leaders: readonly number[]
  readonly measureRounds: number
  readonly checksumBytes: number
  /** Loads on many queues. */
  readonly load: {
    readonly queues: number
    readonly warps: number
    readonly rounds: number
    /** Queues and warps of each rate that is measured. */
    readonly points: readonly (readonly [queues: number, warps: number])[]
    /** Commands of each rate. */
    readonly commands: number
    /** Numbers of queues, of `points`, on which gnv::Device is compared with the ticket protocol, and commands of each rate. */
    readonly comparedQueues: readonly number[]
    readonly comparedCommands: number
    /** Time limit of commands that the drive may lose. Longer than any pause of the server. */
    readonly lossTimeoutNs: number
  }
  /** Size of a drive from which kernels read pages or experts. */
  readonly kernelDriveBytes: number
  /** A model of experts: layers, experts per layer (a power of two), and experts that a token selects per layer. */
  readonly model: { readonly layers: number; readonly experts: number; readonly positions: number }
  /** A gnv::Array on a drive that a kernel serves: its length, its cache, and the size of a copy for comparison. */
  readonly array: {
    readonly lengthBytes: number
    readonly cacheBytes: number
    readonly copyBytes: number
    readonly queues: number
    readonly blocks: number
    readonly threads: number
  }
  /** Number of tokens whose time is measured. */
  readonly tokens: number
}

const QUEUES = [1, 2, 4, 8, 16, 32, 64, 128]
const WARPS = [1, 4, 16, 64, 256, 1024]

export const FULL: Scale = {
  planBytes: 288 * MIB,
  speedCommands: 200_000,
  leaders: [1, 2, 4, 8, 16, 32],
  measureRounds: 2000,
  checksumBytes: 256 * MIB,
  load: {
    ...{ queues: 8, warps: 256, rounds: 16, commands: 1 << 21 },
    points: QUEUES.flatMap((queues) =>
      WARPS.filter((warps) => warps >= queues).map((warps) => [queues, warps] as const),
    ),
    ...{ comparedQueues: [1, 8, 32, 128], comparedCommands: 1 << 19, lossTimeoutNs: 100_000_000 },
  },
  kernelDriveBytes: 64 * MIB,
  model: { layers: 48, experts: 256, positions: 8 },
  array: {
    lengthBytes: 8192 * MIB,
    cacheBytes: 1024 * MIB,
    copyBytes: 256 * MIB,
    queues: 64,
    blocks: 128,
    threads: 256,
  },
  tokens: 15,
}
/** Amount of work for a stand-in, which has few threads. */
export const QUICK: Scale = {
  ...{ planBytes: 2 * MIB, speedCommands: 2000, leaders: [1, 2], measureRounds: 20 },
  checksumBytes: 192 * KIB,
  load: {
    queues: 2,
    warps: 4,
    rounds: 3,
    commands: 512,
    points: [
      [1, 1],
      [2, 4],
    ],
    ...{ comparedQueues: [1, 2], comparedCommands: 512, lossTimeoutNs: 2_000_000_000 },
  },
  ...{ kernelDriveBytes: MIB, model: { layers: 3, experts: 8, positions: 4 }, tokens: 2 },
  array: { lengthBytes: 4 * MIB, cacheBytes: 2 * MIB, copyBytes: MIB, queues: 2, blocks: 1, threads: 128 },
}

/** Options of a check's context. */
export interface ContextOptions {
  readonly cuda: Cuda
  readonly device: CudaDevice
  readonly scale: Scale
  readonly kernels: KernelTexts
  readonly driveAddon?: DriveAddon | undefined
  /** PCI function of an NVMe controller, such as `0000:0b:00.0`, whose registers checks may register with the GPU. */
  readonly nvmeFunction?: string | undefined
  /** Whether a check may ring a doorbell of that controller. */
  readonly ring?: boolean
}

/** A simulated drive that runs on its own thread. */
export interface Drive {
  readonly simulator: RealTimeSimulator
  readonly transport: Transport
  /** Memory for the drive's registers, and for queues and data of the driver. */
  readonly memory: NativeRegion
  /** Path of the file that backs the drive. */
  readonly mediaPath: string
  /** Reads the drive's content from that file, without the controller. */
  readonly stored: () => Uint8Array
}

/** A drive that the driver has opened. */
export interface OpenedDrive {
  readonly controller: Controller<WritableNamespace>
  readonly namespace: WritableNamespace
  /** Resolves when the controller is closed and all its events are in `recoveries`. */
  readonly watched: Promise<void>
}

/** Returns the addon gpunvme_drive. @throws NotApplicable if it was not built. */
export function driveAddonOf({ driveAddon }: CheckContext): DriveAddon {
  if (driveAddon === undefined) throw new NotApplicable('the addon gpunvme_drive was not built')
  return driveAddon
}

/** Resources for one check: a scope that ends with the check. */
export class CheckContext extends Scope {
  readonly cuda: Cuda
  readonly device: CudaDevice
  readonly scale: Scale
  readonly kernels: KernelTexts
  readonly driveAddon: DriveAddon | undefined
  readonly nvmeFunction: string | undefined
  readonly ring: boolean
  readonly figures: Figure[] = []
  readonly host = loadHardwareHost()
  /** Recovery steps of the driver after commands timed out. Empty, unless the check injects faults. */
  readonly recoveries: string[] = []

  constructor(options: ContextOptions) {
    super()
    this.cuda = options.cuda
    this.device = options.device
    this.scale = options.scale
    this.kernels = options.kernels
    this.driveAddon = options.driveAddon
    this.nvmeFunction = options.nvmeFunction
    this.ring = options.ring === true
  }

  figure(figure: Figure): void {
    this.figures.push(figure)
  }

  /** Allocates locked, resident memory of this process. */
  allocate(lengthBytes: number): NativeRegion {
    const region = this.host.allocate(lengthBytes, 4096)
    this.later(() => region.unmap())
    return region
  }

  /**
   * Starts a simulated drive in native memory, backed by a file with `media`. `memoryBytes` is the size of the memory for
   * queues and data. With `sleeps`, an idle drive sleeps, which would distort measured times.
   */
  async drive(media: Uint8Array, memoryBytes: number, faults?: FaultPlan, sleeps = true): Promise<Drive> {
    const folder = mkdtempSync(join(tmpdir(), 'gpunvme-gpu-check-'))
    this.later(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'media')
    writeFileSync(path, media)
    const memory = this.allocate(memoryBytes)
    const { address, lengthBytes } = memory
    const simulator = await startRealTimeSimulator({
      ...{ module: nativeHostModule, address, lengthBytes },
      profile: deriveProfile('ideal', { identify: { SN: SERIAL } }),
      namespaces: [{ file: { path } }],
      idle: sleeps ? { maxSleepNs: 1_000_000 } : { spinPolls: 1_000_000 },
      ...(faults !== undefined && { faults }),
    })
    this.later(() => simulator.close())
    return { simulator, transport: simulator.transport, memory, mediaPath: path, stored: () => readFileSync(path) }
  }

  /** Creates an engine `cuda` on the GPU of this check. */
  engine(transport: Transport, options?: CudaEngineOptions): KernelEngine {
    return cudaEngine(transport, this.cuda, options)
  }

  /** Opens a drive for reading and writing. The end of the check closes it if it is still open. */
  async open(
    { transport }: Drive,
    options: ControllerOptions,
    engine: Engine = this.engine(transport),
  ): Promise<OpenedDrive> {
    const controller = await Controller.open(transport, { ...options, engine, write: { serial: SERIAL } })
    this.later(() => controller.close())
    const watched = this.watch(controller)
    return { controller, namespace: controller.namespace(1), watched }
  }

  private async watch(controller: Controller): Promise<void> {
    for await (const event of controller.events()) {
      if (event.kind === 'recovery' && event.result !== 'begun') this.recoveries.push(`${event.step} ${event.result}`)
      if (event.kind === 'lost') this.recoveries.push('lost')
    }
  }
}
