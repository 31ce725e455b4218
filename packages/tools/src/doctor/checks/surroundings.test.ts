import { expect, test } from 'vitest'
import { facts, gpu, MACHINE, textOf } from '../../../test/doctor/facts.js'
import { unknown } from '../../machine/known.js'
import type { Machine } from '../../machine/machine.js'
import type { ProcessFacts } from '../facts.js'
import { checkCuda } from './cuda.js'
import { checkIommu } from './iommu.js'
import { checkKernel } from './kernel.js'
import { checkSoftware } from './software.js'
import { checkSystem } from './system.js'

const ids = (findings: readonly { readonly id: string; readonly severity: string }[]) =>
  findings.map(({ id, severity }) => `${id} ${severity}`)
const system = (machine: Partial<Machine>, process?: Partial<ProcessFacts>) =>
  checkSystem(facts({ machine, ...(process && { process }) }))

test('a machine without visible PCI functions is unknown', () => {
  expect(ids(system({ functions: [], gpus: [], drives: [] }))).toEqual(['pci-unseen unknown'])
})

test('a missing GPU, a missing drive, a GPU of another vendor and missing root are reported', () => {
  expect(ids(system({ gpus: [] }))).toEqual(['no-gpu note'])
  expect(ids(system({ drives: [] }))).toEqual(['gpu ok', 'no-drive blocker'])
  // Without a drive there is nothing to stream from.
  expect(system({ gpus: [], drives: [] })[0]!.title).toBe('No CUDA GPU')
  expect(system({ gpus: [gpu({ vendor: 'AMD' })] })[0]).toMatchObject({ id: 'gpu-not-nvidia', closes: ['tier1'] })
  expect(ids(system({}, { isRoot: false }))).toContain('not-root unknown')
})

test('WSL is a blocker, a container with read-only /sys closes memory, a virtual machine is reported', () => {
  const { virtualisation } = MACHINE
  const within = (changes: Partial<Machine['virtualisation']>) =>
    system({ virtualisation: { ...virtualisation, ...changes } }).at(-1)
  expect(within({ hypervisor: { name: 'WSL 2', evidence: 'x' } })).toMatchObject({ id: 'wsl', severity: 'blocker' })
  expect(within({ hypervisor: { name: 'KVM', evidence: 'x' } })).toMatchObject({ id: 'virtual-machine' })
  const container = { name: 'docker', evidence: '/.dockerenv' }
  expect(within({ container })).toMatchObject({ id: 'container', closes: [] })
  expect(within({ container, isSysReadOnly: true })).toMatchObject({ id: 'container-read-only', closes: ['memory'] })
})

test('a disabled IOMMU has a step for the kernel command line or the firmware', () => {
  const iommu = (commandLine: string, iommuTable: 'IVRS' | undefined) => {
    const kernel = { ...MACHINE.kernel, commandLine }
    const found = checkIommu(facts({ machine: { kernel, firmware: { ...MACHINE.firmware, iommuTable } } }))
    return found[0]!.steps.map(textOf)
  }
  expect(iommu('quiet amd_iommu=off', 'IVRS')).toEqual([
    'take amd_iommu=off out of GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then',
    'sudo update-grub && sudo reboot',
  ])
  expect(iommu('quiet', undefined)).toEqual([
    'firmware setup (ROG STRIX B450-F GAMING II): set "IOMMU" to Enabled, usually under Advanced > AMD CBS, or on Intel Advanced > System Agent Configuration',
  ])
})

test('neither a translating IOMMU nor passthrough closes a way; an unknown mode does', () => {
  const mode = (to: Machine['iommu']['mode']) =>
    checkIommu(facts({ machine: { iommu: { mode: to, evidence: [], kind: 'AMD-Vi', groups: [] } } }))
  for (const known of ['translated', 'passthrough', 'off'] as const)
    expect([known, mode(known).flatMap(({ closes }) => closes)]).toEqual([known, []])
  expect(ids(mode('unknown'))).toEqual(['iommu-unknown unknown'])
})

test('lockdown, Secure Boot, missing dma-buf and a low memlock limit are reported', () => {
  const kernel = (machine: Partial<Machine>, isRoot = true) => ids(checkKernel(facts({ machine, process: { isRoot } })))
  expect(kernel({ kernel: { ...MACHINE.kernel, lockdown: 'integrity' } })).toContain('lockdown note')
  expect(kernel({ firmware: { ...MACHINE.firmware, secureBoot: true } })).toContain('secure-boot note')
  const config = { source: '/boot/config', options: { DMA_SHARED_BUFFER: 'n' } }
  expect(kernel({ kernel: { ...MACHINE.kernel, config } })).toContain('config-no-dma-buf problem')
  const memory = { ...MACHINE.memory, lockLimit: { softBytes: 8_388_608, hardBytes: 8_388_608 } }
  expect(kernel({ memory }, false)).toContain('lock-limit note')
  expect(kernel({ memory }, true)).not.toContain('lock-limit note')
})

test('CUDA is checked by its driver, or by its files for a copied machine', () => {
  expect(ids(checkCuda(facts()))).toEqual(['cuda ok', 'cuda-no-dma-buf note'])
  expect(ids(checkCuda(facts({ process: null })))).toEqual(['cuda-installed ok', 'cuda-dma-buf-unknown unknown'])
  expect(checkCuda(facts({ process: null, nvidia: { libcuda: undefined } }))).toMatchObject([
    { id: 'cuda-missing', closes: ['tier1'] },
  ])
  const old = { path: '/usr/lib/libcuda.so.525.147.05', version: '525.147.05' }
  expect(ids(checkCuda(facts({ process: null, nvidia: { libcuda: old } })))).toContain('cuda-too-old problem')
  expect(checkCuda(facts({ machine: { gpus: [] } }))).toEqual([])
})

test('a GPU hidden from this process is reported with its address', () => {
  const second = gpu({ address: '0000:41:00.0' })
  expect(checkCuda(facts({ machine: { gpus: [gpu(), second] } })).at(-1)).toMatchObject({
    id: 'cuda-device-hidden',
    subjects: ['0000:41:00.0'],
  })
})

test('a missing addon is a blocker, and a missing kernel module a note', () => {
  const addon = { isLoaded: false, reasons: ['x.node: no such file'], next: 'install g++' } as const
  expect(ids(checkSoftware(facts({ process: { addon } })))).toEqual(['addon-missing blocker', 'kmod-absent note'])
  const modules = { ...MACHINE.modules, loaded: unknown('no /proc/modules') }
  expect(ids(checkSoftware(facts({ machine: { modules } })))).toEqual(['addon ok', 'kmod-unknown unknown'])
})
