import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Something on this machine that uses a drive. */
export interface Holder {
  /** The block device or partition: nvme0n1, nvme0n1p2. */
  readonly device: string
  /** How it is used: 'mounted on /home', 'swap', 'held by dm-0'. */
  readonly use: string
}

/**
 * Who uses the drive at a PCI address: mounts, swap, and whatever the kernel lists as a holder of its block devices
 * (device mapper and so LVM and LUKS, md, multipath).
 * @param root where sys/ and proc/ are: '/' on a live machine, a fixture tree in tests.
 */
export async function findHolders(root: string, bdf: string): Promise<Holder[]> {
  const [mounts, swaps] = await Promise.all([mountPoints(root), swapDevices(root)])
  const holders: Holder[] = []
  for (const { name, path } of await blockDevices(root, bdf)) {
    const node = `/dev/${name}`
    const number = await deviceNumber(path)
    for (const mount of mounts) {
      // By number, since the source may be spelled /dev/root or by UUID; by name, since btrfs mounts have no number.
      if (mount.number === number || mount.source === node)
        holders.push({ device: name, use: `mounted on ${mount.target}` })
    }
    if (swaps.includes(node)) holders.push({ device: name, use: 'swap' })
    for (const holder of await list(join(path, 'holders'))) holders.push({ device: name, use: `held by ${holder}` })
  }
  return holders
}

/** The namespaces of the function at `bdf` and their partitions. None when the kernel's driver does not own it. */
async function blockDevices(root: string, bdf: string): Promise<{ name: string; path: string }[]> {
  const controllers = join(root, 'sys/bus/pci/devices', bdf, 'nvme')
  const devices: { name: string; path: string }[] = []
  for (const controller of await list(controllers)) {
    for (const entry of await list(join(controllers, controller))) {
      if (!/^nvme\d+(c\d+)?n\d+$/.test(entry)) continue
      // With native multipath the controller has a path, nvme0c1n1, and what is mounted is the head, nvme0n1.
      const disk = entry.replace(/c\d+/, '')
      const path = join(root, 'sys/block', disk)
      devices.push({ name: disk, path })
      const partitions = (await list(path)).filter((name) => name.startsWith(`${disk}p`))
      devices.push(...partitions.map((name) => ({ name, path: join(path, name) })))
    }
  }
  return devices
}

/** Its major and minor number, as sysfs and mountinfo write them: 259:2. */
async function deviceNumber(path: string): Promise<string> {
  return (await readFile(join(path, 'dev'), 'utf8')).trim()
}

/** Every mount, by proc_pid_mountinfo(5): the device's number is the third field, its source the second after the dash. */
async function mountPoints(root: string): Promise<{ number: string; source: string; target: string }[]> {
  const text = await readFile(join(root, 'proc/self/mountinfo'), 'utf8')
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , number, , target] = before.split(' ')
    const source = after.split(' ')[1]
    return number && target && source ? [{ number, source, target }] : []
  })
}

async function swapDevices(root: string): Promise<string[]> {
  const text = await readFile(join(root, 'proc/swaps'), 'utf8')
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[0] ?? '')
}

/** Names in a directory; none where there is no such directory, which is how sysfs says that there is nothing. */
async function list(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
