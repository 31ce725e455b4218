import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Memory that the CPU can reach. */
export type ReachableMemory = DmaMemory & { readonly view: DataView }

/** @throws TypeError for memory that the CPU cannot reach. */
export function reachable(memory: DmaMemory): ReachableMemory {
  if (!hasView(memory)) {
    throw new TypeError('queue memory must be reachable by the CPU: allocate it with where: "host"')
  }
  return memory
}

/** The host's view of memory that this driver itself must read and write. @throws TypeError as `reachable`. */
export function hostView(memory: DmaMemory): DataView {
  return reachable(memory).view
}

/** The same as bytes. @throws TypeError as `reachable`. */
export function hostBytes(memory: DmaMemory, offsetBytes = 0, lengthBytes = memory.lengthBytes): Uint8Array {
  const view = hostView(memory)
  return new Uint8Array(view.buffer, view.byteOffset + offsetBytes, lengthBytes)
}

function hasView(memory: DmaMemory): memory is ReachableMemory {
  return memory.view !== undefined
}
