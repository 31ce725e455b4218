import { expect, test } from 'vitest'
import { DRIVE, drive, facts, MACHINE, pciFunction, withFunction, textOf } from '../../../test/doctor/facts.js'
import type { Machine } from '../../machine/machine.js'
import type { PciFunction } from '../../machine/pci-function.js'
import { checkTransports } from './transports.js'

function about(changes: Partial<PciFunction>, machine: Partial<Machine> = {}) {
  const [finding, ...more] = checkTransports(facts({ machine: { ...withFunction(DRIVE, changes), ...machine } }))
  expect(more).toEqual([])
  const { id, severity, steps } = finding!
  return [id, severity, ...steps.map(textOf)]
}

const loaded = (...names: string[]): Partial<Machine> => ({
  modules: { ...MACHINE.modules, loaded: names.map((name) => ({ name, references: 0, usedBy: [], taints: '' })) },
})
const huge = (freePages: number): Partial<Machine> => ({
  memory: { ...MACHINE.memory, hugePages: [{ pageBytes: 2_097_152, node: undefined, pages: 768, freePages }] },
})
const TO_KMOD = { command: ['bind', DRIVE, '--to', 'kmod'], asRoot: true }
const BIND = `sudo gpunvme bind ${DRIVE}`

test('a bound drive is ok; with vfio-pci, dma-buf needs the kernel module', () => {
  expect(about({ driver: 'gpunvme' })).toEqual(['drive-bound', 'ok'])
  const byVfio = checkTransports(facts({ machine: withFunction(DRIVE, { driver: 'vfio-pci', group: 12 }) }))
  expect(byVfio).toMatchObject([
    { id: 'drive-by-vfio', severity: 'note', closes: ['tier2-dma-buf'], steps: [{ action: TO_KMOD }] },
    { id: 'drive-bound', severity: 'ok', opens: ['memory'] },
  ])
})

test('a drive in an IOMMU group has steps to load vfio-pci and bind', () => {
  expect(about({ group: 12 })).toEqual(['drive-to-hand-over', 'note', `sudo modprobe vfio-pci && ${BIND}`])
  expect(about({ group: 12 }, loaded('vfio_pci'))).toEqual(['drive-to-hand-over', 'note', BIND])
  expect(about({ group: 12 }, loaded('gpunvme'))).toEqual(['drive-to-hand-over', 'note', BIND])
})

test('a drive without IOMMU has steps to reserve huge pages and bind', () => {
  const reserve = 'echo 768 | sudo tee /proc/sys/vm/nr_hugepages'
  expect(about({})).toEqual(['drive-to-hand-over', 'note', reserve, BIND])
  expect(about({}, huge(100))).toEqual(['drive-to-hand-over', 'note', BIND])
  expect(about({ driver: undefined }, huge(100))).toEqual(['drive-free', 'ok'])
  expect(about({}, loaded('gpunvme'))).toEqual(['drive-to-hand-over', 'note', BIND])
})

test('a system drive has no steps to bind', () => {
  const drives = [drive({ holders: [{ device: 'nvme1n1p2', use: 'mounted on /' }] })]
  expect(checkTransports(facts({ machine: { drives } }))).toEqual([])
})

test('a shared IOMMU group is a problem, with the kernel module as an alternative', () => {
  const functions = [
    ...MACHINE.functions.filter(({ address }) => address !== DRIVE),
    pciFunction(DRIVE, { group: 12 }),
    pciFunction('0000:0c:00.0', { group: 12, classCode: 0x020000, driver: 'r8169' }),
    pciFunction('0000:00:01.0', { group: 12, classCode: 0x060400, driver: 'pcieport' }),
  ]
  const [finding] = checkTransports(facts({ machine: { functions } }))
  expect(finding).toMatchObject({ id: 'group-shared', severity: 'problem', closes: ['memory'] })
  expect(finding!.cause).toMatch(/group 12, including 0000:0c:00\.0 \(r8169\)/)
  expect(textOf(finding!.steps.at(-2)!)).toBe('sudo modprobe gpunvme')
})

test('a kernel without vfio-pci, and lockdown without an IOMMU, are reported', () => {
  const config = { source: '/boot/config', options: { VFIO_PCI: 'n' } }
  expect(about({ group: 12 }, { kernel: { ...MACHINE.kernel, config } })[0]).toBe('vfio-missing')
  expect(about({}, { kernel: { ...MACHINE.kernel, lockdown: 'integrity' } })[0]).toBe('locked-down-without-iommu')
})

test('a locked-down kernel rules out the kernel module unless an IOMMU translates', () => {
  const locked = (type?: string): Partial<Machine> => ({
    ...loaded('gpunvme', 'vfio_pci'),
    kernel: { ...MACHINE.kernel, lockdown: 'integrity' },
    iommu: { ...MACHINE.iommu, groups: type === undefined ? [] : [{ number: 12, type, functions: [DRIVE] }] },
  })
  const REFUSED = 'locked-down-without-iommu'
  expect(about({}, locked())[0]).toBe(REFUSED)
  expect(about({ driver: 'gpunvme' }, locked())[0]).toBe(REFUSED)
  expect(about({ driver: 'gpunvme', group: 12 }, locked('identity'))[0]).toBe(REFUSED)
  expect(about({ driver: 'gpunvme', group: 12 }, locked('DMA-FQ'))[0]).toBe('drive-bound')
  const titleOf = (type: string) =>
    checkTransports(facts({ machine: { ...withFunction(DRIVE, { group: 12 }), ...locked(type) } }))[0]!.title
  expect(titleOf('identity')).toMatch(/by vfio-pci$/)
  expect(titleOf('DMA')).toMatch(/by the module gpunvme$/)
})

test('steps for a copied machine do not name the copy', () => {
  const [finding] = checkTransports(facts({ machine: { ...withFunction(DRIVE, { group: 12 }), root: 'b450' } }))
  expect(textOf(finding!.steps.at(-1)!)).toBe(`sudo modprobe vfio-pci && sudo gpunvme bind ${DRIVE}`)
})
