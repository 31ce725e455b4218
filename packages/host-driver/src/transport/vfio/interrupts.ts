import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { VfioIrqInfo, VfioIrqSet } from '@gpunvme/nvme-spec/vfio-user'
import { EventFds } from '../event-interrupts.js'
import { eventfdCount } from '../vfio-answers.js'
import { VFIO } from './abi.js'
import { ask, call } from './argument.js'

/**
 * Returns eventfds that interrupts of one kind signal, until they are closed.
 * @throws DriverError (VFIO); nothing stays open then.
 */
export function eventsOf(host: HardwareHost, device: number, index: number, vectors: number): EventFds {
  return new EventFds(host, vectors, (fds) => {
    const flags = fds.length > 0 ? { DATA_EVENTFD: 1 as const } : { DATA_NONE: 1 as const }
    const data = new DataView(new ArrayBuffer(VfioIrqSet.bytes + fds.length * 4))
    VfioIrqSet.encode(data, 0, {
      ARGSZ: data.byteLength,
      FLAGS: { ...flags, ACTION_TRIGGER: 1 },
      INDEX: index,
      START: 0,
      COUNT: fds.length,
    })
    for (const [vector, fd] of fds.entries()) data.setInt32(VfioIrqSet.bytes + vector * 4, fd, true)
    call(host, device, ['DEVICE_SET_IRQS', VFIO.DEVICE_SET_IRQS], data)
  })
}

/**
 * Returns how many interrupts of a kind the device has; 0 if there are none, or none that signal an eventfd.
 * @throws DriverError (VFIO)
 */
export function interruptCount(host: HardwareHost, device: number, index: number): number {
  const request = ['DEVICE_GET_IRQ_INFO', VFIO.DEVICE_GET_IRQ_INFO] as const
  return eventfdCount(ask(host, device, request, VfioIrqInfo, { INDEX: index }))
}
