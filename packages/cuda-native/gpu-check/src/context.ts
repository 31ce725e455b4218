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
import type { DriveAddon } from './drive-addon.js'
import type { Figure } from './report.js'

export const KIB = 1024
export const MIB = 1024 * KIB
export const BLOCK_BYTES = 512
export const SERIAL = 'GPUCHECK1'

/** How much is done. Nothing in it makes a check more lenient. */
export interface Scale {
  /** Of each plan, at most; and the size of the drive. */
  readonly planBytes: number
  /** Of a run for a speed figure. */
  readonly speedCommands: number
  /** Numbers of leaders to measure. */
  readonly leaders: readonly number[]
  readonly measureRounds: number
  readonly checksumBytes: number
  /** Of loads on many queues. */
  readonly load: {
    readonly queues: number
    readonly warps: number
    readonly rounds: number
    /** Queues and warps of rates, and commands of each. */
    readonly points: readonly (readonly [queues: number, warps: number])[]
    readonly commands: number
    /** Where gnv::Device is compared with the protocol of tickets. */
    readonly comparedPoints: readonly (readonly [queues: number, warps: number])[]
  }
  /** Size of a drive that kernels read by pages or experts. */
  readonly kernelDriveBytes: number
  /** A model of experts: powers of two of them in each layer, and how many a token selects. */
  readonly model: { readonly layers: number; readonly experts: number; readonly positions: number }
  /** Of a gnv::Array on a drive without an SSD: its length, its cache, and the memory of a copy to compare it with. */
  readonly array: {
    readonly lengthBytes: number
    readonly cacheBytes: number
    readonly copyBytes: number
    readonly queues: number
    readonly blocks: number
    readonly threads: number
  }
  /** Tokens whose time is measured. */
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
    comparedPoints: [
      [1, 16],
      [8, 64],
      [32, 256],
      [128, 1024],
    ],
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
/** For a stand-in, whose threads are not many. */
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
    comparedPoints: [
      [1, 1],
      [2, 4],
    ],
  },
  ...{ kernelDriveBytes: MIB, model: { layers: 3, experts: 8, positions: 4 }, tokens: 2 },
  array: { lengthBytes: 4 * MIB, cacheBytes: 2 * MIB, copyBytes: MIB, queues: 2, blocks: 1, threads: 128 },
}

/** What checks are run with. */
export interface ContextOptions {
  readonly cuda: Cuda
  readonly device: CudaDevice
  readonly scale: Scale
  readonly kernels: KernelTexts
  readonly driveAddon?: DriveAddon | undefined
  /** A PCI function, as `0000:0b:00.0`, that is an NVMe controller without a driver, for IOMEMORY alone. */
  readonly nvmeFunction?: string | undefined
  /** Whether a doorbell of it may be rung. */
  readonly ring?: boolean
}

/** A drive on a thread of its own. */
export interface Drive {
  readonly simulator: RealTimeSimulator
  readonly transport: Transport
  /** What it has its registers, and the driver its queues and data in. */
  readonly memory: NativeRegion
  /** The file that holds what is on it. */
  readonly mediaPath: string
  /** What is on it now, past the controller. */
  readonly stored: () => Uint8Array
}

/** The driver on a drive. */
export interface OpenedDrive {
  readonly controller: Controller<WritableNamespace>
  readonly namespace: WritableNamespace
  /** Resolves when the controller is closed, and all that happened to it is among `recoveries`. */
  readonly watched: Promise<void>
}

/** What a check works with. Everything that it makes is undone for it, in reverse. */
export class CheckContext {
  readonly cuda: Cuda
  readonly device: CudaDevice
  readonly scale: Scale
  readonly kernels: KernelTexts
  readonly driveAddon: DriveAddon | undefined
  readonly nvmeFunction: string | undefined
  readonly ring: boolean
  readonly figures: Figure[] = []
  readonly host = loadHardwareHost()
  /** What the driver had to do because commands got no answer: none, unless a check provokes it. */
  readonly recoveries: string[] = []
  private readonly undo: (() => unknown)[] = []

  constructor(options: ContextOptions) {
    this.cuda = options.cuda
    this.device = options.device
    this.scale = options.scale
    this.kernels = options.kernels
    this.driveAddon = options.driveAddon
    this.nvmeFunction = options.nvmeFunction
    this.ring = options.ring === true
  }

  /** To be done when the check has ended, before what was asked for earlier. */
  later(action: () => unknown): void {
    this.undo.push(action)
  }

  figure(figure: Figure): void {
    this.figures.push(figure)
  }

  /** Memory of the process that is locked and in place. */
  allocate(lengthBytes: number): NativeRegion {
    const region = this.host.allocate(lengthBytes, 4096)
    this.later(() => region.unmap())
    return region
  }

  /**
   * A simulated drive in native memory that holds `media` in a file; `memoryBytes` are for queues and data. It sleeps
   * where nobody asks for anything, unless times are measured with it.
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
      idle: sleeps ? { longestSleepNs: 1_000_000 } : { spinPolls: 1_000_000 },
      ...(faults !== undefined && { faults }),
    })
    this.later(() => simulator.close())
    return { simulator, transport: simulator.transport, memory, mediaPath: path, stored: () => readFileSync(path) }
  }

  /** The engine of this check. */
  engine(transport: Transport, options?: CudaEngineOptions): KernelEngine {
    return cudaEngine(transport, this.cuda, options)
  }

  /** The driver on a drive, for writing; closed with the check where it is not closed before. */
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

  /** Undoes everything, and says what could not be. */
  async release(): Promise<unknown[]> {
    const errors: unknown[] = []
    for (const action of this.undo.splice(0).reverse()) {
      try {
        await action()
      } catch (error) {
        errors.push(error)
      }
    }
    return errors
  }
}
