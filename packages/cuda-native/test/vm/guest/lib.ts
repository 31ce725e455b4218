// What the scenarios share: the devices of modes.ts, bound and opened as the mode has it.
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import { bindDriver, type Binding } from '@gpunvme/host-driver/pci'
import { openKmod, type KmodTransport } from '@gpunvme/host-driver/kmod'
import { openSysfs, type SysfsTransport } from '@gpunvme/host-driver/sysfs'
import { openVfio, type VfioTransport } from '@gpunvme/host-driver/vfio'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/** A controller of modes.ts. */
export interface Device {
  readonly bdf: string
  readonly serial: string
}

const PCI = '/sys/bus/pci/devices'

export const MIB = 2 ** 20
export const host = loadHardwareHost()

/** The mode of modes.ts. */
export const mode = variable('VM_MODE')

/** What a controller is bound to. */
const driver = mode === 'sysfs' ? null : mode.startsWith('kmod') ? 'gpunvme' : 'vfio-pci'

export const fixed: Device = { bdf: variable('VM_FIXED'), serial: 'VM0001' }

/** The function whose BAR 2 stands in for a GPU's memory. */
export const vram = variable('VM_VRAM')

/** The controller that can be pulled out, by what QEMU calls it: what is behind the port. */
export function loose(): Device & { readonly id: string } {
  const bdf = readdirSync(join(PCI, variable('VM_PORT'))).find((name) =>
    /^[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d$/.test(name),
  )
  if (bdf === undefined) throw new Error('there is nothing behind the port')
  const id = variable('VM_LOOSE')
  return { bdf, id, serial: id === 'loose1' ? 'VM0002' : 'VM0003' }
}

/** Two functions of one slot, which an IOMMU does not tell apart. */
export const twins = variable('VM_TWINS').split(' ') as [string, string]

/** One line for the test outside. */
export function print(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}

/** Takes the controller from the kernel's driver; disposing of the binding gives it back. */
export function take({ bdf }: Device): Promise<Binding> {
  return bindDriver({ bdf, driver })
}

/** Opens what was taken; it is closed by itself. */
export async function openTransport({ bdf }: Pick<Device, 'bdf'>, interrupts = 0): Promise<OpenTransport> {
  const transport = await openByMode(bdf, interrupts)
  return Object.assign(transport, { [Symbol.asyncDispose]: () => transport.close() })
}

function openByMode(bdf: string, interrupts: number): Promise<SysfsTransport | VfioTransport | KmodTransport> {
  if (driver === 'gpunvme') return openKmod({ host, device: bdf, interrupts })
  return driver === null ? openSysfs({ host, bdf }) : openVfio({ host, bdf, interrupts })
}

export type OpenTransport = (SysfsTransport | VfioTransport | KmodTransport) & AsyncDisposable

/** The bytes of memory that the controller reaches. */
export function bytesOf({ view }: DmaMemory): Buffer {
  if (view === undefined) throw new Error('the memory has no view')
  return Buffer.from(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength)
}

/** What the kernel says of a function. */
export function sysfsFolder(bdf: string): string {
  return join(PCI, bdf)
}

/** The driver that has a function; undefined where none has. */
export function driverOf({ bdf }: Pick<Device, 'bdf'>): string | undefined {
  const link = join(sysfsFolder(bdf), 'driver')
  return existsSync(link) ? basename(readlinkSync(link)) : undefined
}

/** The devices that the kernel's driver has made of a controller and its namespace 1; it takes a moment. */
export async function kernelDevices({ bdf }: Device): Promise<{ controller: string; namespace: string }> {
  for (let tries = 0; tries < 100; tries++) {
    const folder = join(PCI, bdf, 'nvme')
    const [name] = existsSync(folder) ? readdirSync(folder) : []
    if (name !== undefined && existsSync(`/dev/${name}n1`)) {
      return { controller: `/dev/${name}`, namespace: `/dev/${name}n1` }
    }
    await sleep(50)
  }
  throw new Error(`the kernel has made no block device of ${bdf}: its driver is ${driverOf({ bdf })}`)
}

export function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`the job names no ${name}`)
  return value
}
