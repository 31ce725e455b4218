import type { Described, DescribedDrive, DescribedStack } from './described.js'
import type { TreeWriter } from './tree-writer.js'
import type { Placed } from './write-pci.js'

const GIB = 2 ** 30
const PARTITION_GIB = 100

/** Device numbers of block devices by name, for partitions and stacks. */
type Numbers = Map<string, { readonly folder: string; readonly number: string }>

export function writeDrives(tree: TreeWriter, machine: Described, placed: readonly Placed[]): void {
  tree.folder('sys/block')
  tree.folder('dev')
  const numbers: Numbers = new Map()
  for (const { found, address, folder } of placed) {
    if (found.nvme !== undefined) writeController(tree, found.nvme, address, folder, numbers)
  }
  for (const { name, gib, model } of machine.disks ?? []) {
    const disk = `sys/devices/disks/${name}`
    tree.file(`${disk}/size`, gib * (GIB / 512))
    tree.file(`${disk}/device/model`, model)
    addBlockDevice(tree, numbers, disk, name, 8)
  }
  for (const stack of machine.stacked ?? []) writeStack(tree, stack, numbers)
  writeMounts(tree, machine, numbers)
  for (const [name, properties] of Object.entries(machine.udev ?? {})) {
    const lines = Object.entries(properties).map(([key, value]) => `E:${key}=${value}`)
    // In the order of udevd: links, time of initialization, properties, tags.
    const record = [`S:disk/by-path/${name}`, 'I:1734567', 'E:ID_SERIAL=private', ...lines, 'G:systemd']
    tree.file(`run/udev/data/b${numbers.get(name)!.number}`, record.join('\n'))
  }
}

function writeController(
  tree: TreeWriter,
  drive: DescribedDrive,
  address: string,
  above: string,
  numbers: Numbers,
): void {
  const folder = `${above}/nvme/${drive.name}`
  const put = (name: string, value: string | number) => tree.file(`${folder}/${name}`, value)
  put('model', drive.model.padEnd(40))
  put('serial', drive.serial.padEnd(20))
  put('firmware_rev', drive.firmware.padEnd(8))
  put('state', drive.state ?? 'live')
  put('transport', 'pcie')
  put('address', address)
  put('queue_count', 17)
  put('sqsize', 1023)
  put('hmb', drive.hmb ? 1 : 0)
  put('dev', `240:${drive.name.slice(4)}`)
  tree.link(`sys/class/nvme/${drive.name}`, folder)
  tree.file(`dev/${drive.name}`, '')
  if (drive.celsius !== undefined) {
    put('hwmon2/temp1_input', drive.celsius * 1000)
    put('hwmon2/temp1_max', 81_850)
    put('hwmon2/temp1_crit', 84_850)
  }
  for (const [index, namespace] of drive.namespaces.entries()) {
    const name = `${drive.name}n${index + 1}`
    const disk = `${folder}/${name}`
    tree.file(`${disk}/size`, namespace.gib * (GIB / 512))
    tree.file(`${disk}/queue/logical_block_size`, namespace.blockBytes ?? 512)
    tree.file(`${disk}/queue/max_hw_sectors_kb`, namespace.transferKib ?? 512)
    addBlockDevice(tree, numbers, disk, name, 259)
    for (let part = 1; part <= (namespace.partitions ?? 0); part++) {
      const partition = `${name}p${part}`
      tree.file(`${disk}/${partition}/size`, PARTITION_GIB * (GIB / 512))
      addBlockDevice(tree, numbers, `${disk}/${partition}`, partition, 259)
    }
  }
}

function addBlockDevice(tree: TreeWriter, numbers: Numbers, folder: string, name: string, major: number): void {
  const number = `${major}:${numbers.size}`
  numbers.set(name, { folder, number })
  tree.file(`${folder}/dev`, number)
  tree.folder(`${folder}/holders`)
  tree.file(`dev/${name}`, '')
  if (!name.includes('p')) tree.link(`sys/block/${name}`, folder)
}

function writeStack(tree: TreeWriter, { on, name, label, uuid, level }: DescribedStack, numbers: Numbers): void {
  const folder = `sys/devices/virtual/block/${name}`
  addBlockDevice(tree, numbers, folder, name, 253)
  for (const below of on) tree.link(`${numbers.get(below)!.folder}/holders/${name}`, folder)
  if (label !== undefined) {
    tree.file(`${folder}/dm/name`, label)
    tree.file(`${folder}/dm/uuid`, uuid ?? '')
    tree.rawLink(`dev/mapper/${label}`, `../${name}`)
  }
  if (level !== undefined) tree.file(`${folder}/md/level`, level)
}

/** proc_pid_mountinfo(5). */
function writeMounts(tree: TreeWriter, machine: Described, numbers: Numbers): void {
  const sys = machine.isContainer ? 'ro' : 'rw'
  const lines = [
    `22 1 0:21 / /sys ${sys},nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs ${sys}`,
    '23 1 0:22 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw',
  ]
  for (const [index, { source, where, type }] of (machine.mounts ?? []).entries()) {
    const number = numbers.get(source)?.number ?? '0:60'
    const device = numbers.has(source) ? `/dev/${source}` : source
    lines.push(`${30 + index} 1 ${number} / ${where} rw,relatime shared:${index + 1} - ${type} ${device} rw`)
  }
  tree.file('proc/self/mountinfo', lines.join('\n'))
  tree.rawLink('proc/self/ns/mnt', 'mnt:[4026531841]')
  const swaps = (machine.swaps ?? []).map((name) => `/dev/${name}  partition\t8388604\t\t0\t\t-2`)
  tree.file('proc/swaps', ['Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority', ...swaps].join('\n'))
  for (const { pid, name, open } of machine.processes ?? []) {
    tree.file(`proc/${pid}/comm`, name)
    for (const [fd, path] of open.entries()) tree.rawLink(`proc/${pid}/fd/${fd}`, path)
  }
  if (machine.zfs === undefined) return
  tree.file(`proc/spl/kstat/zfs/${machine.zfs.pool}/state`, 'ONLINE')
  const names = machine.zfs.devices.map((device) => `\u0000\u0000path\u0000/dev/${device}\u0000`)
  tree.file('etc/zfs/zpool.cache', Buffer.from(names.join('')))
}
