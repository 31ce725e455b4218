import type { DmaMemory, Plan } from '@gpunvme/nvme-spec/transport'
import { LentMemory } from '../src/memory/lent-memory.js'
import { Namespace } from '../src/namespace/namespace.js'
import type { RunningController } from '../src/running/running-controller.js'

/** Creates a read-only namespace over these bytes, without a controller. */
export function memoryNamespace(bytes: Uint8Array, blockBytes = 512): Namespace {
  const controller = {
    session: {
      lent: new LentMemory({ alloc: plainMemory }),
      queues: { forPlans: [{}] },
      maxTransferBytes: 1024 * 1024,
    },
    checkOpen: () => undefined,
    execute: (plan: Plan, memory: DmaMemory) => {
      for (let command = 0; command < plan.commands; command++) {
        const start = plan.slba[command]! * blockBytes
        const part = bytes.subarray(start, start + plan.blocks[command]! * blockBytes)
        new Uint8Array(memory.view!.buffer).set(part, plan.offsetBytes[command])
      }
      const { commands } = plan
      return Promise.resolve({ commands, succeeded: commands, bytes: 0, failures: [], startNs: 0, endNs: 0 })
    },
  } as unknown as RunningController
  const identity = {
    nsid: 1,
    blocks: bytes.length / blockBytes,
    blockBytes,
    attached: true,
    unsupported: undefined,
    raw: new DataView(new ArrayBuffer(4096)),
  }
  return new Namespace(controller, 1, () => identity)
}

function plainMemory(lengthBytes: number): DmaMemory {
  return {
    lengthBytes,
    view: new DataView(new ArrayBuffer(lengthBytes)),
    segments: [{ offsetBytes: 0, iova: 0, lengthBytes }],
    iovaAt: (offset) => offset,
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}
