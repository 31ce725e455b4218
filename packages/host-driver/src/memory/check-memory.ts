import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { isObject, show } from '../check-options.js'
import type { LentMemory } from './lent-memory.js'

/**
 * Checks that memory comes from a transport's allocator, and is not known to be of another controller.
 * @param lent of the controller. @throws TypeError otherwise: the controller could not access it.
 */
export function checkMemory(memory: DmaMemory, lent: LentMemory): void {
  const given: unknown = memory
  if (!isObject(given) || typeof given['iovaAt'] !== 'function' || typeof given['lengthBytes'] !== 'number')
    throw new TypeError(`memory: expected memory from ns.dma.alloc(), got ${show(given)}`)
  if (lent.isForeign(memory)) {
    throw new TypeError(
      'memory: expected memory that this controller can access, got memory of a controller with another address space; allocate it with ns.dma.alloc()',
    )
  }
}

/**
 * Checks that memory holds a range of bytes.
 * @param name prefix of errors.
 * @throws RangeError; TypeError for memory that was freed.
 */
export function checkHolds(name: string, memory: DmaMemory, offsetBytes: number, lengthBytes: number): void {
  const endBytes = offsetBytes + lengthBytes
  if (Number.isSafeInteger(offsetBytes) && offsetBytes >= 0 && endBytes <= memory.lengthBytes) {
    memory.iovaAt(offsetBytes)
    return
  }
  throw new RangeError(
    `${name}: expected memory that holds bytes ${offsetBytes} to ${endBytes}, got ${memory.lengthBytes} bytes`,
  )
}
