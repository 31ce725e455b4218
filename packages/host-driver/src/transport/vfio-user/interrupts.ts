import { findCapability, MsixCapability, PCI_CAPABILITY, PciHeader } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { VFIO_IRQ, VfioIrqSet } from '@gpunvme/nvme-spec/vfio-user'
import { snapshot } from '../../pci/config-space.js'
import { EventFds } from '../event-interrupts.js'
import type { Channel } from './channel.js'

/** Eventfds of MSI-X vectors, and a function that registers them again, as after a reset. */
export interface MsixEvents {
  readonly events: EventFds
  readonly announceAgain: () => void
}

/**
 * Returns eventfds that the MSI-X vectors signal until they are closed.
 * @param maxAtOnce maximum number of descriptors that the target accepts per message.
 * @throws as `Channel.ask`; nothing stays open then.
 */
export function msixEvents(channel: Channel, host: VfioUserHost, vectors: number, maxAtOnce: number): MsixEvents {
  const announce = (fds: readonly number[]) => {
    if (fds.length === 0) turnOff(channel)
    for (let start = 0; start < fds.length; start += maxAtOnce)
      setIrqs(channel, { DATA_EVENTFD: 1 }, start, fds.slice(start, start + maxAtOnce))
  }
  const events = new EventFds(host, vectors, announce)
  const announceAgain = () => {
    announce(events.fds)
  }
  return { events, announceAgain }
}

/**
 * Sets the kind of interrupts in configuration space: MSI-X, or none. Pin interrupts are not served here, and a target
 * that uses this setting (SPDK's) fails its controller over an interrupt that it cannot deliver.
 */
export function chooseInterrupts(config: ConfigSpace, byMessage: boolean): void {
  const { CMD } = PciHeader
  config.write(CMD.offset, 2, config.read(CMD.offset, 2) | (1 << CMD.ID.lsb))
  const capability = findCapability(snapshot(config), PCI_CAPABILITY.MSI_X)
  if (capability === undefined) return
  const { MXC } = MsixCapability
  const control = capability + MXC.offset
  const kept = config.read(control, 2) & ~((1 << MXC.MXE.lsb) | (1 << MXC.FM.lsb))
  config.write(control, 2, kept | (byMessage ? 1 << MXC.MXE.lsb : 0))
}

/** Turns the interrupts off, unless the connection has ended. */
function turnOff(channel: Channel): void {
  if (channel.departure !== undefined) return
  try {
    setIrqs(channel, { DATA_NONE: 1 }, 0, [])
  } catch (error) {
    if (error !== channel.departure) throw error
  }
}

function setIrqs(channel: Channel, flags: object, start: number, fds: readonly number[]): void {
  const { data } = VfioIrqSet.create({
    ARGSZ: VfioIrqSet.bytes,
    FLAGS: { ...flags, ACTION_TRIGGER: 1 },
    INDEX: VFIO_IRQ.MSIX,
    START: start,
    COUNT: fds.length,
  })
  channel.ask('DEVICE_SET_IRQS', data, 0, fds.length > 0 ? Int32Array.from(fds) : undefined)
}
