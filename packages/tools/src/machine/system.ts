import { unknown, type Known } from './known.js'
import type { Board, Cpu, Distribution, Firmware, OtherDisk } from './machine.js'
import type { Root } from './root.js'

export async function readDistribution(root: Root): Promise<Known<Distribution>> {
  const text = (await root.text('etc/os-release')) ?? (await root.text('usr/lib/os-release'))
  if (text === undefined) return root.why('etc/os-release')
  const values = new Map(
    Array.from(text.matchAll(/^([A-Z_]+)=(.*)$/gm), ([, name = '', value = '']) => [name, unquoted(value)]),
  )
  const id = values.get('ID') ?? 'linux'
  return {
    id,
    version: values.get('VERSION_ID'),
    name: values.get('PRETTY_NAME') ?? values.get('NAME') ?? id,
    like: (values.get('ID_LIKE') ?? '').split(' ').filter((word) => word !== ''),
  }
}

/** os-release(5) uses shell syntax: values in single or double quotes, or none. */
function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim()
}

/** SMBIOS 3.6 §7.4.1, System Enclosure or Chassis Types, those that tell the kind of computer. */
const CHASSIS: readonly (readonly [Board['chassis'], readonly number[]])[] = [
  ['desktop', [3, 4, 5, 6, 7, 13, 15, 16, 24, 35]],
  ['laptop', [8, 9, 10, 14, 31, 32]],
  ['server', [17, 22, 23, 25, 28, 29]],
]

export async function readBoard(root: Root): Promise<Board> {
  const dmi = async (name: string) => (await root.text(`sys/class/dmi/id/${name}`)) || undefined
  const type = Number(await dmi('chassis_type'))
  return {
    vendor: await dmi('board_vendor'),
    name: await dmi('board_name'),
    systemVendor: await dmi('sys_vendor'),
    systemName: await dmi('product_name'),
    biosVersion: await dmi('bios_version'),
    biosDate: await dmi('bios_date'),
    chassis: Number.isNaN(type) ? undefined : (CHASSIS.find(([, types]) => types.includes(type))?.[0] ?? 'other'),
  }
}

export async function readCpu(root: Root): Promise<Cpu> {
  const text = await root.text('proc/cpuinfo')
  const all = (name: string) =>
    Array.from((text ?? '').matchAll(new RegExp(`^${name}\\s*: (.*)$`, 'gm')), ([, value = '']) => value.trim())
  const [vendor] = all('vendor_id')
  const number = (name: string) => {
    const [value] = all(name)
    return value === undefined || !/^\d+$/.test(value) ? undefined : Number(value)
  }
  return {
    vendor: text === undefined ? root.why('proc/cpuinfo') : vendorOf(vendor),
    model:
      all('model name')[0] ??
      (text === undefined ? root.why('proc/cpuinfo') : unknown('/proc/cpuinfo has no model name')),
    family: number('cpu family'),
    modelNumber: number('model'),
    threads: all('processor').length,
    sockets: Math.max(1, new Set(all('physical id')).size),
  }
}

function vendorOf(id: string | undefined): 'AMD' | 'Intel' | 'other' {
  if (id === 'AuthenticAMD') return 'AMD'
  return id === 'GenuineIntel' ? 'Intel' : 'other'
}

const EFI_GLOBAL = '8be4df61-93ca-11d2-aa0d-00e098032b8c'

export async function readFirmware(root: Root): Promise<Firmware> {
  const isEfi = await root.exists('sys/firmware/efi')
  const tables = 'sys/firmware/acpi/tables'
  let found: Firmware['iommuTable']
  for (const table of ['DMAR', 'IVRS', 'IORT'] as const) if (await root.exists(`${tables}/${table}`)) found ??= table
  return {
    isEfi,
    secureBoot: isEfi ? await readSecureBoot(root) : false,
    iommuTable: (await root.exists(tables)) ? found : root.why(tables),
  }
}

/** UEFI 2.10 §3.3: one byte, after four bytes of attributes that efivarfs adds to each variable. */
async function readSecureBoot(root: Root): Promise<Known<boolean>> {
  const path = `sys/firmware/efi/efivars/SecureBoot-${EFI_GLOBAL}`
  const bytes = await root.bytes(path)
  return bytes?.length === 5 ? bytes[4] === 1 : root.why(path)
}

/** Disks that are neither NVMe namespaces nor made of other disks, such as those of device mapper, md and loop. */
export async function readOtherDisks(root: Root): Promise<OtherDisk[]> {
  const disks: OtherDisk[] = []
  for (const name of await root.list('sys/block')) {
    if (!/^(sd|vd|xvd|mmcblk\d)[a-z]*$/.test(name)) continue
    const sectors = await root.number(`sys/block/${name}/size`)
    const model = await root.text(`sys/block/${name}/device/model`)
    // In sectors of 512 bytes, for any block size.
    disks.push({ name, sizeBytes: (sectors ?? 0) * 512, model })
  }
  return disks
}

const NODES = /^(nvidia.*|gpunvme\d+|nvme\d+(n\d+)?|kfd|dri)$/

/** Relevant device nodes. */
export async function readNodes(root: Root): Promise<string[]> {
  const names = (await root.list('dev')).filter((name) => NODES.test(name))
  const vfio = (await root.list('dev/vfio')).map((name) => `vfio/${name}`)
  const nodes = [...names, ...vfio]
  // In a copy, nodes are plain files, which are copied only if they are read.
  for (const node of nodes) await root.exists(`dev/${node}`)
  return nodes
}
