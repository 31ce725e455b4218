import type { Bar, Clock, ConfigSpace, Interrupts } from '@gpunvme/nvme-spec/transport'
import { findCapability, MsixCapability, msixLayout, MsixTableEntry, PCI_CAPABILITY } from '@gpunvme/nvme-spec/pci'
import { snapshot } from '../../pci/config-space.js'
import type { MemoryArea } from './memory.js'

/** One dword per vector, to which its message is stored. */
const MAILBOX_BYTES = 4
const FIRED = 1

/**
 * Interrupts whose messages are stores into guest RAM: there is no processor to interrupt. The first wait enables MSI-X
 * with every vector unmasked, unless the host has done so; a driver polls its queues once after that. Until then the
 * host may use INTMS and INTMC, which MSI-X forbids. From then on, a vector that fires before a wait is not missed.
 */
export interface Mailboxes extends Interrupts {
  /** Restores what a reset cleared, if interrupts were enabled. */
  restore(): void
}

/** Returns undefined if the function has no MSI-X, or has its table in another BAR than the registers. */
export function mailboxes(config: ConfigSpace, bar: Bar, ram: MemoryArea, clock: Clock): Mailboxes | undefined {
  const space = snapshot(config)
  const capability = findCapability(space, PCI_CAPABILITY.MSI_X)
  if (capability === undefined) return undefined
  const { vectors, table } = msixLayout(space, capability)
  if (table.bar !== 0) return undefined
  const base = ram.ranges.takeAligned(Math.ceil((vectors * MAILBOX_BYTES) / 4096) * 4096, 4096)
  if (base === undefined)
    throw new RangeError(`no room for the mailboxes of ${vectors} interrupt vectors; increase memoryBytes`)

  const { LOWER_ADDR, UPPER_ADDR, DATA, VECTOR_CTRL, bytes } = MsixTableEntry
  const word = Buffer.alloc(MAILBOX_BYTES)
  const none = Buffer.alloc(MAILBOX_BYTES)
  const take = (vector: number) => {
    const place = base + vector * MAILBOX_BYTES - ram.iova
    ram.file.read(place, word)
    if (word.readUInt32LE() !== FIRED) return false
    ram.file.write(place, none)
    return true
  }
  const { MXC } = MsixCapability
  let isOurs = false
  const enable = () => {
    const control = config.read(capability + MXC.offset, 2)
    if (MXC.MXE.of(control) === 1) return
    isOurs = true
    for (let vector = 0; vector < vectors; vector++) {
      const entry = table.offset + bytes * vector
      bar.write32(entry + LOWER_ADDR.offset, base + vector * MAILBOX_BYTES)
      bar.write32(entry + UPPER_ADDR.offset, 0)
      bar.write32(entry + DATA.offset, FIRED)
      bar.write32(entry + VECTOR_CTRL.offset, 0)
    }
    config.write(capability + MXC.offset, 2, (control | (1 << MXC.MXE.lsb)) & ~(1 << MXC.FM.lsb))
  }
  return {
    vectors,
    restore() {
      if (isOurs) enable()
    },
    async wait(vector, untilNs) {
      if (!(Number.isInteger(vector) && vector >= 0 && vector < vectors))
        throw new RangeError(`interrupt vector: expected 0 to ${vectors - 1}, got ${vector}`)
      enable()
      for (;;) {
        if (take(vector)) return 'fired'
        if (clock.now() >= untilNs) return 'deadline'
        await clock.idle(untilNs)
      }
    },
  }
}
