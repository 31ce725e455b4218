import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Bytes that are filled at once. */
const PIECE_BYTES = 256 * 1024 * 1024

/** Memory that the CPU can reach. */
export type ReachableMemory = DmaMemory & { readonly view: DataView }

/** @throws TypeError for memory that the CPU cannot reach. */
export function reachable(memory: DmaMemory): ReachableMemory {
  if (!hasView(memory)) {
    throw new TypeError('queue memory must be reachable by the CPU: allocate it with where: "host"')
  }
  return memory
}

/** Returns the host's view of memory that the driver itself accesses. @throws TypeError as `reachable`. */
export function hostView(memory: DmaMemory): DataView {
  return reachable(memory).view
}

/** Returns that view as bytes. @throws TypeError as `reachable`. */
export function hostBytes(memory: DmaMemory, offsetBytes = 0, lengthBytes = memory.lengthBytes): Uint8Array {
  const view = hostView(memory)
  return new Uint8Array(view.buffer, view.byteOffset + offsetBytes, lengthBytes)
}

/** Fills all of it, through the host's view or by `fill`. @throws TypeError if it has neither. */
export function fillMemory(memory: DmaMemory, byte: number): void {
  if (hasView(memory)) {
    // A Uint8Array of Node 20 has at most 4 GiB.
    for (let at = 0; at < memory.lengthBytes; at += PIECE_BYTES) {
      hostBytes(memory, at, Math.min(PIECE_BYTES, memory.lengthBytes - at)).fill(byte)
    }
  } else if (memory.fill !== undefined) memory.fill(byte, 0, memory.lengthBytes)
  else
    throw new TypeError(
      'queue memory: expected a view, or fill() of memory on a GPU, got neither: ' +
        'use an allocator whose GPU memory has fill(), or queueMemory: "host"',
    )
  memory.forDevice(0, memory.lengthBytes)
}

/** Returns whether the driver can read it, through a view or by copies. */
export function isReadable(memory: DmaMemory): boolean {
  return hasView(memory) || memory.copyOut !== undefined
}

function hasView(memory: DmaMemory): memory is ReachableMemory {
  return memory.view !== undefined
}
