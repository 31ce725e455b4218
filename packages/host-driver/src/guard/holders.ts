import { checkBdf } from '../machine-files/bdf.js'
import { nodeJs } from '../machine-files/node-js.js'
import { blockDevices, withPartitions, type BlockDevice } from './block-devices.js'
import { bootPartition } from './boot-partition.js'
import { exclusiveAt, type TryExclusive } from './exclusive.js'
import type { Holder } from './holder.js'
import { findMounts, type Mount } from './mounts.js'
import { backingDevices, btrfsDevices, passedOnControllers, zfsDevices, type DeviceUse } from './pools.js'
import { openFiles } from './processes.js'
import { describeHolder } from './stacked.js'
import { swapDevices } from './swaps.js'
import { Tree } from './tree.js'
import { userSpaceDriver } from './user-space-driver.js'

/** Uses of a drive that the guard cannot detect, for the prompt that asks a user to confirm taking the drive. */
export const UNDETECTABLE_USES: readonly string[] = [
  'files that a process mapped into memory, or registered with io_uring, and closed',
  'rnbd targets, and other kernel users that open a drive without an exclusive claim',
  'processes of other users, unless gpunvme runs as root',
  'another machine or guest that shares the drive',
]

/** Use of a device that the kernel reports as busy although no table lists a use. */
export const NOT_EXCLUSIVE = 'in use by an unknown holder: an exclusive open failed (EBUSY)'

/** Options of `findHolders`. */
export interface HolderOptions {
  /**
   * Final check of a device without any other use. Default: an exclusive open if root is '/'; otherwise none, since a
   * copied tree has no device nodes.
   */
  readonly tryExclusive?: TryExclusive | undefined
}

/**
 * Lists the uses of the drive at a PCI address: mounts in every mount namespace, swap, device mapper (LVM, LUKS,
 * multipath), md and bcache with everything above them, btrfs on several devices, ZFS, loop devices, NVMe targets,
 * processes that have it open, the EFI system partition of the boot, and drivers in user space. It cannot detect the
 * uses in `UNDETECTABLE_USES`.
 * @param root directory with sys/, proc/, dev/ and etc/: '/' on a live machine, a fixture tree in tests.
 * @throws RangeError for an invalid PCI address; DeviceUseUnknownError for a use that could not be checked: no answer
 *   does not mean "unused".
 */
export async function findHolders(root: string, bdf: string, options: HolderOptions = {}): Promise<Holder[]> {
  checkBdf(bdf)
  const tree = new Tree(root, bdf)
  await tree.list(`sys/bus/pci/devices/${bdf}`, []) // an absent function is an error, not an unused one
  const devices = await blockDevices(tree)
  const holders = await holdersOf(tree, devices)
  const attempt = options.tryExclusive ?? exclusiveAt(root)
  if (holders.length === 0 && attempt !== undefined) {
    for (const { name } of devices) {
      const free = await attempt(nodeJs.path.join(root, 'dev', name)).catch((error: unknown) =>
        tree.blind(`dev/${name}`, (error as NodeJS.ErrnoException).code ?? String(error), error),
      )
      if (!free) holders.push({ device: name, use: NOT_EXCLUSIVE })
    }
  }
  return holders
}

/** Lists the uses of these block devices, which may be gone by now, and of the drive itself. */
export async function holdersOf(tree: Tree, devices: readonly BlockDevice[]): Promise<Holder[]> {
  const facts = await gather(tree, devices)
  const holders: Holder[] = []
  for (const device of devices) {
    for (const use of await usesOf(tree, device, facts, new Set())) holders.push({ device: device.name, use })
  }
  return [...holders, ...(await characterDevices(tree)), ...(await userSpaceDriver(tree))]
}

interface Facts {
  readonly mounts: readonly Mount[]
  readonly uses: readonly DeviceUse[]
}

async function gather(tree: Tree, devices: readonly BlockDevice[]): Promise<Facts> {
  const mounts = await findMounts(tree)
  const groups = await Promise.all([
    swapDevices(tree),
    btrfsDevices(tree, mounts),
    zfsDevices(tree),
    backingDevices(tree),
    bootPartition(tree),
    openBlockDevices(tree, devices),
  ])
  return { mounts, uses: groups.flat() }
}

/** Lists open block devices of the drive, and open devices that may be above them. */
async function openBlockDevices(tree: Tree, devices: readonly BlockDevice[]): Promise<DeviceUse[]> {
  const nodes = new Set(devices.map(({ name }) => `/dev/${name}`))
  const above = /^\/dev\/(dm-\d+|md\d+(p\d+)?|bcache\d+(p\d+)?|mapper\/.+)$/
  const numbers = new Map(devices.map(({ name, number }) => [`b${number}`, `/dev/${name}`]))
  const files = await openFiles(tree, (path) => nodes.has(path) || above.test(path), numbers)
  return files.map(({ path, use }) => ({ device: path.replace('/dev/', ''), use }))
}

/**
 * Lists uses of the controller's character device (nvme0) and of those of its namespaces (ng0n1), which accept commands
 * as well. Includes an NVMe target that exports the whole controller.
 */
async function characterDevices(tree: Tree): Promise<Holder[]> {
  const path = `sys/bus/pci/devices/${tree.bdf}/nvme`
  const nodes = new Map<string, string | undefined>()
  for (const controller of await tree.list(path)) {
    nodes.set(`/dev/${controller}`, await tree.text(`${path}/${controller}/dev`))
    for (const entry of await tree.list(`${path}/${controller}`)) {
      if (!/^(ng|nvme)\d+(c\d+)?n\d+$/.test(entry)) continue
      const name = entry.replace('nvme', 'ng').replace(/c\d+/, '')
      nodes.set(`/dev/${name}`, await tree.text(`sys/class/nvme-generic/${name}/dev`))
    }
  }
  if (nodes.size === 0) return []
  const numbers = Array.from(nodes, ([node, number]): [string, string] => [`c${number ?? ''}`, node])
  const files = await openFiles(tree, (file) => nodes.has(file), new Map(numbers))
  const passedOn = (await passedOnControllers(tree)).filter(({ device }) => nodes.has(`/dev/${device}`))
  return [...files.map(({ path: file, use }) => ({ device: file.replace('/dev/', ''), use })), ...passedOn]
}

/**
 * Returns the uses of a device, including those of the devices above it; `below` has the names of the devices below.
 */
async function usesOf(tree: Tree, device: BlockDevice, facts: Facts, below: ReadonlySet<string>): Promise<string[]> {
  const uses = facts.mounts
    // By number, since the source may be /dev/root; by name, since a btrfs mount has no device number.
    .filter(({ number, devices }) => number === device.number || devices.some((node) => device.nodes.includes(node)))
    .map(({ where }) => `mounted on ${where}`)
  for (const each of facts.uses.filter((use) => device.nodes.includes(use.device)).map(({ use }) => use))
    uses.push(each)
  for (const name of await tree.list(`${device.path}/holders`)) {
    const held = `held by ${await describeHolder(tree, name)}`
    const above = await usesAbove(tree, name, facts, new Set([...below, device.name]))
    for (const each of above.length > 0 ? above.map((use) => `${held}, ${use}`) : [held]) uses.push(each)
  }
  return uses
}

async function usesAbove(tree: Tree, name: string, facts: Facts, below: ReadonlySet<string>): Promise<string[]> {
  // It is a holder, even if nothing else is known about it.
  if (below.has(name) || (await tree.text(`sys/block/${name}/dev`)) === undefined) return []
  const uses: string[] = []
  for (const device of await withPartitions(tree, name)) {
    const part = device.name === name ? '' : `${device.name} `
    for (const each of (await usesOf(tree, device, facts, below)).map((use) => `${part}${use}`)) uses.push(each)
  }
  return uses
}
