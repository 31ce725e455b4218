import { unknown, type Known } from './known.js'
import type { Namespace, Partition } from './machine.js'
import type { Root } from './root.js'

/** Unit of the kernel's sizes, for any block size of the namespace. */
const SECTOR_BYTES = 512

/**
 * Reads the namespaces of a controller and their content, without opening a device. With native multipath, a controller
 * has a path, nvme0c1n1, of the namespace nvme0n1.
 * @param path directory of the controller: sys/bus/pci/devices/BDF/nvme/nvme0
 */
export async function readNamespaces(root: Root, path: string): Promise<Namespace[]> {
  const found: Namespace[] = []
  for (const entry of await root.list(path)) {
    if (!/^nvme\d+(c\d+)?n\d+$/.test(entry)) continue
    const name = entry.replace(/c\d+/, '')
    const block = `sys/block/${name}`
    const transferKib = await root.number(`${block}/queue/max_hw_sectors_kb`)
    found.push({
      name,
      sizeBytes: await sizeOf(root, block),
      blockBytes: (await root.number(`${block}/queue/logical_block_size`)) ?? SECTOR_BYTES,
      maxTransferBytes: transferKib === undefined ? undefined : transferKib * 1024,
      format: await formatOf(root, block),
      partitions: await readPartitions(root, name),
    })
  }
  return found
}

async function readPartitions(root: Root, disk: string): Promise<Partition[]> {
  const numberOf = (name: string) => Number(name.slice(disk.length + 1))
  const names = (await root.list(`sys/block/${disk}`)).filter(
    (name) => name.startsWith(`${disk}p`) && /^\d+$/.test(name.slice(disk.length + 1)),
  )
  return Promise.all(
    names
      .sort((one, other) => numberOf(one) - numberOf(other))
      .map(async (name) => {
        const block = `sys/block/${disk}/${name}`
        return { name, sizeBytes: await sizeOf(root, block), format: await formatOf(root, block) }
      }),
  )
}

async function sizeOf(root: Root, block: string): Promise<number> {
  return ((await root.number(`${block}/size`)) ?? 0) * SECTOR_BYTES
}

/** Reads udev's record of a block device, which is readable without root. */
async function formatOf(root: Root, block: string): Promise<Known<string>> {
  const number = await root.text(`${block}/dev`)
  if (number === undefined) return root.why(`${block}/dev`)
  const path = `run/udev/data/b${number}`
  const lines = (await root.lines(path, FORMAT_PROPERTY))?.map((line) => FORMAT_PROPERTY.exec(line)!)
  if (lines === undefined) return root.why(path)
  const valueOf = (key: string) => lines.find(([, name]) => name === key)?.[2]
  // The record of a FAT partition may call its boot sector a partition table: the file system is preferred.
  return valueOf('ID_FS_TYPE') ?? valueOf('ID_PART_TABLE_TYPE') ?? unknown(`/${path} has no format`)
}

/** File system, volume manager, RAID or encryption; and the kind of partition table. */
const FORMAT_PROPERTY = /^E:(ID_FS_TYPE|ID_PART_TABLE_TYPE)=(.+)$/
