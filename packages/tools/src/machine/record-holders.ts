import type { Root } from './root.js'

/**
 * Records the files that the write guard (host-driver's findHolders) reads to find users of a drive; of processes, only
 * relevant ones.
 */
export async function recordHolders(root: Root): Promise<void> {
  for (const path of ['proc/self/mountinfo', 'proc/swaps', 'etc/zfs/zpool.cache']) await root.bytes(path)
  await root.link('proc/self/ns/mnt')
  for (const disk of await root.list('sys/block')) await recordDisk(root, disk)
  for (const uuid of await root.list('sys/fs/btrfs')) await root.list(`sys/fs/btrfs/${uuid}/devices`)
  // An imported pool has files there; their content is irrelevant.
  for (const entry of await root.list('proc/spl/kstat/zfs')) {
    for (const name of await root.list(`proc/spl/kstat/zfs/${entry}`))
      await root.exists(`proc/spl/kstat/zfs/${entry}/${name}`)
  }
  await recordControllers(root)
  await recordTargets(root)
  await recordBoot(root)
  for (const folder of ['dev/md', 'dev/mapper', 'dev/disk/by-partuuid', 'dev/disk/by-uuid']) {
    // Links are recorded with their targets, which need not be devices.
    for (const name of await root.list(folder)) await root.exists(`${folder}/${name}`)
  }
  await recordProcesses(root)
}

async function recordDisk(root: Root, disk: string): Promise<void> {
  const path = `sys/block/${disk}`
  const files = ['dev', 'dm/name', 'dm/uuid', 'md/level', 'loop/backing_file', 'backing_dev']
  for (const file of files) await root.text(`${path}/${file}`)
  await root.list(`${path}/holders`)
  for (const part of await root.list(path)) {
    if (!part.startsWith(`${disk}p`)) continue
    await root.text(`${path}/${part}/dev`)
    await root.list(`${path}/${part}/holders`)
  }
}

async function recordControllers(root: Root): Promise<void> {
  for (const address of await root.list('sys/bus/pci/devices')) {
    const path = `sys/bus/pci/devices/${address}`
    for (const folder of ['vfio-dev', 'uio', 'misc']) await root.list(`${path}/${folder}`)
    for (const controller of await root.list(`${path}/nvme`)) {
      await root.text(`${path}/nvme/${controller}/dev`)
      for (const entry of await root.list(`${path}/nvme/${controller}`))
        if (/^(ng|nvme)\d+(c\d+)?n\d+$/.test(entry)) await root.list(`${path}/nvme/${controller}/${entry}`)
    }
  }
  for (const name of await root.list('sys/class/nvme-generic')) await root.text(`sys/class/nvme-generic/${name}/dev`)
}

async function recordTargets(root: Root): Promise<void> {
  const subsystems = 'sys/kernel/config/nvmet/subsystems'
  for (const subsystem of await root.list(subsystems)) {
    const path = `${subsystems}/${subsystem}`
    const namespaces = (await root.list(`${path}/namespaces`)).map((nsid) => `namespaces/${nsid}`)
    for (const part of [...namespaces, 'passthru']) {
      await root.text(`${path}/${part}/enable`)
      await root.text(`${path}/${part}/device_path`)
    }
  }
}

/** Records the firmware's load options: the partition that it booted from. */
async function recordBoot(root: Root): Promise<void> {
  const folder = 'sys/firmware/efi/efivars'
  for (const name of await root.list(folder))
    if (/^Boot(Current|[0-9A-F]{4})-/.test(name)) await root.bytes(`${folder}/${name}`)
}

/**
 * Open files that refer to a drive: its nodes, devices above it, and drivers in user space. Other files are not
 * recorded.
 */
const CONCERNS = /\/(nvme|ng|dm-|md|bcache|mapper\/|vfio\/|uio|gpunvme)[^/]*$|\/resource\d(_wc)?$/

async function recordProcesses(root: Root): Promise<void> {
  // Processes come and go; only those with relevant files are recorded.
  const pids = (await root.list('proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    const links = await root.links(`proc/${pid}/fd`)
    const kept = links.filter(({ to }) => CONCERNS.test(to))
    for (const { name } of kept) await root.link(`proc/${pid}/fd/${name}`)
    if (kept.length > 0) await root.text(`proc/${pid}/comm`)
  }
}
