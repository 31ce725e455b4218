// What the scenarios share: the devices of modes.ts, bound and opened as the mode has it.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openHost } from '@gpunvme/cuda-native/host'
import { bindDriver } from '@gpunvme/host-driver/pci'
import { openSysfs } from '@gpunvme/host-driver/transport/sysfs'
import { openVfio } from '@gpunvme/host-driver/transport/vfio'

const PCI = '/sys/bus/pci/devices'

export const MIB = 2 ** 20
export const host = openHost()

/** The modes of modes.ts. */
export const mode = process.env.VM_MODE
export const fixed = { bdf: process.env.VM_FIXED, serial: 'VM0001' }
export const vram = process.env.VM_VRAM
/** The controller that can be pulled out: what is behind the port. */
export const loose = () => {
  const bdf = readdirSync(join(PCI, process.env.VM_PORT)).find((name) => /^0000:/.test(name))
  return { bdf, serial: 'VM0002' }
}

/** One line for the test outside. */
export function print(facts) {
  console.log(JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? Number(value) : value)))
}

/** Takes the controller from the kernel's driver; disposing of the binding gives it back. */
export function take({ bdf }) {
  return bindDriver({ bdf, driver: mode === 'sysfs' ? null : 'vfio-pci' })
}

/** Opens what was taken. */
export async function openTransport({ bdf }) {
  return mode === 'sysfs' ? await openSysfs({ host, bdf }) : await openVfio({ host, bdf })
}

/** The driver that has a function; undefined where none has. */
export function driverOf({ bdf }) {
  const link = join(PCI, bdf, 'driver')
  return existsSync(link) ? basename(readlinkSync(link)) : undefined
}

/** The block device that the kernel's driver has made of a controller's namespace 1; it takes a moment. */
export async function blockDevice({ bdf }) {
  for (let tries = 0; tries < 100; tries++) {
    const folder = join(PCI, bdf, 'nvme')
    const [name] = existsSync(folder) ? readdirSync(folder) : []
    if (name !== undefined && existsSync(`/dev/${name}n1`)) return { controller: name, path: `/dev/${name}n1` }
    await sleep(50)
  }
  throw new Error(`the kernel has made no block device of ${bdf}: its driver is ${driverOf({ bdf })}`)
}

export const attribute = (path) => readFileSync(path, 'utf8').trim()
