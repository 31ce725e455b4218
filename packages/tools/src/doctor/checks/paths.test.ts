import { expect, test } from 'vitest'
import { DRIVE, facts, GPU, gpu, MACHINE, pciFunction, textOf } from '../../../test/doctor/facts.js'
import type { Machine } from '../../machine/machine.js'
import { checkPaths } from './paths.js'

const PORTS = ['0000:00:01.1', '0000:00:03.1'] as const

/** Returns a machine with drive and GPU at separate root ports. */
function machine(
  vendor: 'AMD' | 'Intel',
  nodes: readonly [number, number],
  bridges = ['0000:00', '0000:00'],
): Partial<Machine> {
  const vendorId = vendor === 'AMD' ? 0x1022 : 0x8086
  const port = (index: 0 | 1) =>
    pciFunction(PORTS[index], {
      ...{ vendorId, deviceId: 0x1483, classCode: 0x060400, parent: undefined, kind: 'root-port', driver: 'pcieport' },
      numaNode: nodes[index],
      hostBridge: bridges[index]!,
    })
  const end = (address: string, index: 0 | 1, classCode: number) =>
    pciFunction(address, { classCode, parent: PORTS[index], numaNode: nodes[index], hostBridge: bridges[index]! })
  return {
    cpu: { ...MACHINE.cpu, vendor, family: vendor === 'AMD' ? 25 : 6, sockets: 2 },
    functions: [port(0), port(1), end(DRIVE, 0, 0x010802), end(GPU, 1, 0x030000)],
  }
}

const ids = (changes: Partial<Machine>) =>
  checkPaths(facts({ machine: changes })).map(({ id, severity }) => `${id} ${severity}`)

test('peer writes are ok on a Zen processor, and open tiers 1 and 2', () => {
  const found = checkPaths(facts({ machine: machine('AMD', [0, 0]) }))
  expect(found.find(({ id }) => id === 'writes-pass')).toMatchObject({
    severity: 'ok',
    subjects: [DRIVE, GPU],
    opens: ['tier1-cuda', 'tier2-dma-buf', 'tier2-static-bar1'],
  })
})

test('a root complex that Linux does not list is a note that closes nothing', () => {
  const [untold] = checkPaths(facts({ machine: machine('Intel', [0, 0]) })).filter(({ id }) => id === 'peers-untold')
  expect(untold).toMatchObject({ severity: 'note', closes: [] })
})

test('a path across sockets is a note', () => {
  expect(ids(machine('AMD', [0, 1], ['0000:00', '0000:80']))).toContain('path-across-sockets note')
})

test('no path is checked without an NVIDIA GPU', () => {
  const drives = ids({ ...machine('AMD', [0, 0]), gpus: [gpu({ vendor: 'AMD' })] })
  expect(drives).toEqual(['drive-on-cpu ok'])
})

test('ACS redirect of a shared switch is a note with the kernel parameter for its port', () => {
  const bridge = (
    address: string,
    parent: string | undefined,
    kind: 'root-port' | 'switch-upstream' | 'switch-downstream',
  ) =>
    pciFunction(address, {
      ...{ classCode: 0x060400, driver: 'pcieport', parent, kind },
      acs: {
        supported: ['SV', 'RR', 'CR', 'UF'],
        enabled: kind === 'switch-downstream' ? ['SV', 'RR', 'CR', 'UF'] : [],
      },
    })
  const functions = [
    bridge('0000:00:01.0', undefined, 'root-port'),
    bridge('0000:01:00.0', '0000:00:01.0', 'switch-upstream'),
    bridge('0000:02:00.0', '0000:01:00.0', 'switch-downstream'),
    bridge('0000:02:01.0', '0000:01:00.0', 'switch-downstream'),
    pciFunction(DRIVE, { parent: '0000:02:00.0' }),
    pciFunction(GPU, { parent: '0000:02:01.0', classCode: 0x030000 }),
  ]
  const found = checkPaths(facts({ machine: { functions } })).find(({ id }) => id === 'acs-redirect')
  expect(found).toMatchObject({ severity: 'note', subjects: [DRIVE, GPU], closes: [] })
  expect(textOf(found!.steps[0]!)).toMatch(/^add pci=disable_acs_redir=0000:02:00\.0 to/)
})
