import { Controller, type ControllerOptions, type WritableNamespace } from '@gpunvme/host-driver'
import { deriveProfile } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, Transport } from '@gpunvme/nvme-spec/transport'
import { expect, onTestFinished } from 'vitest'
import {
  deviceOutcome,
  deviceQueues,
  openCuda,
  type Cuda,
  type DeviceQueues,
  type GpuDevice,
  type LendingEngine,
  type LendingEngineOptions,
} from '../src/cuda/index.js'
import { startDrive, type RealTimeDrive } from './real-time-drives.js'
import { scratchFile } from './scratch-file.js'
import { NOTHING, type Standin } from './standin/standin.js'

export const SERIAL = 'LENDSQUEUES'
/** Blocks of a drive. */
const BLOCKS = 256
/** Threads of a kernel: two warps, one for each queue. */
export const THREADS = 64
export const SHAPE = { queues: 2, queueDepth: 48 } as const
/** Opcode of Read in the NVM Command Set. */
export const READ = 2

/** How a drive is opened; each has a default. */
interface DriveSettings {
  /** Determines the content. */
  readonly seed?: number
  readonly options?: ControllerOptions
  /** A fault of one read. */
  readonly fault?: { readonly match: FaultMatch; readonly action: FaultAction }
  readonly engineOptions?: LendingEngineOptions
  /** Bytes to put at the start of the drive. */
  readonly first?: Uint8Array
  /** Wraps the transport for the controller. */
  readonly wrap?: (transport: Transport) => Transport
}

/** A simulated drive whose controller lends its queues. */
export interface LendingDrive {
  readonly drive: RealTimeDrive
  readonly engine: LendingEngine
  readonly controller: Controller<WritableNamespace>
  readonly namespace: WritableNamespace
  readonly content: Uint8Array
}

/** Opens a drive, and closes it after the test. */
export async function openDrive(queues: DeviceQueues, settings: DriveSettings = {}): Promise<LendingDrive> {
  const {
    seed = 1,
    options = SHAPE,
    fault,
    engineOptions,
    first = new Uint8Array(),
    wrap = (same: Transport) => same,
  } = settings
  const content = Uint8Array.from({ length: BLOCKS * 512 }, (_, at) => (at * 31 * seed) ^ (at >>> 9))
  content.set(first)
  const file = scratchFile(content)
  onTestFinished(() => file[Symbol.dispose]())
  const faults = fault && { faults: { rules: [{ ...fault, match: { opcode: READ, times: 1, ...fault.match } }] } }
  const profile = deriveProfile('ideal', { identify: { SN: SERIAL } })
  const drive = await startDrive({ profile, namespaces: [{ file: { path: file.path } }], ...faults })
  onTestFinished(() => drive.close())
  const transport = wrap(drive.simulator.transport)
  const engine = queues.engine(transport, engineOptions)
  const controller = await Controller.open(transport, { ...options, engine, write: { serial: SERIAL } })
  onTestFinished(() => controller.close())
  return { drive, engine, controller, namespace: controller.namespace(1), content }
}

/** Opens a GPU with queues. Closes it after the test, and expects that nothing is left. */
export function openQueues(standin: Standin): { readonly cuda: Cuda; readonly queues: DeviceQueues } {
  const cuda = openCuda()
  onTestFinished(async () => {
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })
  cuda.loadKernels(standin.ptx)
  return { cuda, queues: deviceQueues(cuda) }
}

/** Starts a kernel in which thread n reads block n; `finish` waits for its results. */
export function startReads(cuda: Cuda, device: GpuDevice, { engine, namespace }: LendingDrive, drive = 0) {
  const memory = namespace.dma.alloc(THREADS * 512)
  const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes)
  bytes.fill(0xa5)
  const buffer = engine.buffer(memory)
  const outcomes = cuda.allocPinned(8 * THREADS)
  const stream = cuda.stream()
  cuda.launch('standin_read_blocks', 1, THREADS, [device.argument, buffer.argument, outcomes.gpuPointer, drive], stream)
  const finish = async () => {
    await stream.finished()
    const endings = Array.from(new BigUint64Array(outcomes.buffer, 0, THREADS), (word) => deviceOutcome(word).ending)
    const data = bytes.slice()
    buffer.free()
    outcomes.free()
    stream.close()
    memory.free()
    return { endings, data }
  }
  return { finish }
}

/** Expects that all threads read their blocks. */
export async function expectReads(cuda: Cuda, device: GpuDevice, drive: LendingDrive, index = 0): Promise<void> {
  const { endings, data } = await startReads(cuda, device, drive, index).finish()
  expect(new Set(endings)).toEqual(new Set(['success']))
  expect(Buffer.compare(data, drive.content.subarray(0, data.length))).toBe(0)
}
