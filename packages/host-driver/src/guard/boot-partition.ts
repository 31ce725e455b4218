import { nodeJs } from '../machine-files/node-js.js'
import type { DeviceUse } from './pools.js'
import type { Tree } from './tree.js'

// UEFI 2.10, 8.2 (variables), 3.1.3 (load options), 10.3.5.1 (the hard drive media device path).
const GLOBAL = '8be4df61-93ca-11d2-aa0d-00e098032b8c'
const ATTRIBUTE_BYTES = 4
const HARD_DRIVE = Uint8Array.of(4, 1, 42, 0)

/**
 * Returns the EFI system partition from which the firmware booted this machine. It need not be mounted. Empty on a
 * machine without EFI variables, or booted over the network.
 */
export async function bootPartition(tree: Tree): Promise<DeviceUse[]> {
  const current = (await tree.bytes(`sys/firmware/efi/efivars/BootCurrent-${GLOBAL}`))?.subarray(ATTRIBUTE_BYTES)
  if (current?.length !== 2) return []
  const number = (current[0]! | (current[1]! << 8)).toString(16).toUpperCase().padStart(4, '0')
  const option = await tree.bytes(`sys/firmware/efi/efivars/Boot${number}-${GLOBAL}`)
  const uuid = option && partitionUuid(nodeJs.Buffer.from(option))
  if (uuid === undefined) return []
  const node = `dev/disk/by-partuuid/${uuid}`
  if ((await tree.link(node)) === undefined) return []
  return [{ device: await tree.deviceName(`/${node}`), use: 'the EFI system partition that this machine booted from' }]
}

/**
 * Returns the partition's GUID from a load option's device path: byte 24 of the node, with its first three parts
 * swapped.
 */
function partitionUuid(option: Buffer): string | undefined {
  const node = option.indexOf(HARD_DRIVE)
  if (node < 0 || node + 42 > option.length) return undefined
  const hex = (order: readonly number[]) =>
    order.map((at) => option[node + 24 + at]!.toString(16).padStart(2, '0')).join('')
  return [
    [3, 2, 1, 0],
    [5, 4],
    [7, 6],
    [8, 9],
    [10, 11, 12, 13, 14, 15],
  ]
    .map(hex)
    .join('-')
}
