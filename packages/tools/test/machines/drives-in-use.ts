import type { Described } from './described.js'
import {
  cpus,
  distributions,
  gpus,
  openDriver,
  ports,
  proprietaryDriver,
  ssds,
  type SsdOptions,
} from './parts/index.js'

/** One board with the system disk and one more drive, so that machines differ only in that drive. */
function withDrive(
  options: SsdOptions,
): Pick<Described, 'board' | 'cpu' | 'memoryGib' | 'kernel' | 'distribution' | 'iommu' | 'pci' | 'disks' | 'nvidia'> {
  return {
    board: { vendor: 'ASRock', name: 'B550 Phantom Gaming 4', bios: 'P3.50', chassis: 3 },
    cpu: cpus.ryzen5800x,
    memoryGib: 32,
    kernel: '6.12.43+deb13-amd64',
    distribution: distributions.debian13,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.matisseRoot('00:00.0'),
        ports.matisse('00:01.1', { max: { gen: 4, lanes: 4 }, behind: [ssds.s980pro('01:00.0', 'nvme0', options)] }),
        ports.matisse('00:03.1', { behind: [gpus.rtx3090('02:00.0', 32_768, { now: { gen: 1, lanes: 16 } })] }),
      ],
    },
    disks: [{ name: 'sda', gib: 447, model: 'CT480BX500SSD1' }],
    nvidia: openDriver('580.95.05'),
  }
}

const root = { source: 'sda', where: '/', type: 'ext4' }

export const drivesInUse: readonly Described[] = [
  { name: 'drive-free', point: 'nobody uses the drive', ...withDrive({}), mounts: [root] },
  {
    name: 'drive-one-file-system',
    point: 'a file system without partitions is on a drive that is not in use',
    ...withDrive({}),
    mounts: [root],
    udev: { nvme0n1: { ID_FS_TYPE: 'ext4' } },
  },
  {
    name: 'drive-partitions-unknown',
    point: 'udev has no record of the partitions of a drive that is not in use',
    ...withDrive({ partitions: 2 }),
    mounts: [root],
  },
  {
    name: 'drive-swap',
    point: 'a partition of the drive is swap',
    ...withDrive({ partitions: 1 }),
    mounts: [root],
    swaps: ['nvme0n1p1'],
  },
  {
    name: 'drive-md',
    point: 'the drive is half of a RAID 1',
    ...withDrive({ partitions: 1 }),
    stacked: [{ on: ['nvme0n1p1', 'sda'], name: 'md127', level: 'raid1' }],
    mounts: [{ source: 'md127', where: '/', type: 'ext4' }],
  },
  {
    name: 'drive-open-in-qemu',
    point: 'a virtual machine has the drive open',
    ...withDrive({}),
    mounts: [root],
    processes: [{ pid: 4242, name: 'qemu-system-x86', open: ['/dev/nvme0n1', '/dev/kvm'] }],
  },
  {
    name: 'drive-in-vfio',
    point: 'vfio-pci has the drive and a process drives it; proprietary driver beside it',
    ...withDrive({ driver: 'vfio-pci', driverOverride: 'vfio-pci' }),
    nvidia: proprietaryDriver('580.95.05'),
    mounts: [root],
    modules: ['vfio', 'vfio_iommu_type1'],
    nodes: ['vfio/vfio', 'vfio/2'],
    processes: [{ pid: 777, name: 'node', open: ['/dev/vfio/vfio', '/dev/vfio/2'] }],
  },
  {
    name: 'drive-hot',
    point: 'the drive is at 79 degrees and about to slow down',
    ...withDrive({ drive: { celsius: 79 } }),
    mounts: [root],
  },
  {
    name: 'drive-dead',
    point: 'the driver has given the controller up',
    ...withDrive({ drive: { state: 'dead', namespaces: [] }, errors: { uncorrectable: 0x4000 } }),
    mounts: [root],
  },
  {
    name: 'drive-hostile-names',
    point: 'a drive whose names hold control characters: they must not reach the terminal',
    ...withDrive({
      drive: { model: 'EVIL\u001b[2J\u001b]0;x\u0007 SSD', serial: '\u202eLAIRES', firmware: '\u0000\u0001' },
    }),
    mounts: [root],
    udev: { nvme0n1: { ID_FS_TYPE: 'ext4\u001b[2J' } },
  },
]
