import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { isObject, show } from '../check-options.js'

/** @throws TypeError for what no transport allocated: the controller could not reach it. */
export function checkMemory(memory: DmaMemory): void {
  const given: unknown = memory
  if (isObject(given) && typeof given['iovaAt'] === 'function' && typeof given['lengthBytes'] === 'number') return
  throw new TypeError(`memory: expected memory that ns.dma.alloc() gave, got ${show(given)}`)
}
