import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { isObject, show } from '../check-options.js'

/**
 * Checks that memory comes from a transport's allocator.
 * @throws TypeError otherwise: the controller could not access it.
 */
export function checkMemory(memory: DmaMemory): void {
  const given: unknown = memory
  if (isObject(given) && typeof given['iovaAt'] === 'function' && typeof given['lengthBytes'] === 'number') return
  throw new TypeError(`memory: expected memory from ns.dma.alloc(), got ${show(given)}`)
}
