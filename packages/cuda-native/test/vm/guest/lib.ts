// Helpers of the scenarios: bind and open the devices of modes.ts as the mode requires.
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

/** Name of the mode; see modes.ts. */
export const mode = variable('VM_MODE')

/** Driver to bind controllers to; null: none. */
const driver = mode === 'sysfs' ? null : mode.startsWith('kmod') ? 'gpunvme' : 'vfio-pci'

export const fixed: Device = { bdf: variable('VM_FIXED'), serial: 'VM0001' }

/** Address of the function whose BAR 2 stands in for GPU memory. */
export const vram = variable('VM_VRAM')

/** Returns the controller behind the hot-plug port, with its QEMU id. */
export function loose(): Device & { readonly id: string } {
  const bdf = readdirSync(join(PCI, variable('VM_PORT'))).find((name) =>
    /^[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d$/.test(name),
  )
  if (bdf === undefined) throw new Error('no device behind the PCIe port')
  const id = variable('VM_LOOSE')
  return { bdf, id, serial: id === 'loose1' ? 'VM0002' : 'VM0003' }
}

/** Addresses of two functions of one slot, which share an IOMMU group. */
export const twins = variable('VM_TWINS').split(' ') as [string, string]

/** Prints one line for the test on the host. */
export function print(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}

/**
 * Unbinds the controller from the kernel's driver, and binds it as the mode requires. Disposing of the binding restores
 * it.
 */
export function take({ bdf }: Device): Promise<Binding> {
  return bindDriver({ bdf, driver })
}

/** Opens the transport of a bound controller. Disposing of it closes it. */
export async function openTransport({ bdf }: Pick<Device, 'bdf'>, interrupts = 0): Promise<OpenTransport> {
  const transport = await openByMode(bdf, interrupts)
  return Object.assign(transport, { [Symbol.asyncDispose]: () => transport.close() })
}

function openByMode(bdf: string, interrupts: number): Promise<SysfsTransport | VfioTransport | KmodTransport> {
  if (driver === 'gpunvme') return openKmod({ host, device: bdf, interrupts })
  return driver === null ? openSysfs({ host, bdf }) : openVfio({ host, bdf, interrupts })
}

export type OpenTransport = (SysfsTransport | VfioTransport | KmodTransport) & AsyncDisposable

/** Returns the bytes of DMA memory. */
export function bytesOf({ view }: DmaMemory): Buffer {
  if (view === undefined) throw new Error('the memory has no view')
  return Buffer.from(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength)
}

/** Returns the sysfs folder of a function. */
export function sysfsFolder(bdf: string): string {
  return join(PCI, bdf)
}

/** Returns the name of the driver that a function is bound to; undefined if none. */
export function driverOf({ bdf }: Pick<Device, 'bdf'>): string | undefined {
  const link = join(sysfsFolder(bdf), 'driver')
  return existsSync(link) ? basename(readlinkSync(link)) : undefined
}

/** Waits for the device nodes of a controller and its namespace 1. Returns their paths. */
export async function kernelDevices({ bdf }: Device): Promise<{ controller: string; namespace: string }> {
  for (let tries = 0; tries < 100; tries++) {
    const folder = join(PCI, bdf, 'nvme')
    const [name] = existsSync(folder) ? readdirSync(folder) : []
    if (name !== undefined && existsSync(`/dev/${name}n1`)) {
      return { controller: `/dev/${name}`, namespace: `/dev/${name}n1` }
    }
    await sleep(50)
  }
  throw new Error(`no block device of ${bdf} appeared; bound driver: ${driverOf({ bdf }) ?? 'none'}`)
}

export function variable(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`environment variable ${name} is not set`)
  return value
}
