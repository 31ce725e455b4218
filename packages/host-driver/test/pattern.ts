import type { Media } from '@gpunvme/nvme-sim'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Returns the byte of the pattern at a position. All blocks differ, and so do adjacent bytes. */
function patternAt(position: number): number {
  return ((position * 31) ^ (position >>> 9) ^ (position >>> 17)) & 0xff
}

/** Creates media whose bytes depend on their position, so that misplaced data are detected. */
export function patternMedia(capacityBytes: number): Media {
  return {
    capacityBytes,
    read(offsetBytes, into) {
      for (let index = 0; index < into.length; index++) into[index] = patternAt(offsetBytes + index)
    },
    write() {
      throw new TypeError('pattern media are read-only')
    },
    flush: () => undefined,
    close: () => undefined,
  }
}

export function fillPattern(memory: DmaMemory, position: number): void {
  for (let index = 0; index < memory.lengthBytes; index++) memory.view!.setUint8(index, patternAt(position + index))
}

/** Returns the number of bytes of `memory` from `offsetBytes` on that differ from the pattern from `position` on. */
export function wrongBytes(
  memory: DmaMemory,
  position: number,
  offsetBytes = 0,
  lengthBytes = memory.lengthBytes - offsetBytes,
): number {
  let wrong = 0
  for (let index = 0; index < lengthBytes; index++) {
    if (memory.view!.getUint8(offsetBytes + index) !== patternAt(position + index)) wrong++
  }
  return wrong
}
