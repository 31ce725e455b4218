import { expect, test } from 'vitest'
import { MACHINE, textOf } from '../../test/doctor/facts.js'
import type { Machine } from '../machine/machine.js'
import { familyOf, firmwareSwitch, kernelParameter, nameOf, updateInitramfs } from './advice.js'
import { generationOf } from './generation.js'

const on = (id: string, like: string[] = []): Machine => ({
  ...MACHINE,
  distribution: { id, version: '1', name: `${id} 1 (codename)`, like },
})

test('familyOf uses the id of a distribution, then its ID_LIKE', () => {
  expect(familyOf(on('ubuntu', ['debian']))).toBe('ubuntu')
  expect(familyOf(on('linuxmint', ['ubuntu', 'debian']))).toBe('ubuntu')
  expect(familyOf(on('rocky', ['rhel', 'centos', 'fedora']))).toBe('fedora')
  expect(familyOf(on('slackware'))).toBe('other')
  expect(familyOf({ ...MACHINE, distribution: { unknown: 'no os-release' } })).toBe('other')
  expect(nameOf(on('debian'))).toBe('debian 1')
})

test('kernelParameter has the commands of each distribution', () => {
  const text = (machine: Machine) => kernelParameter(machine, { add: 'iommu=pt', remove: 'iommu=off' }).map(textOf)
  expect(text(on('debian'))).toEqual([
    'take iommu=off out of and add iommu=pt to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then',
    'sudo update-grub && sudo reboot',
  ])
  expect(text(on('fedora'))).toEqual([
    'sudo grubby --update-kernel=ALL --remove-args=iommu=off --args=iommu=pt && sudo reboot',
  ])
  expect(text(on('nixos'))[0]).toMatch(/boot\.kernelParams/)
})

test('updateInitramfs has the commands of each distribution', () => {
  expect(['debian', 'fedora', 'arch'].map((id) => textOf(updateInitramfs(on(id))))).toEqual([
    'sudo update-initramfs -u -k all',
    'sudo dracut --force --regenerate-all',
    'sudo mkinitcpio -P',
  ])
})

test('firmwareSwitch uses the terms of the board vendor, and of Intel or AMD', () => {
  const board = { ...MACHINE.board, vendor: 'Gigabyte Technology Co., Ltd.', name: 'B550M' }
  expect(textOf(firmwareSwitch({ ...MACHINE, board }, 'above-4g'))).toBe(
    'firmware setup (B550M): set "Above 4G Decoding" to Enabled, usually under Settings > IO Ports',
  )
  const nameless = { ...board, vendor: 'Nobody', name: undefined }
  expect(
    textOf(firmwareSwitch({ ...MACHINE, board: nameless, cpu: { ...MACHINE.cpu, vendor: 'Intel' } }, 'iommu')),
  ).toBe('firmware setup: set "VT-d" (or "Intel Virtualization Technology for Directed I/O") to Enabled')
})

test('generationOf maps device IDs to chip generations', () => {
  // GTX 1080 Ti, Tesla P100, Tesla V100, RTX 2080 Ti, GTX 1660, A100, RTX 3090, H100, RTX 4090, RTX 5090, B200.
  const ids = [0x1b06, 0x15f8, 0x1db4, 0x1e07, 0x2184, 0x20b5, 0x2204, 0x2331, 0x2684, 0x2b85, 0x2901]
  expect(ids.map(generationOf)).toEqual([
    ...['Pascal', 'Pascal', 'Volta', 'Turing', 'Turing', 'Ampere', 'Ampere', 'Hopper', 'Ada', 'Blackwell', 'Blackwell'],
  ])
  expect(generationOf(0xfff0)).toBeUndefined()
})
