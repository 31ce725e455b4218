import type { Described, DescribedFunction } from './described.js'
import { cpus, distributions, gpus, openDriver, others, ports, proprietaryDriver, ssds } from './parts/index.js'

const server = (vendor: string, name: string, bios: string) => ({ vendor, name, bios, chassis: 23 })
const rootOnSda = [{ source: 'sda', where: '/', type: 'ext4' }]
const bootDisk = [{ name: 'sda', gib: 447, model: 'DELLBOSS VD' }]

/** A Xeon host with a GPU and a drive below one PLX switch. */
function plx(acs: readonly string[]): Described['pci'] {
  return {
    '0000:17': [
      ports.skylakeE('17:00.0', {
        node: 0,
        behind: [
          ports.plxUp('18:00.0', {
            node: 0,
            behind: [
              ports.plxDown('19:04.0', {
                node: 0,
                acs,
                containment: true,
                behind: [gpus.a100('1a:00.0', 131_072, { node: 0, now: { gen: 3, lanes: 16 } })],
              }),
              ports.plxDown('19:08.0', {
                node: 0,
                acs,
                max: { gen: 3, lanes: 4 },
                behind: [ssds.p4510('1b:00.0', 'nvme0', { node: 0, aspm: [] })],
              }),
            ],
          }),
        ],
      }),
    ],
    '0000:d7': [
      ports.skylakeE('d7:00.0', {
        node: 1,
        max: { gen: 3, lanes: 4 },
        behind: [ssds.p4510('d8:00.0', 'nvme1', { node: 1, partitions: 1, aspm: [] })],
      }),
    ],
  }
}

const genoaPort = (address: string, node: number, behind: DescribedFunction, lanes = 16) =>
  ports.genoa(address, { node, max: { gen: 5, lanes }, behind: [behind] })

export const servers: readonly Described[] = [
  {
    name: 'server-xeon-plx',
    point: 'GPU and drive below one PLX switch with ACS off: P2P does not leave the switch',
    board: server('Supermicro', 'X11DPG-QT', '3.8a'),
    cpu: cpus.xeon6248,
    memoryGib: 384,
    kernel: '5.15.0-157-generic',
    distribution: distributions.ubuntu2204,
    commandLine: 'ro intel_iommu=off',
    pci: plx([]),
    disks: bootDisk,
    nvidia: openDriver('570.211.01'),
    mounts: [...rootOnSda, { source: 'nvme1n1p1', where: '/scratch', type: 'xfs' }],
  },
  {
    name: 'server-xeon-plx-acs',
    point: 'the same switch with ACS redirecting: what the GPU sends goes up to the processor and down again',
    board: server('Supermicro', 'X11DPG-QT', '3.8a'),
    cpu: cpus.xeon6248,
    memoryGib: 384,
    kernel: '5.15.0-157-generic',
    distribution: distributions.ubuntu2204,
    commandLine: 'ro intel_iommu=on',
    iommu: 'translated',
    pci: plx(['SV', 'RR', 'CR', 'UF']),
    disks: bootDisk,
    nvidia: proprietaryDriver('535.230.02'),
    mounts: [...rootOnSda, { source: 'nvme1n1p1', where: '/scratch', type: 'xfs' }],
  },
  {
    name: 'server-epyc-two-sockets',
    point: 'two sockets: an H100 and a drive at each, and paths that cross between them',
    board: server('Dell Inc.', '0FDMRC', '1.11.2'),
    cpu: cpus.epyc9354,
    memoryGib: 768,
    kernel: '5.14.0-503.40.1.el9_5.x86_64',
    distribution: distributions.rocky9,
    iommu: 'passthrough',
    commandLine: 'ro iommu=pt',
    hugePages: [{ kib: 1_048_576, pages: 16, free: 16 }],
    pci: {
      '0000:00': [ports.genoaRoot('00:00.0', { node: 0 }), genoaPort('00:01.1', 0, gpus.h100('01:00.0', { node: 0 }))],
      '0000:40': [
        ports.genoaRoot('40:00.0', { node: 0 }),
        genoaPort('40:03.1', 0, ssds.cd8('41:00.0', 'nvme0', { node: 0, aspm: [] }), 4),
      ],
      '0000:80': [
        ports.genoaRoot('80:00.0', { node: 1 }),
        genoaPort('80:01.1', 1, gpus.h100('81:00.0', { node: 1 })),
        genoaPort('80:03.1', 1, ssds.cd8('82:00.0', 'nvme1', { node: 1, blockBytes: 4096, aspm: [] }), 4),
      ],
      '0000:c0': [others.aspeed('c1:00.0', { node: 1 })],
    },
    disks: bootDisk,
    nvidia: openDriver('570.211.01'),
    mounts: rootOnSda,
  },
  {
    name: 'server-h200-pex890',
    point:
      'H200 and Gen5 drives below a Gen5 switch, as in servers for eight of them; 64-bit BAR0, so BAR1 is PCI BAR 2',
    board: server('Supermicro', 'X13DEG-OAD', '2.1'),
    cpu: cpus.xeon8480,
    memoryGib: 2048,
    kernel: '6.8.0-85-generic',
    distribution: distributions.ubuntu2404,
    commandLine: 'ro iommu=pt pci=realloc=off',
    iommu: 'passthrough',
    pci: {
      '0000:15': [
        ports.sapphireRoot('15:00.0', { node: 0 }),
        ports.sapphire('15:01.0', {
          node: 0,
          behind: [
            ports.pex890Up('16:00.0', {
              node: 0,
              behind: [
                ports.pex890Down('17:00.0', { node: 0, acs: [], behind: [gpus.h200('18:00.0', { node: 0 })] }),
                ports.pex890Down('17:01.0', {
                  node: 0,
                  acs: [],
                  max: { gen: 5, lanes: 4 },
                  behind: [ssds.cd8('19:00.0', 'nvme0', { node: 0, aspm: [] })],
                }),
                ports.pex890Down('17:02.0', {
                  node: 0,
                  acs: [],
                  max: { gen: 5, lanes: 4 },
                  behind: [ssds.cd8('1a:00.0', 'nvme1', { node: 0, aspm: [] })],
                }),
                ports.pex890Down('17:03.0', { node: 0, acs: [], behind: [others.network('1b:00.0', { node: 0 })] }),
              ],
            }),
          ],
        }),
      ],
    },
    disks: bootDisk,
    nvidia: openDriver('570.211.01'),
    stacked: [{ on: ['nvme0n1', 'nvme1n1'], name: 'md0', level: 'raid0' }],
    mounts: [...rootOnSda, { source: 'md0', where: '/raid', type: 'ext4' }],
  },
  {
    name: 'server-sapphire-rapids',
    point: 'a Xeon whose root complex Linux does not list as one that passes P2P between root ports',
    board: server('Supermicro', 'X13SEI-TF', '2.3'),
    cpu: { ...cpus.xeon8480, sockets: 1, threads: 112 },
    memoryGib: 512,
    kernel: '6.12.43+deb13-amd64',
    distribution: distributions.debian13,
    iommu: 'translated',
    commandLine: 'ro intel_iommu=on',
    pci: {
      '0000:15': [
        ports.sapphire('15:01.0', {
          node: 0,
          behind: [gpus.a6000('16:00.0', 65_536, { node: 0, now: { gen: 1, lanes: 16 } })],
        }),
      ],
      '0000:26': [
        ports.sapphire('26:03.0', {
          node: 0,
          max: { gen: 5, lanes: 4 },
          behind: [ssds.pm1733('27:00.0', 'nvme0', { node: 0, aspm: [] })],
        }),
      ],
    },
    disks: bootDisk,
    nvidia: proprietaryDriver('535.230.02'),
    mounts: rootOnSda,
  },
  {
    name: 'server-zfs',
    point: 'a headless server without a GPU, whose drives are a ZFS pool',
    board: server('Supermicro', 'H13SSW', '1.5'),
    cpu: { ...cpus.epyc9354, sockets: 1, threads: 64 },
    memoryGib: 256,
    kernel: '6.1.0-40-amd64',
    distribution: distributions.debian12,
    iommu: 'translated',
    pci: {
      '0000:00': [
        ports.genoaRoot('00:00.0', { node: 0 }),
        genoaPort('00:01.1', 0, ssds.pm1733('01:00.0', 'nvme0', { node: 0, partitions: 2 }), 4),
        genoaPort('00:01.2', 0, ssds.pm1733('02:00.0', 'nvme1', { node: 0, partitions: 2 }), 4),
        others.aspeed('00:05.0', { node: 0 }),
      ],
    },
    disks: bootDisk,
    modules: ['zfs'],
    zfs: { pool: 'tank', devices: ['nvme0n1p1', 'nvme1n1p1'] },
    mounts: [...rootOnSda, { source: 'tank', where: '/tank', type: 'zfs' }],
  },
  {
    name: 'hedt-threadripper',
    point: 'Threadripper PRO with four drives on a bifurcated card, one of them at fewer lanes than it has',
    board: { vendor: 'ASUSTeK COMPUTER INC.', name: 'Pro WS WRX90E-SAGE SE', bios: '0801', chassis: 3 },
    cpu: cpus.threadripper,
    memoryGib: 256,
    kernel: '6.14.0-33-generic',
    distribution: distributions.ubuntu2404,
    iommu: 'passthrough',
    commandLine: 'ro iommu=pt',
    hugePages: [{ kib: 2048, pages: 1024, free: 1000 }],
    pci: {
      '0000:00': [
        ports.genoaRoot('00:00.0'),
        ports.genoa('00:01.1', { behind: [gpus.rtx5090('01:00.0', 32_768, { now: { gen: 5, lanes: 16 } })] }),
      ],
      '0000:40': [
        ports.genoaRoot('40:00.0'),
        ports.genoa('40:01.1', { max: { gen: 5, lanes: 4 }, behind: [ssds.t700('41:00.0', 'nvme0')] }),
        ports.genoa('40:01.2', { max: { gen: 5, lanes: 4 }, behind: [ssds.t700('42:00.0', 'nvme1')] }),
        ports.genoa('40:01.3', {
          max: { gen: 5, lanes: 4 },
          behind: [ssds.t700('43:00.0', 'nvme2', { now: { gen: 5, lanes: 2 } })],
        }),
        ports.genoa('40:01.4', {
          max: { gen: 5, lanes: 4 },
          behind: [ssds.sn850x('44:00.0', 'nvme3', { partitions: 2 })],
        }),
      ],
    },
    nvidia: openDriver('590.48.01'),
    mounts: [
      { source: 'nvme3n1p2', where: '/', type: 'ext4' },
      { source: 'nvme3n1p1', where: '/boot/efi', type: 'vfat' },
    ],
  },
]
