import type { Tree } from './tree.js'

/** A disk or partition, as the kernel names it. */
export interface BlockDevice {
  /** nvme0n1p2, dm-0. */
  readonly name: string
  /** Its folder in the tree. */
  readonly path: string
  /** Its major and minor number, as sysfs and mountinfo write them: 259:2. */
  readonly number: string
  /** What it may be called below /dev: its name, and device mapper's for it where udev makes no link of that. */
  readonly nodes: readonly string[]
}

/** The namespaces of the function at the tree's address, and their partitions. None when the kernel's driver is not on it. */
export async function blockDevices(tree: Tree): Promise<BlockDevice[]> {
  const controllers = `sys/bus/pci/devices/${tree.bdf}/nvme`
  const devices: BlockDevice[] = []
  for (const controller of await tree.list(controllers)) {
    for (const entry of await tree.list(`${controllers}/${controller}`)) {
      if (!/^nvme\d+(c\d+)?n\d+$/.test(entry)) continue
      // With native multipath the controller has a path, nvme0c1n1, and what is mounted is the head, nvme0n1, which
      // it may share with other controllers of its subsystem.
      for (const each of await withPartitions(tree, entry.replace(/c\d+/, ''))) devices.push(each)
    }
  }
  return devices
}

/** A disk that has to be there, and its partitions. @throws DeviceUseUnknownError when one vanishes under the look. */
export async function withPartitions(tree: Tree, disk: string): Promise<BlockDevice[]> {
  const path = `sys/block/${disk}`
  // Every disk that is spoken of here ends in a digit, and then the kernel puts a p before the partition's number.
  const partitions = (await tree.list(path)).filter((name) => name.startsWith(`${disk}p`))
  const all = [{ name: disk, path }, ...partitions.map((name) => ({ name, path: `${path}/${name}` }))]
  return Promise.all(
    all.map(async ({ name, path }) => {
      const [number, mapped] = await Promise.all([tree.required(`${path}/dev`), tree.text(`${path}/dm/name`)])
      return { name, path, number, nodes: mapped === undefined ? [name] : [name, `mapper/${mapped}`] }
    }),
  )
}
