import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { NamespaceHost } from '../src/namespace/host.js'
import { Namespace } from '../src/namespace/namespace.js'

/** A namespace whose blocks are these bytes: for code that only reads, with no controller behind it. */
export function memoryNamespace(bytes: Uint8Array, blockBytes = 512): Namespace {
  const host: NamespaceHost = {
    dma: { alloc: plainMemory },
    clock: { now: () => 0, idle: () => Promise.resolve() },
    queues: 1,
    maxTransferBytes: 1024 * 1024,
    flush: () => Promise.reject(new TypeError('this namespace is read-only')),
    execute: (plan, memory) => {
      for (let command = 0; command < plan.commands; command++) {
        const start = plan.slba[command]! * blockBytes
        const part = bytes.subarray(start, start + plan.blocks[command]! * blockBytes)
        new Uint8Array(memory.view!.buffer).set(part, plan.offsetBytes[command])
      }
      const { commands } = plan
      return Promise.resolve({ commands, succeeded: commands, bytes: 0, failures: [], startNs: 0, endNs: 0 })
    },
  }
  return new Namespace(host, {
    nsid: 1,
    blocks: bytes.length / blockBytes,
    blockBytes,
    attached: true,
    unsupported: undefined,
    raw: new DataView(new ArrayBuffer(4096)),
  })
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
