import { Controller, type ControllerOptions } from '@gpunvme/host-driver'
import type { DmaMemory, Plan, QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { onTestFinished } from 'vitest'
import { cudaEngine, openCuda, type Cuda, type CudaEngineOptions } from '../src/cuda/index.js'
import type { KernelEngine } from '../src/engine/kernel-engine.js'
import { Keeper, type withFault } from './kernel-rig.js'
import { startDrive } from './real-time-drives.js'
import { scratchFile } from './scratch-file.js'

const BYTES = 2 * 1024 * 1024
const CONTENT = Uint8Array.from({ length: BYTES }, (_, position) => (position * 31) ^ (position >>> 9))

/** Queues of a controller that are attached to no engine, and a GPU. */
export interface CudaRig {
  readonly cuda: Cuda
  readonly transport: Transport
  readonly queues: readonly QueuePairMemory[]
  readonly alloc: (lengthBytes: number) => DmaMemory
  /** Returns the number of reads that the drive has received. */
  readonly reads: () => Promise<number>
  /** Attaches an engine to these queues; by default, to all. The caller detaches it. */
  readonly engine: (options?: CudaEngineOptions, queues?: readonly QueuePairMemory[]) => KernelEngine
}

type Faults = Partial<ReturnType<typeof withFault>>

/** Opens a controller whose queues no engine uses. Closes it and its drive after the test. */
export async function openQueues(options: ControllerOptions, faults: Faults) {
  const file = scratchFile(CONTENT)
  onTestFinished(() => file[Symbol.dispose]())
  const drive = await startDrive({ namespaces: [{ file: { path: file.path, readOnly: true } }], ...faults })
  onTestFinished(() => drive.close())
  const { transport } = drive.simulator
  const keeper = new Keeper()
  const controller = await Controller.open(transport, { ...options, engine: keeper })
  onTestFinished(() => controller.close())
  return { drive, transport, queues: keeper.queues }
}

/** Opens a controller and a GPU. Closes both after the test. */
export async function openCudaRig(options: ControllerOptions = {}, faults: Faults = {}): Promise<CudaRig> {
  const { drive, transport, queues } = await openQueues(options, faults)
  const cuda = openCuda()
  onTestFinished(async () => {
    await cuda.close().catch(() => undefined)
  })
  return {
    ...{ cuda, transport, queues },
    alloc: (lengthBytes) => transport.dma.alloc(lengthBytes),
    reads: async () => (await drive.simulator.statistics()).ioCommands[2] ?? 0,
    engine(engineOptions, taken = queues) {
      const engine = cudaEngine(transport, cuda, engineOptions)
      engine.attach(taken)
      return engine
    },
  }
}

/** Plans one-block reads: command n reads block `first` + n, modulo the memory's blocks, to the same place there. */
export function blocksOf(commands: number, { lengthBytes }: DmaMemory, queues = 1, first = 0): Plan {
  const places = lengthBytes / 512
  return {
    ...{ operation: 'read', nsid: 1, blockBytes: 512, commands },
    slba: Float64Array.from({ length: commands }, (_, index) => (first + index) % places),
    blocks: new Uint32Array(commands).fill(1),
    offsetBytes: Float64Array.from({ length: commands }, (_, index) => ((first + index) % places) * 512),
    queue: Uint16Array.from({ length: commands }, (_, index) => index % queues),
  }
}

/** Returns whether the memory holds the first bytes of the drive. */
export function isRead(memory: DmaMemory, lengthBytes = memory.lengthBytes): boolean {
  const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, lengthBytes)
  return Buffer.compare(bytes, CONTENT.subarray(0, lengthBytes)) === 0
}
