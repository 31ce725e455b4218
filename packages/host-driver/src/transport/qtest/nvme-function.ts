import { setTimeout as sleep } from 'node:timers/promises'
import type { DmaAllocator, Transport } from '@gpunvme/nvme-spec/transport'
import { findCapability, PCI_CAPABILITY, PciExpressCapability } from '@gpunvme/nvme-spec/pci'
import { snapshot } from '../../pci/config-space.js'
import { disableBusMaster } from '../../pci/power.js'
import { RegionBar } from '../region-bar.js'
import { registerLines } from './bar.js'
import type { Channel } from './channel.js'
import { hostClock } from './clock.js'
import { configSpace } from './config-space.js'
import { mailboxes } from './interrupts.js'
import type { MemoryArea } from './memory.js'
import { placeBars, restoreBars, type BarWindow } from './places.js'

/** Wait after a reset of a function before it is accessed, as in Linux. */
const FUNCTION_RESET_MS = 100

/** What the functions of one machine share. */
export interface Machine {
  readonly channel: Channel
  readonly ram: MemoryArea
  readonly dma: DmaAllocator
  readonly hasVram: boolean
  readonly small: BarWindow
  readonly large: BarWindow
  /** Resets the whole machine. */
  reset(): Promise<void>
}

/** An NVMe function: its transport, and external changes to it. */
export interface NvmeFunction {
  readonly transport: Transport
  /** Restores what a reset cleared: addresses, Bus Master Enable, MSI-X. */
  restore(): void
  /** Makes registers read all ones, since the function has left the bus. */
  leave(): void
}

/** Returns the function in a slot of the machine, with its BARs placed and DMA enabled. */
export function nvmeFunction(machine: Machine, name: string, slot: number): NvmeFunction {
  const { channel, ram, dma, hasVram } = machine
  let hasLeft = false
  let isClosed = false
  let lastWriteNs = 0
  const isGone = () => hasLeft || channel.lost
  const config = configSpace(channel, slot, isGone)
  const space = snapshot(config)
  const bars = placeBars(config, machine.small, machine.large)
  const touched = () => {
    lastWriteNs = clock.now()
  }
  const bar = new RegionBar(registerLines(channel, bars[0]!, isGone), { touched })
  const clock = hostClock(bar, isGone, () => lastWriteNs)
  const interrupts = mailboxes(config, bar, ram, clock)
  const restore = () => {
    restoreBars(config, bars)
    interrupts?.restore()
  }

  const express = findCapability(space, PCI_CAPABILITY.PCI_EXPRESS)
  const { PXDCAP, PXDC } = PciExpressCapability
  const canReset =
    express !== undefined && PXDCAP.FLRC.of(space.getUint32(express + PXDCAP.offset, true)) === 1 ? express : undefined
  const transport: Transport = {
    name,
    bar,
    dma,
    clock,
    config,
    ...(interrupts && { interrupts }),
    // Only the controller writes to the BAR that replaces GPU memory: there is no GPU to ring or read.
    can: { gpuRing: false, gpuRead: false, dmaToVram: hasVram },
    async reset(kind) {
      if (kind === 'bus') {
        await machine.reset()
        return
      }
      if (canReset === undefined) throw new TypeError("reset: expected 'bus', got 'function': PXDCAP.FLRC is 0")
      const offset = canReset + PXDC.offset
      config.write(offset, 2, config.read(offset, 2) | (1 << PXDC.IFLR.lsb))
      await sleep(FUNCTION_RESET_MS)
      restore()
    },
    close() {
      // Without Bus Master Enable it accesses no memory, whatever it was configured to do.
      disableBusMaster(config)
      hasLeft = true
      isClosed = true
      return Promise.resolve()
    },
    isClosed: () => isClosed,
  }
  return {
    transport,
    restore: () => {
      if (!isGone()) restore()
    },
    leave: () => {
      hasLeft = true
    },
  }
}
