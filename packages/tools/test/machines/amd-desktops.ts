import type { Described, DescribedFunction } from './described.js'
import {
  cpus,
  desktop,
  distributions,
  gpus,
  openDriver,
  others,
  ports,
  proprietaryDriver,
  radeon7900,
  rootOn,
  ssds,
} from './parts/index.js'

const strixB450 = desktop('ASUSTeK COMPUTER INC.', 'ROG STRIX B450-F GAMING II', '5202')

/** B450: the CPU's lanes are Gen3, and the second M.2 slot uses half of the GPU's. The chipset's lanes are Gen2. */
function b450(
  gpu: DescribedFunction,
  first: DescribedFunction,
  rest: readonly DescribedFunction[] = [],
  behindChipset: readonly DescribedFunction[] = [],
) {
  const gen3 = { gen: 3, lanes: 16 }
  const half = rest.length > 0
  return {
    '0000:00': [
      ports.matisseRoot('00:00.0'),
      ports.matisse('00:01.1', { max: { gen: 3, lanes: 4 }, behind: [first] }),
      ports.matisse('00:01.3', {
        max: { gen: 3, lanes: 4 },
        behind: [
          ports.b450Up('02:00.2', {
            behind: [ports.b450Down('03:00.0', { now: 'down' }), ports.b450Down('03:04.0', { behind: behindChipset })],
          }),
          others.b450Sata('02:00.1'),
        ],
      }),
      ports.matisse('00:03.1', { max: half ? { gen: 3, lanes: 8 } : gen3, behind: [gpu] }),
      ...(half ? [ports.matisse('00:03.2', { max: { gen: 3, lanes: 4 }, behind: rest })] : []),
    ],
  }
}

export const amdDesktops: readonly Described[] = [
  {
    name: 'amd-b450-rtx3090',
    point:
      'the rig that this project is measured against: GPU at x8, since the second M.2 slot takes its lanes; IOMMU off',
    board: strixB450,
    cpu: cpus.ryzen5800x,
    memoryGib: 48,
    kernel: '6.17.0-8-generic',
    distribution: distributions.ubuntu2404,
    commandLine: 'ro quiet splash amd_iommu=off',
    hugePages: [{ kib: 2048, pages: 64, free: 64 }],
    pci: b450(
      gpus.rtx3090('0a:00.0', 32_768, { now: { gen: 1, lanes: 8 }, power: { control: 'on' } }),
      ssds.sn530('01:00.0', 'nvme0', { partitions: 2 }),
      [ssds.sn740('0b:00.0', 'nvme1', { partitions: 4, now: { gen: 3, lanes: 4 } })],
    ),
    nvidia: openDriver('590.48.01'),
    mounts: rootOn('nvme0n1'),
    udev: {
      nvme1n1: { ID_PART_TABLE_TYPE: 'gpt' },
      nvme1n1p1: { ID_FS_TYPE: 'vfat', ID_PART_TABLE_TYPE: 'dos' },
      nvme1n1p2: {},
      nvme1n1p3: { ID_FS_TYPE: 'ntfs' },
      nvme1n1p4: { ID_FS_TYPE: 'ext4' },
    },
    nodes: ['nvidia0', 'nvidiactl', 'nvidia-uvm'],
  },
  {
    name: 'amd-b450-proprietary',
    point:
      'the same board with the proprietary flavour, 256 MiB of BAR1, and the drive to use behind the chipset at Gen2',
    board: desktop('Micro-Star International Co., Ltd.', 'B450 TOMAHAWK MAX (MS-7C02)', '3.H0'),
    cpu: cpus.ryzen3600,
    memoryGib: 16,
    kernel: '6.12.43+deb13-amd64',
    distribution: distributions.debian13,
    iommu: 'translated',
    pci: b450(
      gpus.rtx3070('09:00.0', 256, { now: { gen: 1, lanes: 16 } }),
      ssds.s970('01:00.0', 'nvme0', { partitions: 2 }),
      [],
      [ssds.p31('05:00.0', 'nvme1', { now: { gen: 2, lanes: 4 } })],
    ),
    nvidia: proprietaryDriver('550.163.01'),
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'amd-b550-chipset-ssd',
    point: 'B550: one drive on lanes of the CPU, one behind the chipset at Gen3; passthrough mode',
    board: desktop('Gigabyte Technology Co., Ltd.', 'B550 AORUS ELITE V2', 'F17'),
    cpu: cpus.ryzen5800x,
    memoryGib: 64,
    kernel: '6.8.0-85-generic',
    distribution: distributions.ubuntu2404,
    commandLine: 'ro quiet iommu=pt',
    iommu: 'passthrough',
    pci: {
      '0000:00': [
        ports.matisseRoot('00:00.0'),
        ports.matisse('00:01.1', {
          max: { gen: 4, lanes: 4 },
          behind: [ssds.s980pro('01:00.0', 'nvme0', { partitions: 2 })],
        }),
        ports.matisse('00:02.1', {
          max: { gen: 3, lanes: 4 },
          behind: [
            ports.b550Up('02:00.2', {
              behind: [
                ports.b550Down('03:00.0', {
                  acs: [],
                  behind: [ssds.sn850x('04:00.0', 'nvme1', { now: { gen: 3, lanes: 4 } })],
                }),
              ],
            }),
            others.b550Usb('02:00.0'),
          ],
        }),
        ports.matisse('00:03.1', { behind: [gpus.rtx4090('06:00.0', 32_768, { now: { gen: 1, lanes: 16 } })] }),
      ],
    },
    nvidia: openDriver('580.95.05'),
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'amd-x570-two-drives',
    point: 'X570: Gen4 everywhere, IOMMU translating, Arch with a kernel of last week and the newest driver',
    board: desktop('ASRock', 'X570 Taichi', 'P5.65'),
    cpu: cpus.ryzen5800x,
    memoryGib: 64,
    kernel: '7.2.1-arch1-1',
    distribution: distributions.arch,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.matisseRoot('00:00.0'),
        ports.matisse('00:01.1', { max: { gen: 4, lanes: 4 }, behind: [ssds.sn850x('01:00.0', 'nvme0')] }),
        ports.matisse('00:01.2', {
          max: { gen: 4, lanes: 4 },
          behind: [
            ports.x570Up('02:00.0', {
              behind: [
                ports.x570Down('03:01.0', {
                  acs: ['SV', 'RR', 'CR', 'UF'],
                  behind: [ssds.s980pro('04:00.0', 'nvme1', { partitions: 2 })],
                }),
              ],
            }),
          ],
        }),
        ports.matisse('00:03.1', { behind: [gpus.rtx3090('0e:00.0', 32_768, { now: { gen: 1, lanes: 16 } })] }),
      ],
    },
    nvidia: openDriver('615.71.09'),
    mounts: [
      { source: 'nvme1n1p2', where: '/', type: 'btrfs' },
      { source: 'nvme1n1p1', where: '/boot', type: 'vfat' },
    ],
  },
  {
    name: 'amd-x670e-rtx5090',
    point: 'X670E: a Gen5 card and a Gen5 drive on lanes of the CPU, a second drive behind the chipset',
    board: desktop('ASUSTeK COMPUTER INC.', 'ROG STRIX X670E-E GAMING WIFI', '3057'),
    cpu: cpus.ryzen7950x,
    memoryGib: 96,
    kernel: '6.12.43+deb13-amd64',
    distribution: distributions.debian13,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.raphaelRoot('00:00.0'),
        ports.raphael('00:01.1', { behind: [gpus.rtx5090('01:00.0', 32_768, { now: { gen: 1, lanes: 16 } })] }),
        ports.raphael('00:01.2', { max: { gen: 5, lanes: 4 }, behind: [ssds.t700('02:00.0', 'nvme0')] }),
        ports.raphael('00:02.1', {
          max: { gen: 4, lanes: 4 },
          behind: [
            ports.x670Up('03:00.0', {
              behind: [
                ports.x670Down('04:00.0', { acs: [], behind: [ssds.s990pro('05:00.0', 'nvme1', { partitions: 2 })] }),
              ],
            }),
          ],
        }),
      ],
    },
    nvidia: openDriver('590.48.01'),
    mounts: rootOn('nvme1n1'),
  },
  {
    name: 'amd-b650-vfio-ready',
    point: 'everything as it should be: open driver, huge pages, the drive bound to vfio-pci in a group of its own',
    board: desktop('Micro-Star International Co., Ltd.', 'MAG B650 TOMAHAWK WIFI (MS-7D75)', '1.N0'),
    cpu: cpus.ryzen7950x,
    memoryGib: 64,
    kernel: '6.14.0-33-generic',
    distribution: distributions.ubuntu2404,
    iommu: 'translated',
    hugePages: [
      { kib: 2048, pages: 512, free: 512 },
      { kib: 1_048_576, pages: 4, free: 4 },
    ],
    lockLimitBytes: 64 * 2 ** 30,
    pci: {
      '0000:00': [
        ports.raphaelRoot('00:00.0'),
        ports.raphael('00:01.1', { behind: [gpus.rtx5060ti('01:00.0', 16_384, { now: { gen: 5, lanes: 8 } })] }),
        ports.raphael('00:01.2', {
          max: { gen: 5, lanes: 4 },
          behind: [ssds.sn850x('02:00.0', 'nvme0', { driver: 'vfio-pci', driverOverride: 'vfio-pci', aspm: [] })],
        }),
        ports.raphael('00:02.1', {
          max: { gen: 4, lanes: 4 },
          behind: [
            ports.x670Up('03:00.0', {
              behind: [ports.x670Down('04:00.0', { behind: [ssds.s980pro('05:00.0', 'nvme1', { partitions: 2 })] })],
            }),
          ],
        }),
      ],
    },
    nvidia: { ...openDriver('590.48.01'), dkms: [{ version: '590.48.01', flavour: 'open', built: true }] },
    modules: ['vfio', 'vfio_iommu_type1'],
    mounts: rootOn('nvme1n1'),
    nodes: ['vfio/vfio', 'vfio/4', 'nvidia0', 'nvidiactl'],
  },
  {
    name: 'amd-apu-no-gpu',
    point: 'no GPU, and a Gen4 drive on a processor that has Gen3',
    board: desktop('ASRock', 'B550M-ITX/ac', 'P2.20'),
    cpu: cpus.ryzen5600g,
    memoryGib: 32,
    kernel: '6.1.0-40-amd64',
    distribution: distributions.debian12,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.cezanneRoot('00:00.0'),
        ports.cezanne('00:02.2', {
          max: { gen: 3, lanes: 4 },
          behind: [ssds.sn740('01:00.0', 'nvme0', { partitions: 2, now: { gen: 3, lanes: 4 } })],
        }),
      ],
    },
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'amd-radeon-7900',
    point: 'an AMD GPU: behind a switch of its own, whose upstream port has the link that counts',
    board: desktop('Gigabyte Technology Co., Ltd.', 'X670E AORUS MASTER', 'F32'),
    cpu: cpus.ryzen7950x,
    memoryGib: 64,
    kernel: '6.16.9-200.fc42.x86_64',
    distribution: distributions.fedora42,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.raphaelRoot('00:00.0'),
        ports.raphael('00:01.1', { behind: [radeon7900('01:00.0', '02:00.0', '03:00.0')] }),
        ports.raphael('00:01.2', {
          max: { gen: 5, lanes: 4 },
          behind: [ssds.s990pro('04:00.0', 'nvme0', { partitions: 2 })],
        }),
      ],
    },
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'amd-dkms-trap',
    point: 'running, on disk and in the initramfs are three versions; the DKMS tree is the proprietary one',
    board: strixB450,
    cpu: cpus.ryzen5800x,
    memoryGib: 48,
    kernel: '6.17.0-8-generic',
    distribution: distributions.ubuntu2404,
    commandLine: 'ro quiet splash amd_iommu=off iomem=relaxed',
    pci: b450(
      gpus.rtx3090('0a:00.0', 256, { now: { gen: 3, lanes: 8 } }),
      ssds.sn530('01:00.0', 'nvme0', { partitions: 2 }),
      [ssds.sn740('0b:00.0', 'nvme1')],
    ),
    nvidia: {
      running: { version: '590.48.01', flavour: 'open' },
      onDisk: { version: '595.58.03', flavour: 'proprietary', pfn: 'none' },
      initramfs: { version: '590.48.01' },
      dkms: [{ version: '595.58.03', flavour: 'proprietary', built: true }],
      libcuda: '595.58.03',
    },
    mounts: rootOn('nvme0n1'),
  },
  {
    name: 'amd-two-cards-bifurcated',
    point: 'two RTX 3090 at x8 each, registry keys for static BAR1, drive mounted as data',
    board: desktop('ASUSTeK COMPUTER INC.', 'ProArt X570-CREATOR WIFI', '1302'),
    cpu: cpus.ryzen5800x,
    memoryGib: 128,
    kernel: '6.8.0-85-generic',
    distribution: distributions.ubuntu2404,
    commandLine: 'ro quiet iommu=pt',
    iommu: 'passthrough',
    pci: {
      '0000:00': [
        ports.matisseRoot('00:00.0'),
        ports.matisse('00:01.1', {
          max: { gen: 4, lanes: 4 },
          behind: [ssds.s980pro('01:00.0', 'nvme0', { partitions: 1, drive: { celsius: 72 } })],
        }),
        ports.matisse('00:03.1', {
          max: { gen: 4, lanes: 8 },
          behind: [gpus.rtx3090('09:00.0', 32_768, { now: { gen: 4, lanes: 8 } })],
        }),
        ports.matisse('00:03.2', {
          max: { gen: 4, lanes: 8 },
          behind: [gpus.rtx3090('0a:00.0', 32_768, { now: { gen: 4, lanes: 8 } })],
        }),
      ],
    },
    disks: [{ name: 'sda', gib: 447, model: 'CT480BX500SSD1' }],
    nvidia: {
      ...openDriver('580.95.05'),
      params: { RegistryDwords: '"RMForceStaticBar1=1;RMPcieP2PType=1"', EnableResizableBar: '1' },
    },
    mounts: [
      { source: 'sda', where: '/', type: 'ext4' },
      { source: 'nvme0n1p1', where: '/data', type: 'xfs' },
    ],
  },
]
