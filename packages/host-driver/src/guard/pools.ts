import { nodeJs } from '../machine-files/node-js.js'
import type { Mount } from './mounts.js'
import type { Tree } from './tree.js'

/** A use of a block device, by its kernel name, that neither a mount nor a holder in sysfs shows. */
export interface DeviceUse {
  readonly device: string
  readonly use: string
}

/** Lists the devices of mounted btrfs file systems: mountinfo names only one of several. */
export async function btrfsDevices(tree: Tree, mounts: readonly Mount[]): Promise<DeviceUse[]> {
  const uses: DeviceUse[] = []
  for (const uuid of await tree.list('sys/fs/btrfs')) {
    const devices = await tree.list(`sys/fs/btrfs/${uuid}/devices`)
    const places = mounts
      .filter((mount) => mount.type === 'btrfs' && mount.devices.some((device) => devices.includes(device)))
      .map(({ where }) => `, mounted on ${where}`)
    for (const device of devices) {
      if (mounts.some((mount) => mount.devices.includes(device))) continue // named there
      for (const each of (places.length > 0 ? places : ['']).map((on) => ({
        device,
        use: `part of btrfs ${uuid}${on}`,
      })))
        uses.push(each)
    }
  }
  return uses
}

/**
 * Lists the devices of ZFS pools. ZFS leaves no holder in sysfs, and its mounts name pools. Available are the list of
 * imported pools, and a cache file with the paths of their devices in a packed list of names and values.
 */
export async function zfsDevices(tree: Tree): Promise<DeviceUse[]> {
  const kstat = 'proc/spl/kstat/zfs'
  const entries = await tree.list(kstat)
  const pools: string[] = []
  for (const entry of entries)
    if ((await tree.list(`${kstat}/${entry}`, ['ENOENT', 'ENOTDIR'])).length > 0) pools.push(entry)
  if (pools.length === 0) return []
  const cache = await tree.bytes('etc/zfs/zpool.cache')
  const text = nodeJs.Buffer.from(cache ?? []).toString('latin1')
  const nodes = new Set(text.match(/\/dev\/[\x21-\x7e]+/g) ?? [])
  const use = `part of a ZFS pool (imported: ${pools.join(', ')})`
  return Promise.all(Array.from(nodes, async (node) => ({ device: await tree.deviceName(node), use })))
}

/**
 * Lists kernel users that open a block device without leaving a holder: loop devices, zram's backing device, NVMe
 * targets.
 */
export async function backingDevices(tree: Tree): Promise<DeviceUse[]> {
  const found: Use[] = []
  for (const name of await tree.list('sys/block')) {
    if (name.startsWith('loop'))
      found.push({ node: await tree.text(`sys/block/${name}/loop/backing_file`), use: `held by ${name}` })
    if (name.startsWith('zram'))
      found.push({ node: await tree.text(`sys/block/${name}/backing_dev`), use: `held by ${name}` })
  }
  const subsystems = 'sys/kernel/config/nvmet/subsystems'
  for (const subsystem of await tree.list(subsystems)) {
    for (const nsid of await tree.list(`${subsystems}/${subsystem}/namespaces`)) {
      const path = `${subsystems}/${subsystem}/namespaces/${nsid}`
      if ((await tree.text(`${path}/enable`)) !== '1') continue
      found.push({ node: await tree.text(`${path}/device_path`), use: `exported as namespace ${nsid} of ${subsystem}` })
    }
  }
  return byDevice(tree, found)
}

/** Lists NVMe targets that export a whole controller, by its character device: nvme0. */
export async function passedOnControllers(tree: Tree): Promise<DeviceUse[]> {
  const subsystems = 'sys/kernel/config/nvmet/subsystems'
  const found: Use[] = []
  for (const subsystem of await tree.list(subsystems)) {
    const path = `${subsystems}/${subsystem}/passthru`
    if ((await tree.text(`${path}/enable`)) !== '1') continue
    found.push({ node: await tree.text(`${path}/device_path`), use: `exported whole as ${subsystem}` })
  }
  return byDevice(tree, found)
}

interface Use {
  readonly node: string | undefined
  readonly use: string
}

function byDevice(tree: Tree, found: readonly Use[]): Promise<DeviceUse[]> {
  return Promise.all(
    found.flatMap(({ node, use }) =>
      node?.startsWith('/dev/') ? [tree.deviceName(node).then((device) => ({ device, use }))] : [],
    ),
  )
}
