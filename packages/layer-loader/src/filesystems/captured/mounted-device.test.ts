import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../../test/scratch.js'
import { mountedDevice } from './mounted-device.js'

/** Creates a root folder with /proc/self/mountinfo and these files and links. */
function tree(
  mountinfo: string,
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>>,
): string {
  const root = scratch()
  for (const [path, text] of Object.entries({ ...files, 'proc/self/mountinfo': `${mountinfo}\n` })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    symlinkSync(target, join(root, path))
  }
  return root
}

const DISK = 'sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1'
const partition = {
  [`${DISK}/size`]: '1000215216\n',
  [`${DISK}/nvme0n1p2/partition`]: '2\n',
  [`${DISK}/nvme0n1p2/start`]: '1050624\n',
  [`${DISK}/nvme0n1p2/size`]: '999162511\n',
}
const links = {
  'sys/dev/block/259:2': `../../../${DISK}/nvme0n1p2`,
  'sys/dev/block/259:0': `../../../${DISK}`,
}
// The format of proc_pid_mountinfo(5), with an optional field before the dash.
const mount = (number: string, type: string, options = 'rw') =>
  `22 1 0:5 / /proc rw - proc proc rw\n25 1 ${number} / /models rw,relatime shared:1 - ${type} /dev/nvme0n1p2 ${options}`

/** Device number of major 259, minor 2, as packed by the C library. */
const DEVICE_259_2 = 0x10302n
const DEVICE_259_0 = 0x10300n

test('mountedDevice finds the partition of a device number, with its start in bytes', async () => {
  const root = tree(mount('259:2', 'ext4'), partition, links)
  expect(await mountedDevice(root, '/models/m', DEVICE_259_2)).toEqual({
    device: { disk: 'nvme0n1', partition: 'nvme0n1p2', fileSystem: 'ext4' },
    partitionStartBytes: 1_050_624 * 512,
    partitionBytes: 999_162_511 * 512,
  })
})

test('mountedDevice returns offset 0 for a file system on a complete drive', async () => {
  const root = tree(mount('259:0', 'xfs'), partition, links)
  expect(await mountedDevice(root, '/models/m', DEVICE_259_0)).toEqual({
    device: { disk: 'nvme0n1', fileSystem: 'xfs' },
    partitionStartBytes: 0,
    partitionBytes: 1_000_215_216 * 512,
  })
})

test('mountedDevice unpacks large major and minor numbers as packed by makedev(3)', async () => {
  const number = 'sys/dev/block/4660:74565'
  const root = tree(mount('4660:74565', 'ext4'), partition, { [number]: `../../../${DISK}/nvme0n1p2` })
  // 1234h and 12345h: makedev gives 12 bits of the major from bit 8, the rest from bit 44; 8 bits of the minor, the rest
  // from bit 20.
  expect((await mountedDevice(root, 'm', 0x1000_1232_3445n)).device.partition).toBe('nvme0n1p2')
})

test.each([
  ['btrfs, which may be on several devices', mount('259:2', 'btrfs'), 'btrfs'],
  ['f2fs, which moves files', mount('259:2', 'f2fs'), 'f2fs'],
  ['ext4 with its data in the journal', mount('259:2', 'ext4', 'rw,data=journal'), 'data=journal'],
  ['XFS with a realtime device', mount('259:2', 'xfs', 'rw,rtdev=/dev/sdb'), 'rtdev'],
  ['a mount that is not listed', mount('8:1', 'ext4'), '259:2'],
])('a file on %s is rejected', async (_, mounts, said) => {
  await expect(mountedDevice(tree(mounts, partition, links), '/models/m', DEVICE_259_2)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_CAPTURE_MOUNT',
    message: expect.stringContaining(said) as string,
  })
})

test('a file that is not on a block device is rejected', async () => {
  const root = tree(mount('259:2', 'ext4'), partition, {})
  await expect(mountedDevice(root, 'm', DEVICE_259_2)).rejects.toMatchObject({ code: 'ERR_GPUNVME_CAPTURE_MOUNT' })
})

test.each([
  ['device mapper', 'dm-0', 'dm/name', 'device mapper'],
  ['md', 'md0', 'md/level', 'md'],
  ['a loop device', 'loop3', 'loop/backing_file', 'loop'],
  ['bcache', 'bcache0', 'bcache/state', 'bcache'],
  ['an unknown device with devices below it', 'new0', 'slaves/nvme0n1', 'nvme0n1'],
])('a file on stacked storage is rejected: %s', async (_, name, entry, said) => {
  const folder = `sys/devices/virtual/block/${name}`
  const root = tree(
    mount('259:2', 'ext4'),
    { [`${folder}/size`]: '2048\n', [`${folder}/${entry}`]: 'x\n' },
    {
      'sys/dev/block/259:2': `../../../${folder}`,
    },
  )
  await expect(mountedDevice(root, 'm', DEVICE_259_2)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_CAPTURE_STACKED',
    message: expect.stringContaining(said) as string,
  })
})
