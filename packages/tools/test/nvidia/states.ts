import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDriver, type DescribedDriver } from './described-driver.js'

export interface NvidiaState {
  readonly description: string
  /** Kernel release of the machine. */
  readonly kernel: string
  readonly driver: DescribedDriver
}

const BEFORE_6_10 = { follow_pfn: 'any', follow_pte: 'GPL' } as const
const FROM_6_12 = { follow_pfnmap_start: 'GPL', follow_pfnmap_end: 'GPL' } as const

/** Drivers that differ in the flavours and versions that run, are on disk, and are in the initramfs. */
export const NVIDIA_STATES = {
  none: { description: 'no driver of NVIDIA at all', kernel: '6.12.43+deb13-amd64', driver: { symvers: FROM_6_12 } },
  'open-570-on-6.8': {
    description: 'Ubuntu 24.04: open 570, built by DKMS, signed for Secure Boot',
    kernel: '6.8.0-60-generic',
    driver: {
      running: { version: '570.133.07', flavour: 'open' },
      onDisk: {
        version: '570.133.07',
        flavour: 'open',
        pfn: 'follow_pte',
        compression: 'gzip',
        signer: 'host Secure Boot Module Signature key',
      },
      initramfs: {},
      libcuda: '570.133.07',
      dkms: [{ version: '570.133.07', flavour: 'open', built: true }],
      symvers: { follow_pte: 'GPL' },
    },
  },
  'open-580-on-6.12': {
    description: 'Debian 13: open 580 with the look-up that 6.12 has, static BAR1 by itself',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '580.142', flavour: 'open' },
      onDisk: { version: '580.142', flavour: 'open', pfn: 'follow_pfnmap_start' },
      initramfs: {},
      libcuda: '580.142',
      params: { EnableResizableBar: '1' },
      modprobe: { 'nvidia.conf': 'options nvidia NVreg_EnableResizableBar=1\n' },
      dkms: [{ version: '580.142', flavour: 'open', built: true }],
      symvers: FROM_6_12,
    },
  },
  'open-560-on-6.12': {
    description: 'open 560: knows only follow_pte, which 6.12 no longer has',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '560.35.03', flavour: 'open' },
      onDisk: { version: '560.35.03', flavour: 'open', pfn: 'none' },
      libcuda: '560.35.03',
      dkms: [{ version: '560.35.03', flavour: 'open', built: true }],
      symvers: FROM_6_12,
    },
  },
  'proprietary-535-on-6.1': {
    description: 'Debian 12: proprietary 535, which calls follow_pfn of 6.1',
    kernel: '6.1.0-37-amd64',
    driver: {
      running: { version: '535.261.03', flavour: 'proprietary' },
      onDisk: { version: '535.261.03', flavour: 'proprietary', pfn: 'follow_pfn' },
      initramfs: {},
      libcuda: '535.261.03',
      dkms: [{ name: 'nvidia-current', version: '535.261.03', flavour: 'proprietary', built: true }],
      symvers: BEFORE_6_10,
    },
  },
  'proprietary-580-on-6.17': {
    description: 'proprietary 580 on 6.17: builds, and can look nothing up',
    kernel: '6.17.0-8-generic',
    driver: {
      running: { version: '580.142', flavour: 'proprietary' },
      onDisk: { version: '580.142', flavour: 'proprietary', pfn: 'none', compression: 'gzip' },
      initramfs: { version: '580.142', flavour: 'proprietary' },
      libcuda: '580.142',
      dkms: [{ version: '580.142', flavour: 'proprietary', built: true }],
      symvers: FROM_6_12,
    },
  },
  'running-is-not-disk': {
    description: 'upgraded from 570 to 580 without a restart: CUDA refuses',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '570.133.07', flavour: 'open' },
      onDisk: { version: '580.142', flavour: 'open', pfn: 'follow_pfnmap_start' },
      initramfs: {},
      libcuda: '580.142',
      symvers: FROM_6_12,
    },
  },
  'stale-initramfs': {
    description: 'the initramfs still has the proprietary module of before, and options that nobody put into it',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '575.64.05', flavour: 'proprietary' },
      onDisk: { version: '580.142', flavour: 'open', pfn: 'follow_pfnmap_start' },
      initramfs: { version: '575.64.05', flavour: 'proprietary' },
      modprobe: { 'nvidia.conf': 'options nvidia NVreg_RegistryDwords="RMForceStaticBar1=1"\n' },
      libcuda: '580.142',
      symvers: FROM_6_12,
    },
  },
  'dkms-two-trees': {
    description: 'an open and a proprietary tree in DKMS, and two modules for one kernel',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '550.163.01', flavour: 'proprietary' },
      onDisk: { version: '550.163.01', flavour: 'proprietary', pfn: 'none' },
      alsoOnDisk: [
        { version: '580.142', flavour: 'open', pfn: 'follow_pfnmap_start', folder: 'kernel/drivers/video' },
        { version: '550.163.01', flavour: 'proprietary', pfn: 'follow_pfn', kernel: '6.1.0-37-amd64' },
      ],
      libcuda: '550.163.01',
      dkms: [
        { name: 'nvidia-current', version: '550.163.01', flavour: 'proprietary', built: true },
        { name: 'nvidia-open', version: '580.142', flavour: 'open', built: false },
      ],
      symvers: FROM_6_12,
    },
  },
  'no-headers': {
    description: 'a module without the headers of its kernel, and without libcuda',
    kernel: '6.12.43+deb13-amd64',
    driver: {
      running: { version: '590.48.01', flavour: 'open' },
      onDisk: { version: '590.48.01', flavour: 'open', pfn: 'none' },
      params: { RegistryDwords: '"RMForceStaticBar1=0;PeerMappingOverride=1"' },
    },
  },
} as const satisfies Record<string, NvidiaState>

export type NvidiaStateName = keyof typeof NVIDIA_STATES

/** Writes a machine in a named state below `into`, with one RTX 3090. */
export function writeNvidiaState(into: string, name: NvidiaStateName): void {
  const { driver, kernel } = NVIDIA_STATES[name]
  for (const folder of ['proc/sys/kernel', 'sys/module', 'usr/lib', 'lib/modules'])
    mkdirSync(join(into, folder), { recursive: true })
  writeFileSync(join(into, 'proc/sys/kernel/osrelease'), `${kernel}\n`)
  writeDriver(into, driver, { kernel, gpus: [{ address: '0000:0b:00.0', model: 'NVIDIA GeForce RTX 3090' }] })
}
