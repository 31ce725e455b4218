import { execFileSync } from 'node:child_process'
import { constants, mkdirSync, readlinkSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { simulate } from '@gpunvme/nvme-sim'
import { scratch } from '../../../../test/scratch.js'
import { Controller } from '../controller.js'
import { exclusiveAt, tryExclusive } from './exclusive.js'
import { DeviceHeldError, guardController, guardUnbinding } from './guard.js'
import { findHolders } from './holders.js'
import { DeviceUseUnknownError, Tree } from './tree.js'

const bdf = '0000:0b:00.0'
let root = ''

const rootMount = '36 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw'

beforeEach(() => {
  root = scratch()
  mounts(rootMount, '24 36 0:22 / /proc rw - proc proc rw')
  file('proc/swaps', 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n')
})

function file(path: string, text: string | Uint8Array): void {
  folder(join(path, '..'))
  writeFileSync(join(root, path), text)
}

function folder(path: string): void {
  mkdirSync(join(root, path), { recursive: true })
}

/** Creates a link as in sysfs and procfs: `to` is relative to the link, or not a path, such as mnt:[4026531840]. */
function link(path: string, to: string): void {
  folder(join(path, '..'))
  symlinkSync(to, join(root, path))
}

function remove(path: string): void {
  rmSync(join(root, path), { recursive: true })
}

function replaceByFile(path: string): void {
  remove(path)
  file(path, '')
}

function mounts(...lines: string[]): void {
  file('proc/self/mountinfo', `${lines.join('\n')}\n`)
}

/** Creates a drive of the nvme driver: one namespace, device number 259:0, and partitions from 259:1. */
function drive(partitions: readonly string[] = [], entry = 'nvme1n1'): string {
  const disk = 'sys/block/nvme1n1'
  folder(`sys/bus/pci/devices/${bdf}/nvme/nvme1/${entry}`)
  for (const [index, path] of [disk, ...partitions.map((name) => `${disk}/${name}`)].entries()) {
    folder(`${path}/holders`)
    file(`${path}/dev`, `259:${index}\n`)
  }
  return disk
}

/** Creates a device-mapper disk on top of another device. */
function mapped(below: string, name: string, number: string, label: string, uuid: string): string {
  folder(`${below}/holders/${name}`)
  file(`sys/block/${name}/dev`, `${number}\n`)
  file(`sys/block/${name}/dm/name`, `${label}\n`)
  file(`sys/block/${name}/dm/uuid`, `${uuid}\n`)
  return `sys/block/${name}`
}

/** Creates a process with open files and, if given, its own mount namespace. */
function runs(pid: number, name: string, open: readonly string[], own?: { mounts: readonly string[] }): void {
  file(`proc/${pid}/comm`, `${name}\n`)
  folder(`proc/${pid}/fd`)
  for (const [fd, path] of open.entries()) link(`proc/${pid}/fd/${fd}`, path)
  link(`proc/${pid}/ns/mnt`, own === undefined ? 'mnt:[4026531840]' : `mnt:[${4026532000 + pid}]`)
  file(`proc/${pid}/mountinfo`, `${(own?.mounts ?? [rootMount]).join('\n')}\n`)
}

/** Sets the device numbers of nodes, which a copied tree lacks. */
function nodes(numbers: Readonly<Record<string, string>>): void {
  vi.spyOn(Tree.prototype, 'deviceNumber').mockImplementation((path) =>
    Promise.resolve(numbers[readlinkSync(join(root, path))]),
  )
}

afterEach(() => {
  vi.restoreAllMocks()
})

test('reads the number of a device node in the format of the kernel', async () => {
  expect(await new Tree('/', bdf).deviceNumber('dev/null')).toBe('c1:3')
  expect(await new Tree('/', bdf).deviceNumber('proc/self/mountinfo')).toBeUndefined()
})

describe('finds no holder of', () => {
  test('a drive without a kernel driver', async () => {
    folder(`sys/bus/pci/devices/${bdf}`)
    expect(await findHolders(root, bdf)).toEqual([])
  })

  test('a controller without namespaces', async () => {
    folder(`sys/bus/pci/devices/${bdf}/nvme/nvme1/power`)
    expect(await findHolders(root, bdf)).toEqual([])
  })

  test('a drive with unused partitions on a machine that uses other drives', async () => {
    drive(['nvme1n1p1', 'nvme1n1p2'])
    mounts(rootMount, '41 36 259:10 / /other rw - ext4 /dev/nvme1n1p10 rw', '42 36 0:50 / /o rw - overlay overlay rw')
    file('proc/swaps', 'Filename\t\tType\n/dev/nvme1n1p20 partition\t8000000\t0\t-2\n/swapfile file\t1\t0\t-3\n')
    file('sys/block/loop0/loop/backing_file', '/var/lib/image\n')
    file('sys/block/zram0/backing_dev', 'none\n')
    runs(4242, 'smartd', ['/dev/nvme0', '/dev/null', 'socket:[1]'])
    expect(await findHolders(root, bdf)).toEqual([])
  })

  test('a drive on a kernel without swap support', async () => {
    drive()
    unlinkSync(join(root, 'proc/swaps'))
    expect(await findHolders(root, bdf)).toEqual([])
  })

  test('a function that is bound to vfio-pci but not open in any process', async () => {
    folder(`sys/bus/pci/devices/${bdf}`)
    link(`sys/bus/pci/devices/${bdf}/iommu_group`, '../../../kernel/iommu_groups/14')
    link(`sys/bus/pci/devices/${bdf}/driver`, '../../drivers/vfio-pci')
    runs(4242, 'qemu-system-x86', ['/dev/vfio/vfio', '/dev/vfio/140'])
    expect(await findHolders(root, bdf)).toEqual([])
  })
})

describe('mounts', () => {
  test('are found, as are swap and device-mapper members', async () => {
    const disk = drive(['nvme1n1p1', 'nvme1n1p2', 'nvme1n1p3'])
    mounts(rootMount, '40 36 259:1 / /home rw - ext4 /dev/disk/by-uuid/0c1d rw')
    file('proc/swaps', 'Filename\t\tType\n/dev/nvme1n1p2          partition\t8000000\t0\t-2\n')
    folder(`${disk}/nvme1n1p3/holders/dm-0`)
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'mounted on /home' },
      { device: 'nvme1n1p2', use: 'swap' },
      { device: 'nvme1n1p3', use: 'held by dm-0' },
    ])
  })

  test('of the root and boot file systems are found', async () => {
    drive(['nvme1n1p1', 'nvme1n1p2', 'nvme1n1p3'])
    mounts(
      '36 1 259:3 / / rw - ext4 /dev/root rw',
      '37 36 259:2 / /boot rw - ext4 /dev/nvme1n1p2 rw',
      '38 37 259:1 / /boot/efi rw - vfat /dev/nvme1n1p1 rw',
    )
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'mounted on /boot/efi' },
      { device: 'nvme1n1p2', use: 'mounted on /boot' },
      { device: 'nvme1n1p3', use: 'mounted on /' },
    ])
  })

  test('of a file system without its own device number are found by device name', async () => {
    drive(['nvme1n1p1'])
    mounts('42 36 0:45 / /data rw - btrfs /dev/nvme1n1p1 rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /data' }])
  })

  test('are found through a symbolic link to the device', async () => {
    drive(['nvme1n1p1'])
    file('dev/nvme1n1p1', '')
    link('dev/disk/by-uuid/0c1d', '../../nvme1n1p1')
    mounts('42 36 0:45 /@home /home rw - btrfs /dev/disk/by-uuid/0c1d rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /home' }])
  })

  test('of a multi-device file system are found by each device in the list', async () => {
    drive(['nvme1n1p1'])
    mounts('42 36 0:45 / /data rw - bcachefs /dev/sdb:/dev/nvme1n1p1 rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /data' }])
  })

  test('are reported with unescaped spaces and backslashes', async () => {
    drive(['nvme1n1p1'])
    mounts('42 36 259:1 / /mnt/my\\040models\\134old rw shared:3 master:1 - xfs /dev/nvme1n1p1 rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /mnt/my models\\old' }])
  })

  test('in the mount namespace of a container are found once', async () => {
    drive(['nvme1n1p1'])
    link('proc/self/ns/mnt', 'mnt:[4026531840]')
    runs(10, 'systemd', [])
    const theirs = [rootMount, '42 36 259:1 /models /models ro - ext4 /dev/nvme1n1p1 ro']
    runs(20, 'server', [], { mounts: theirs })
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'mounted on /models in the mount namespace of process 20' },
    ])
  })

  test('of the multipath head device are found', async () => {
    drive(['nvme1n1p1'], 'nvme1c0n1')
    mounts('42 36 259:1 / / rw - ext4 /dev/root rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'mounted on /' }])
  })
})

describe('the stack above a device', () => {
  test('is reported up to its use: LUKS with LVM on top', async () => {
    const disk = drive(['nvme1n1p1', 'nvme1n1p2'])
    const crypt = mapped(`${disk}/nvme1n1p2`, 'dm-0', '254:0', 'cryptroot', 'CRYPT-LUKS2-9b1c-cryptroot')
    mapped(crypt, 'dm-1', '254:1', 'vg-root', 'LVM-0ZtQ9sbKvX')
    mapped(crypt, 'dm-2', '254:2', 'vg-swap', 'LVM-0ZtQ9sbKvY')
    mapped(crypt, 'dm-3', '254:3', 'vg-spare', 'LVM-0ZtQ9sbKvZ')
    mounts('36 1 254:1 / / rw - ext4 /dev/mapper/vg-root rw')
    file('proc/swaps', 'Filename\t\tType\n/dev/dm-2 partition\t8000000\t0\t-2\n')
    const luks = "held by dm-0 (LUKS 'cryptroot'), held by"
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p2', use: `${luks} dm-1 (LVM 'vg-root'), mounted on /` },
      { device: 'nvme1n1p2', use: `${luks} dm-2 (LVM 'vg-swap'), swap` },
      { device: 'nvme1n1p2', use: `${luks} dm-3 (LVM 'vg-spare')` },
    ])
  })

  test('is resolved by the name of a map without a udev link', async () => {
    const disk = drive()
    mapped(disk, 'dm-0', '254:0', 'data', '')
    mounts('36 1 0:40 / /data rw - btrfs /dev/mapper/data rw')
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1', use: "held by dm-0 (device mapper 'data'), mounted on /data" },
    ])
  })

  test.each([
    ['mpath-eui.0025388', "dm-0 (multipath 'x')"],
    ['part1-mpath-eui.0025388', "dm-0 (multipath 'x')"],
    ['CRYPT-PLAIN-x', "dm-0 (dm-crypt 'x')"],
    ['CRYPT-TCRYPT-x', "dm-0 (VeraCrypt 'x')"],
  ])('with the UUID %s is %s', async (uuid, held) => {
    mapped(drive(), 'dm-0', '254:0', 'x', uuid)
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1', use: `held by ${held}` }])
  })

  test('includes the level and name of an md array, and mounts of its partitions', async () => {
    const disk = drive()
    folder(`${disk}/holders/md127`)
    file('sys/block/md127/dev', '9:127\n')
    file('sys/block/md127/md/level', 'raid1\n')
    file('sys/block/md127/md127p1/dev', '259:9\n')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1', use: 'held by md127 (raid1)' }])
    file('dev/md127', '')
    link('dev/md/host:models', '../md127')
    mounts('36 1 259:9 / /models rw - xfs /dev/md127p1 rw')
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1', use: "held by md127 (raid1 'host:models'), md127p1 mounted on /models" },
    ])
  })

  test('is cut off at a cycle', async () => {
    const disk = drive()
    const above = mapped(disk, 'dm-0', '254:0', 'a', '')
    mapped(above, 'dm-1', '254:1', 'b', '')
    folder('sys/block/dm-1/holders/dm-0')
    expect(await findHolders(root, bdf)).toEqual([
      {
        device: 'nvme1n1',
        use: "held by dm-0 (device mapper 'a'), held by dm-1 (device mapper 'b'), held by dm-0 (device mapper 'a')",
      },
    ])
  })
})

describe('finds a holder without a holders entry in sysfs:', () => {
  test('btrfs with several devices', async () => {
    drive(['nvme1n1p1'])
    link('sys/fs/btrfs/8d7f/devices/nvme1n1p1', '../../../../block/nvme1n1/nvme1n1p1')
    link('sys/fs/btrfs/8d7f/devices/sdb', '../../../../block/sdb')
    folder('sys/fs/btrfs/features')
    mounts('42 36 0:45 / /data rw - btrfs /dev/sdb rw')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'part of btrfs 8d7f, mounted on /data' }])
  })

  // XDR, as in zpool.cache: lengths in four bytes, padded with zeros.
  const cache = Buffer.from(
    '\0\0\0\x04path\0\0\0\x09\0\0\0\x01\0\0\0\x1d/dev/disk/by-id/nvme-x-part1\0\0\0\0\0\0',
    'latin1',
  )

  test('an imported ZFS pool', async () => {
    drive(['nvme1n1p1'])
    file('dev/nvme1n1p1', '')
    link('dev/disk/by-id/nvme-x-part1', '../../nvme1n1p1')
    file('etc/zfs/zpool.cache', cache)
    file('proc/spl/kstat/zfs/arcstats', '')
    expect(await findHolders(root, bdf)).toEqual([]) // without an imported pool it is data, which signatures detect
    file('proc/spl/kstat/zfs/tank/state', 'ONLINE\n')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1n1p1', use: 'part of a ZFS pool (imported: tank)' }])
  })

  test('loop devices, zram and NVMe targets', async () => {
    drive(['nvme1n1p1', 'nvme1n1p2', 'nvme1n1p3', 'nvme1n1p4'])
    file('sys/block/loop3/loop/backing_file', '/dev/nvme1n1p1\n')
    file('sys/block/zram0/backing_dev', '/dev/nvme1n1p2\n')
    const target = 'sys/kernel/config/nvmet/subsystems/nqn.test/namespaces'
    file(`${target}/1/device_path`, '/dev/nvme1n1p3\n')
    file(`${target}/1/enable`, '1\n')
    file(`${target}/2/device_path`, '/dev/nvme1n1p4\n')
    file(`${target}/2/enable`, '0\n')
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'held by loop3' },
      { device: 'nvme1n1p2', use: 'held by zram0' },
      { device: 'nvme1n1p3', use: 'exported as namespace 1 of nqn.test' },
    ])
  })

  test('an NVMe target with passthrough of the controller', async () => {
    drive()
    const target = 'sys/kernel/config/nvmet/subsystems'
    file(`${target}/nqn.whole/passthru/device_path`, '/dev/nvme1\n')
    file(`${target}/nqn.whole/passthru/enable`, '1\n')
    file(`${target}/nqn.other/passthru/device_path`, '/dev/nvme0\n')
    file(`${target}/nqn.other/passthru/enable`, '1\n')
    file(`${target}/nqn.off/passthru/device_path`, '/dev/nvme1\n')
    file(`${target}/nqn.off/passthru/enable`, '0\n')
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1', use: 'exported whole as nqn.whole' }])
  })

  test('a process that opened a character device of the controller under another name', async () => {
    drive()
    file(`sys/bus/pci/devices/${bdf}/nvme/nvme1/dev`, '240:3\n')
    nodes({ '/srv/dev/node': 'c240:3' })
    runs(4242, 'guest', ['/srv/dev/node', '/srv/dev/other'])
    expect(await findHolders(root, bdf)).toEqual([{ device: 'nvme1', use: 'open in process 4242 (guest)' }])
  })

  test.each([
    ['its IOMMU group', 'sys/class/vfio/14', 'IOMMU group 14'],
    ['its IOMMU group without an IOMMU', 'sys/class/vfio/noiommu-14', 'IOMMU group 14'],
    ['its VFIO device', `sys/bus/pci/devices/${bdf}/vfio-dev/vfio3`, 'vfio3'],
    ['its UIO device', `sys/bus/pci/devices/${bdf}/uio/uio2`, 'uio2'],
    ['its gpunvme device', `sys/bus/pci/devices/${bdf}/misc/gpunvme0`, 'gpunvme0'],
  ])('a process that opened %s under another name', async (_, of, what) => {
    folder(`sys/bus/pci/devices/${bdf}`)
    link(`sys/bus/pci/devices/${bdf}/iommu_group`, '../../../kernel/iommu_groups/14')
    file(`${of}/dev`, '240:3\n')
    nodes({ '/srv/dev/node': 'c240:3' })
    runs(4242, 'guest', ['/srv/dev/node', '/srv/dev/other'])
    expect(await findHolders(root, bdf)).toEqual([
      { device: bdf, use: `driven from user space: its ${what} is open in process 4242 (guest)` },
    ])
  })

  test('no holder for an open character device with the number of the block device', async () => {
    const disk = drive()
    file(`${disk}/dev`, '240:3\n')
    nodes({ '/srv/dev/node': 'c240:3' })
    runs(4242, 'server', ['/srv/dev/node'])
    expect(await findHolders(root, bdf)).toEqual([])
  })

  test('processes that have the block device or a character device of the controller open', async () => {
    drive(['nvme1n1p1'])
    folder(`sys/bus/pci/devices/${bdf}/nvme/nvme1/ng1n1`)
    runs(4242, 'qemu-system-x86', ['/dev/null', '/dev/nvme1n1p1', '/dev/nvme1n1p1'])
    runs(4243, 'fio', ['/dev/ng1n1', '/dev/nvme1'])
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'open in process 4242 (qemu-system-x86)' },
      { device: 'ng1n1', use: 'open in process 4243 (fio)' },
      { device: 'nvme1', use: 'open in process 4243 (fio)' },
    ])
  })

  test('the EFI system partition of the current boot, mounted or not', async () => {
    drive(['nvme1n1p1'])
    file('dev/nvme1n1p1', '')
    link('dev/disk/by-partuuid/c12a7328-f81f-11d2-ba4b-00a0c93ec93b', '../../nvme1n1p1')
    const variables = 'sys/firmware/efi/efivars'
    const global = '8be4df61-93ca-11d2-aa0d-00e098032b8c'
    file(`${variables}/BootCurrent-${global}`, Uint8Array.of(6, 0, 0, 0, 0x0a, 0))
    // Attributes; active; 46 bytes of path; 'A'; a hard drive node: partition 1 at 800h, 100000h long, GPT; the end.
    const option = '07000000 01000000 2e00 41000000'
    const node = '04012a00 01000000 0008000000000000 0000100000000000 28732ac11ff8d211ba4b00a0c93ec93b 02 02 7fff0400'
    file(`${variables}/Boot000A-${global}`, Buffer.from(`${option}${node}`.replaceAll(' ', ''), 'hex'))
    expect(await findHolders(root, bdf)).toEqual([
      { device: 'nvme1n1p1', use: 'the EFI system partition that this machine booted from' },
    ])
  })
})

test.each([
  ['/dev/vfio/14', 'IOMMU group 14'],
  ['/dev/vfio/noiommu-14', 'IOMMU group 14'],
  ['/dev/vfio/devices/vfio0', 'vfio0'],
  ['/dev/uio0', 'uio0'],
  ['/dev/gpunvme0', 'gpunvme0'],
  [`/sys/devices/pci0000:00/0000:00:1d.0/${bdf}/resource0`, 'resource0'],
  [`/host/sys/devices/pci0000:00/0000:00:1d.0/${bdf}/resource0`, 'resource0'],
])('a process that has %s open is reported as a user-space driver', async (path, what) => {
  link(`sys/bus/pci/devices/${bdf}/iommu_group`, '../../../kernel/iommu_groups/14')
  folder(`sys/bus/pci/devices/${bdf}/vfio-dev/vfio0`)
  folder(`sys/bus/pci/devices/${bdf}/uio/uio0`)
  folder(`sys/bus/pci/devices/${bdf}/misc/gpunvme0`)
  runs(4242, 'nvmf_tgt', [path])
  // This process does not count: it may drive the device itself.
  runs(process.pid, 'node', [path])
  expect(await findHolders(root, bdf)).toEqual([
    { device: bdf, use: `driven from user space: its ${what} is open in process 4242 (nvmf_tgt)` },
  ])
})

describe('until the kernel driver releases a drive', () => {
  const claiming = (refused?: string) => {
    const held: string[] = []
    const claimDevice = (node: string) => {
      if (node === refused) return Promise.resolve(undefined)
      held.push(node)
      return Promise.resolve({ close: () => Promise.resolve(void held.splice(held.indexOf(node), 1)) })
    }
    return { held, claimDevice }
  }

  test('each whole disk is claimed', async () => {
    drive(['nvme1n1p1'])
    const { held, claimDevice } = claiming()
    const { release } = await guardUnbinding(root, bdf, claimDevice)
    expect(held).toEqual([join(root, 'dev/nvme1n1')])
    await release()
    await release()
    expect(held).toEqual([])
  })

  test('a disk that cannot be claimed counts as in use, and the claims on others are released', async () => {
    drive()
    folder(`sys/bus/pci/devices/${bdf}/nvme/nvme1/nvme1n2`)
    file('sys/block/nvme1n2/dev', '259:9\n')
    const { held, claimDevice } = claiming(join(root, 'dev/nvme1n2'))
    await expect(guardUnbinding(root, bdf, claimDevice)).rejects.toThrow(DeviceHeldError)
    expect(held).toEqual([])
  })
})

describe('the final check, an exclusive open,', () => {
  test('covers every device if no holder was found', async () => {
    drive(['nvme1n1p1'])
    const tried: string[] = []
    const attempt = (node: string) => {
      tried.push(node)
      return Promise.resolve(!node.endsWith('p1'))
    }
    expect(await findHolders(root, bdf, { tryExclusive: attempt })).toEqual([
      { device: 'nvme1n1p1', use: 'in use by an unknown holder: an exclusive open failed (EBUSY)' },
    ])
    expect(tried).toEqual([join(root, 'dev/nvme1n1'), join(root, 'dev/nvme1n1p1')])
  })

  test('runs on this machine, however its root is spelled, and not on a copied tree', () => {
    for (const live of ['/', '//', '/.', '/sys/..']) expect(exclusiveAt(live)).toBe(tryExclusive)
    expect(exclusiveAt(root)).toBeUndefined()
  })

  test('is skipped if a holder was found', async () => {
    drive(['nvme1n1p1'])
    mounts('42 36 259:1 / / rw - ext4 /dev/nvme1n1p1 rw')
    const attempt = () => Promise.reject(new Error('was made'))
    expect(await findHolders(root, bdf, { tryExclusive: attempt })).toHaveLength(1)
  })

  test('throws if it fails for a reason other than EBUSY', async () => {
    drive()
    const refusal = findHolders(root, bdf, { tryExclusive })
    await expect(refusal).rejects.toThrow(DeviceUseUnknownError)
    await expect(refusal).rejects.toThrow('/dev/nvme1n1: ENOENT')
  })

  test('fails while another open claims the device, and succeeds before and after', async ({ skip }) => {
    file('image', new Uint8Array(1024 * 1024))
    const losetup = (...args: string[]) => execFileSync('/usr/sbin/losetup', args, { stdio: 'pipe', encoding: 'utf8' })
    let loop: string
    try {
      loop = losetup('--find', '--show', join(root, 'image')).trim()
    } catch (error) {
      return skip(`no loop device can be made here: ${String(error).split('\n')[0]}`)
    }
    try {
      expect(await tryExclusive(loop)).toBe(true)
      const claim = await open(loop, constants.O_RDONLY | constants.O_EXCL)
      try {
        expect(await tryExclusive(loop)).toBe(false)
      } finally {
        await claim.close()
      }
      expect(await tryExclusive(loop)).toBe(true)
    } finally {
      losetup('--detach', loop)
    }
  })
})

describe('throws DeviceUseUnknownError for', () => {
  const disk = 'sys/block/nvme1n1'
  const cases: [what: string, path: string, make: (path: string) => void][] = [
    ['a missing function', `/sys/bus/pci/devices/${bdf}`, remove],
    ['no /proc', '/proc/self/mountinfo', () => remove('proc')],
    ['an empty list of mounts', '/proc/self/mountinfo', (path) => file(path, '')],
    ['an invalid list of mounts', '/proc/self/mountinfo', (path) => file(path, 'rootfs / rootfs rw 0 0\n')],
    ['an invalid list of swap areas', '/proc/swaps', (path) => file(path, '/dev/nvme1n1 partition\n')],
    ['a partition that vanishes', `/${disk}/nvme1n1p1/dev`, remove],
    ['a file in place of the holders directory', `/${disk}/holders`, replaceByFile],
  ]
  test.each(cases)('%s', async (_, path, make) => {
    drive(['nvme1n1p1'])
    make(path)
    const refusal = findHolders(root, bdf)
    await expect(refusal).rejects.toThrow(DeviceUseUnknownError)
    await expect(refusal).rejects.toMatchObject({ path, code: 'ERR_GPUNVME_DEVICE_USE_UNKNOWN' })
    await expect(refusal).rejects.toThrow(
      `Refused to take over ${bdf}: could not determine whether this machine uses it`,
    )
  })
})

test('Controller.open refuses a drive in use before it writes to the controller', async () => {
  drive(['nvme1n1p1'])
  mounts('42 36 259:1 / / rw - ext4 /dev/nvme1n1p1 rw')
  const { transport } = simulate()
  const before = transport.bar.read32(0x14)
  const refusal = Controller.open({ ...transport, bdf }, { sysRoot: root })
  await expect(refusal).rejects.toThrow(DeviceHeldError)
  await expect(refusal).rejects.toThrow('nvme1n1p1 is mounted on /')
  expect(transport.bar.read32(0x14)).toBe(before)
})

test('the error lists every holder with the devices in between', async () => {
  const disk = drive(['nvme1n1p1', 'nvme1n1p2'])
  mapped(`${disk}/nvme1n1p2`, 'dm-0', '254:0', 'cryptroot', 'CRYPT-LUKS2-9b1c-cryptroot')
  mounts('36 1 254:0 / / rw - ext4 /dev/mapper/cryptroot rw', '38 37 259:1 / /boot/efi rw - vfat /dev/nvme1n1p1 rw')
  await expect(guardController(root, { bdf })).rejects.toThrow(
    [
      'Refused to take over 0000:0b:00.0: this machine uses it',
      '  nvme1n1p1 is mounted on /boot/efi',
      "  nvme1n1p2 is held by dm-0 (LUKS 'cryptroot'), mounted on /",
      '  Try: unmount or detach what is listed, or choose another drive',
    ].join('\n'),
  )
})

test('the guard does nothing for a transport without a PCI address', async () => {
  await expect(guardController('/nonexistent', {})).resolves.toBeUndefined()
})

test.each(['', '.', '..', '0000:00:00.0/..', '00:00.0', 'nvme0', undefined as never])(
  'rejects the invalid address %j with a RangeError',
  async (address) => {
    await expect(findHolders('/', address)).rejects.toThrow(RangeError)
    await expect(findHolders('/', address)).rejects.toThrow('bdf: expected a PCI address')
  },
)
