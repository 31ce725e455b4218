import { Controller, type ControllerOptions, type Namespace } from '@gpunvme/host-driver'
import type {
  DmaMemory,
  Engine,
  FaultAction,
  FaultMatch,
  QueuePairMemory,
  Transport,
} from '@gpunvme/nvme-spec/transport'
import { expect } from 'vitest'
import { cpuKernelEngine, type KernelEngineOptions } from '../src/engine/cpu-kernel.js'
import type { KernelEngine } from '../src/engine/kernel-engine.js'
import { scratchFile } from './scratch-file.js'
import { startDrive, type RealTimeDrive } from './real-time-drives.js'

export const MIB = 1024 * 1024
export const BLOCKS = (8 * MIB) / 512

/** Returns the byte of the drive at a position. All blocks differ, and so do adjacent bytes. */
export const byteAt = (position: number) => ((position * 31) ^ (position >>> 9) ^ (position >>> 17)) & 0xff
const CONTENT = Uint8Array.from({ length: BLOCKS * 512 }, (_, position) => byteAt(position))

/** Returns options with a fault of reads on queue 1. */
export const withFault = (action: FaultAction, match: FaultMatch = { nth: 3 }) => ({
  faults: { rules: [{ match: { qid: 1, opcode: 0x02, ...match }, action }] },
})

/** A controller whose queues are attached to no engine, for tests. */
export interface Rig extends AsyncDisposable {
  readonly drive: RealTimeDrive
  readonly queues: readonly QueuePairMemory[]
  readonly ns: Namespace
  readonly alloc: (lengthBytes: number) => DmaMemory
  /** Attaches an engine to all queues. The end of the rig detaches it. */
  readonly engine: (options?: KernelEngineOptions, watch?: () => void) => KernelEngine
}

/** An engine that only stores the queues. */
export class Keeper implements Engine {
  readonly name = 'keeper'
  queues: readonly QueuePairMemory[] = []
  attach(queues: readonly QueuePairMemory[]): void {
    this.queues = queues
  }
  execute(): never {
    throw new TypeError('this engine executes no plans')
  }
  detach(): void {}
}

export async function openRig(
  options: ControllerOptions = {},
  faults: ReturnType<typeof withFault> | Record<string, never> = {},
): Promise<Rig> {
  const file = scratchFile(CONTENT)
  const drive = await startDrive({ namespaces: [{ file: { path: file.path, readOnly: true } }], ...faults })
  const keeper = new Keeper()
  const { transport } = drive.simulator
  const ctrl = await Controller.open(transport, { queueDepth: 8, ...options, engine: keeper })
  const engines: KernelEngine[] = []
  return {
    drive,
    queues: keeper.queues,
    ns: ctrl.namespace(1),
    alloc: (lengthBytes) => transport.dma.alloc(lengthBytes),
    engine(engineOptions, watch) {
      const engine = cpuKernelEngine(transport, engineOptions)
      engine.attach(keeper.queues, watch)
      engines.push(engine)
      return engine
    },
    async [Symbol.asyncDispose]() {
      for (const engine of engines) engine.detach()
      await ctrl.close().catch(() => undefined)
      await drive.close()
      file[Symbol.dispose]()
    },
  }
}

/** Expects that reads the driver plans for this engine return the drive's bytes, and that the simulator finds no mistake. */
export async function expectPlannedReads(engineOf: (transport: Transport) => Engine): Promise<void> {
  using file = scratchFile(CONTENT)
  const { simulator, close } = await startDrive({ namespaces: [{ file: { path: file.path, readOnly: true } }] })
  const { transport } = simulator
  {
    await using controller = await Controller.open(transport, { engine: engineOf(transport), maxTransferBytes: 65536 })
    for (let round = 0; round < 20; round++) {
      const at = 65536 + 512 * round
      const read = await controller.namespace(1).readBytes(at, 2 * MIB)
      expect(Buffer.compare(read, CONTENT.subarray(at, at + 2 * MIB))).toBe(0)
    }
  }
  expect(await simulator.diagnostics()).toEqual([])
  await close()
}

/** Plans reads of `blocks` blocks each, contiguous on the drive and in memory. Short reads are one command each. */
export function readsOf({ ns }: Pick<Rig, 'ns'>, commands: number, blocks = 8, slba = 0, offsetBytes = 0) {
  return ns.planReads(
    Array.from({ length: commands }, (_, index) => ({
      slba: slba + index * blocks,
      blocks,
      offsetBytes: offsetBytes + index * blocks * 512,
    })),
  )
}

/** Returns the number of bytes of the memory that differ from the drive from block `slba` on. */
export function wrongBytes({ view }: DmaMemory, slba = 0, offsetBytes = 0, lengthBytes = view!.byteLength): number {
  let wrong = 0
  for (let index = 0; index < lengthBytes; index++) {
    if (view!.getUint8(offsetBytes + index) !== byteAt(slba * 512 + index)) wrong++
  }
  return wrong
}
