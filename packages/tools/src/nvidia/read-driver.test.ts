import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { writeDriver } from '../../test/nvidia/described-driver.js'
import { NVIDIA_STATES, writeNvidiaState, type NvidiaStateName } from '../../test/nvidia/states.js'
import { put } from '../../test/nvidia/synthetic-trees.js'
import { readNvidia } from './read-driver.js'

function machine(state: NvidiaStateName): string {
  const root = scratch()
  put(root, 'proc/cmdline', 'quiet\n')
  writeNvidiaState(root, state)
  return root
}

test('a machine without the driver has no parts, and none is unknown', async () => {
  const driver = await readNvidia(machine('none'))
  expect(driver).toMatchObject({
    running: undefined,
    conflictingModules: [],
    onDisk: [],
    initramfs: [],
    trees: [],
    dkms: [],
    gpus: [],
    libcuda: undefined,
    mismatches: [],
    staticBar1: { state: 'none' },
    kernels: [{ exports: { follow_pfnmap_start: 'GPL' } }],
  })
})

test('an open module is read with version, license, lookup and signer', async () => {
  const driver = await readNvidia(machine('open-570-on-6.8'))
  expect(driver.running).toMatchObject({ version: '570.133.07', flavour: 'open', references: 42, taints: 'OE' })
  expect(driver.onDisk).toEqual([
    {
      kernel: '6.8.0-60-generic',
      path: '/lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko.gz',
      compression: 'gzip',
      contents: {
        version: '570.133.07',
        license: 'Dual MIT/GPL',
        flavour: 'open',
        srcversion: 'A3537302E3133332E3037000',
        vermagicRelease: '6.8.0-60-generic',
        pfnLookup: 'follow_pte',
        mark: undefined,
        signer: 'host Secure Boot Module Signature key',
      },
    },
  ])
  expect(driver.staticBar1.state).toBe('p2p-only')
  expect(driver.gpus).toMatchObject([{ address: '0000:0b:00.0', model: 'NVIDIA GeForce RTX 3090', minor: 0 }])
  expect(driver.libcuda).toEqual({ path: '/usr/lib/x86_64-linux-gnu/libcuda.so.570.133.07', version: '570.133.07' })
  expect(driver.mismatches).toEqual([])
})

test('a proprietary module without lookup functions has pfnLookup none', async () => {
  const driver = await readNvidia(machine('proprietary-580-on-6.17'))
  expect(driver.onDisk).toMatchObject([{ contents: { flavour: 'proprietary', pfnLookup: 'none' } }])
  expect(driver.initramfs).toMatchObject([{ module: { version: '580.142', flavour: 'proprietary' } }])
  expect(driver.trees).toMatchObject([{ path: '/usr/src/nvidia-580.142', kind: 'proprietary-interface+binary' }])
  expect(driver.dkms).toMatchObject([{ name: 'nvidia', version: '580.142', state: 'built', architecture: 'x86_64' }])
})

test('an initramfs without the module has none, and is not unknown', async () => {
  const driver = await readNvidia(machine('open-580-on-6.12'))
  expect(driver.initramfs).toEqual([
    { kernel: '6.12.43+deb13-amd64', path: '/boot/initrd.img-6.12.43+deb13-amd64', module: undefined },
  ])
})

test.each<[NvidiaStateName, string[]]>([
  ['running-is-not-disk', ['running-and-disk', 'running-and-libcuda']],
  [
    'stale-initramfs',
    ['running-and-disk', 'flavours', 'disk-and-initramfs', 'running-and-libcuda', 'running-and-configured'],
  ],
  ['dkms-two-trees', ['several-modules', 'several-trees']],
  ['no-headers', []],
])('%s: all mismatches are listed', async (state, kinds) => {
  const { mismatches } = await readNvidia(machine(state))
  expect(mismatches.map(({ kind }) => kind)).toEqual(kinds)
})

test('running and configured registry keys are separate, and the command line takes precedence', async () => {
  const root = machine('no-headers')
  put(root, 'etc/modprobe.d/b.conf', 'options nvidia \\\n  NVreg_RegistryDwords="A=1;B=0x11"\n# options nvidia X=1\n')
  put(root, 'usr/lib/modprobe.d/b.conf', 'options nvidia NVreg_EnableResizableBar=7\n')
  put(root, 'proc/cmdline', 'quiet nvidia.NVreg_RegistryDwords=C=3\n')
  const { options, staticBar1 } = await readNvidia(root)
  expect(options.runningRegistry).toEqual({ RMForceStaticBar1: 0, PeerMappingOverride: 1 })
  expect(options.configured).toEqual([
    { file: '/etc/modprobe.d/b.conf', name: 'NVreg_RegistryDwords', value: 'A=1;B=0x11' },
    { file: '/proc/cmdline', name: 'NVreg_RegistryDwords', value: 'C=3' },
  ])
  expect(options.configuredRegistry).toEqual({ C: 3 })
  expect(staticBar1.state).toBe('off')
})

test('nouveau is listed as a rival', async () => {
  const root = machine('none')
  mkdirSync(join(root, 'sys/module/nouveau'), { recursive: true })
  expect((await readNvidia(root)).conflictingModules).toEqual(['nouveau'])
})

test('an empty tree gives unknown parts with reasons', async () => {
  const root = scratch()
  expect(await readNvidia(root)).toMatchObject({
    kernel: { unknown: 'there is no /proc/sys/kernel/osrelease' },
    running: { unknown: 'there is no /proc and no /sys' },
    onDisk: { unknown: 'there is no /lib/modules' },
  })
})

test.each([
  ['an empty file', Buffer.alloc(0), 'it is not an ELF file'],
  ['a text', Buffer.from('#!/bin/sh\n'.repeat(20)), 'it is not an ELF file'],
  ['damaged gzip', Buffer.from('1f8b08000000000000ff00', 'hex'), 'it is damaged'],
])('%s instead of a module is unknown with a reason', async (_, bytes, reason) => {
  const root = machine('open-580-on-6.12')
  put(root, 'lib/modules/6.12.43+deb13-amd64/updates/dkms/nvidia.ko', bytes)
  put(root, 'boot/initrd.img-6.12.43+deb13-amd64', Buffer.concat([Buffer.from('garbage'), bytes]))
  const driver = await readNvidia(root)
  expect(driver.onDisk).toMatchObject([{ contents: { unknown: expect.stringContaining(reason) as string } }])
  expect(driver.initramfs).toMatchObject([{ module: { unknown: expect.any(String) as string } }])
})

test('a module with our mark has the lookup of that mark', async () => {
  const root = machine('none')
  const onDisk = { version: '580.142', flavour: 'proprietary', pfn: 'none', mark: 'pfn-walk/1' } as const
  writeDriver(root, { onDisk }, { kernel: NVIDIA_STATES.none.kernel, gpus: [] })
  expect((await readNvidia(root)).onDisk).toMatchObject([
    { contents: { pfnLookup: 'page-table-walk', mark: 'pfn-walk/1' } },
  ])
})
