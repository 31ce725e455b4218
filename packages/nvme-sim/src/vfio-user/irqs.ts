import { VFIO_IRQ, VfioIrqInfo, VfioIrqSet } from '@gpunvme/nvme-spec/vfio-user'
import type { ClientInterrupts } from './client-interrupts.js'
import type { Refusal } from './client-memory.js'
import { EINVAL, ENOTSUP } from './limits.js'
import type { Message } from './message.js'

const { FLAGS } = VfioIrqSet
const DATA_BITS = flagsOf('DATA_NONE') | flagsOf('DATA_BOOL') | flagsOf('DATA_EVENTFD')
const ACTION_BITS = flagsOf('ACTION_MASK') | flagsOf('ACTION_UNMASK') | flagsOf('ACTION_TRIGGER')

function flagsOf(name: 'DATA_NONE' | 'DATA_BOOL' | 'DATA_EVENTFD' | `ACTION_${'MASK' | 'UNMASK' | 'TRIGGER'}`): number {
  return 1 << FLAGS[name].lsb
}

/** Supported interrupts of each type: INTx and the MSI-X vectors. */
export function irqInfo(index: number, vectors: number): { readonly flags: number; readonly count: number } {
  const { EVENTFD, MASKABLE, AUTOMASKED } = VfioIrqInfo.FLAGS
  const pin = (1 << EVENTFD.lsb) | (1 << MASKABLE.lsb) | (1 << AUTOMASKED.lsb)
  if (index === VFIO_IRQ.INTX) return { flags: pin, count: 1 }
  if (index === VFIO_IRQ.MSIX) return { flags: 1 << EVENTFD.lsb, count: vectors }
  return { flags: 0, count: 0 }
}

/** Number of interrupt types. */
export const IRQ_KINDS = Object.keys(VFIO_IRQ).length

/**
 * DEVICE_SET_IRQS: sets the targets of interrupts, masks them, or signals them. Takes the descriptors that it keeps.
 */
export function setIrqs(message: Message, interrupts: ClientInterrupts): Refusal | undefined {
  const flags = message.u32(VfioIrqSet.FLAGS.offset)
  const index = message.u32(VfioIrqSet.INDEX.offset)
  const start = message.u32(VfioIrqSet.START.offset)
  const count = message.u32(VfioIrqSet.COUNT.offset)
  const [data, action] = [flags & DATA_BITS, flags & ACTION_BITS]
  if (!isOneBit(data) || !isOneBit(action) || flags !== (data | action))
    return refuse(`expected one data type and one action, got flags 0x${flags.toString(16)}`)
  const { count: known } = irqInfo(index, interrupts.count)
  if (start >= known || start + count > known)
    return refuse(`interrupts ${start} to ${start + count - 1} of type ${index}: expected numbers below ${known}`)
  if (data === flagsOf('DATA_EVENTFD')) return assign(message, interrupts, action, index, start, count)
  if (message.descriptors.length > 0) return refuse(`expected no descriptors, got ${message.descriptors.length}`)
  if (count === 0) return disable(interrupts, flags, index, start)
  const isAll = data === flagsOf('DATA_NONE')
  if (!isAll && message.lengthBytes < VfioIrqSet.bytes + count)
    return refuse(`expected ${count} bytes of data, got ${message.lengthBytes - VfioIrqSet.bytes}`)
  for (let i = 0; i < count; i++) {
    const isMeant = isAll || message.view.getUint8(message.at + VfioIrqSet.bytes + i) !== 0
    if (isMeant) act(interrupts, action, index, start + i)
  }
  return undefined
}

function assign(
  message: Message,
  interrupts: ClientInterrupts,
  action: number,
  index: number,
  start: number,
  count: number,
): Refusal | undefined {
  const { descriptors } = message
  const isUnmask = action === flagsOf('ACTION_UNMASK') && index === VFIO_IRQ.INTX
  if (action !== flagsOf('ACTION_TRIGGER') && !isUnmask)
    return { errno: ENOTSUP, why: 'eventfds are supported only to trigger interrupts and to unmask INTx' }
  // Without descriptors, the targets are removed.
  if (descriptors.length > 0 && descriptors.length !== count)
    return refuse(`expected ${count} descriptors, got ${descriptors.length}`)
  if (!descriptors.every((each) => interrupts.eventfds.isOne(each))) return refuse('a descriptor is not an eventfd')
  const kept = descriptors.splice(0)
  if (isUnmask) {
    interrupts.setUnmask(kept[0])
    return undefined
  }
  for (let i = 0; i < count; i++) {
    if (index === VFIO_IRQ.INTX) interrupts.setPin(kept[i])
    else interrupts.setVector(start + i, kept[i])
  }
  if (index === VFIO_IRQ.MSIX) interrupts.enableMessages()
  return undefined
}

/** Disables the interrupts of a type. */
function disable(interrupts: ClientInterrupts, flags: number, index: number, start: number): Refusal | undefined {
  if (flags !== (flagsOf('DATA_NONE') | flagsOf('ACTION_TRIGGER')) || start !== 0)
    return refuse('expected DATA_NONE, ACTION_TRIGGER and start 0 with a count of 0')
  if (index === VFIO_IRQ.INTX) interrupts.disablePin()
  else interrupts.disableMessages()
  return undefined
}

function act(interrupts: ClientInterrupts, action: number, index: number, number: number): void {
  const isPin = index === VFIO_IRQ.INTX
  if (action === flagsOf('ACTION_TRIGGER')) interrupts.loopBack(isPin ? 'pin' : number)
  else if (isPin) interrupts.maskPin(action === flagsOf('ACTION_MASK'))
  else interrupts.maskVector(number, action === flagsOf('ACTION_MASK'))
}

function isOneBit(bits: number): boolean {
  return bits !== 0 && (bits & (bits - 1)) === 0
}

function refuse(why: string): Refusal {
  return { errno: EINVAL, why }
}
