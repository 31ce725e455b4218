import type { Tree } from './tree.js'

/** A disk or partition, by its kernel name. */
export interface BlockDevice {
  /** For example nvme0n1p2 or dm-0. */
  readonly name: string
  /** Its directory in the tree. */
  readonly path: string
  /** Major and minor number, as in sysfs and mountinfo: 259:2. */
  readonly number: string
  /** Possible names below /dev: its own, and its device mapper name if udev creates no link for that. */
  readonly nodes: readonly string[]
}

/** Returns the namespaces of the function and their partitions; none if the kernel's driver is not bound to it. */
export async function blockDevices(tree: Tree): Promise<BlockDevice[]> {
  const controllers = `sys/bus/pci/devices/${tree.bdf}/nvme`
  const devices: BlockDevice[] = []
  for (const controller of await tree.list(controllers)) {
    for (const entry of await tree.list(`${controllers}/${controller}`)) {
      if (!/^nvme\d+(c\d+)?n\d+$/.test(entry)) continue
      // With native multipath the controller has a path (nvme0c1n1). Mounts use the head (nvme0n1), which other
      // controllers of the subsystem may share.
      for (const each of await withPartitions(tree, entry.replace(/c\d+/, ''))) devices.push(each)
    }
  }
  return devices
}

/** Returns a disk and its partitions. @throws DeviceUseUnknownError if one disappears meanwhile. */
export async function withPartitions(tree: Tree, disk: string): Promise<BlockDevice[]> {
  const path = `sys/block/${disk}`
  // The kernel puts a p before the partition number if the disk name ends in a digit, as all names here do.
  const partitions = (await tree.list(path)).filter((name) => name.startsWith(`${disk}p`))
  const all = [{ name: disk, path }, ...partitions.map((name) => ({ name, path: `${path}/${name}` }))]
  return Promise.all(
    all.map(async ({ name, path }) => {
      const [number, mapped] = await Promise.all([tree.required(`${path}/dev`), tree.text(`${path}/dm/name`)])
      return { name, path, number, nodes: mapped === undefined ? [name] : [name, `mapper/${mapped}`] }
    }),
  )
}
