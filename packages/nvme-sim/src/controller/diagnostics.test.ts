import { expect, it } from 'vitest'
import { createCqEntry } from '../../conformance/raw-host/entry.js'
import { AQA, CC, CC_ENABLED, INTMS, VS } from '../../conformance/raw-host/registers.js'
import { ready, type TestHost } from '../../test/host.js'
import { at, onBlocks } from '../../test/nvm.js'
import { RamMedia, simulate, unverifiableMedia, type DiagnosticCode, type NamespaceOptions } from '../index.js'
import { MSI_X, PM } from '../pci/layout.js'

const READ = 0x02
const COMPARE = 0x05
const FLUSH = { opcode: 0x00, nsid: 1 }

const CAPACITY_BYTES = 2 ** 20

const brokenMedia = Object.assign(new RamMedia(CAPACITY_BYTES), {
  read(): never {
    throw new Error('bad sector')
  },
})

const namespaces: readonly NamespaceOptions[] = [
  { nsid: 1, capacityBytes: CAPACITY_BYTES },
  { nsid: 2, media: brokenMedia },
  { nsid: 3, media: unverifiableMedia({ capacityBytes: CAPACITY_BYTES }) },
]

/** Codes of vfio-user servers, which are tested there. */
type ServerCode = 'client-message' | 'client-disconnected' | 'server-resources'

/** Provokes each code, on an enabled controller with queue pair 1. */
const provoked: Record<Exclude<DiagnosticCode, ServerCode | 'dropped'>, (host: TestHost) => unknown> = {
  'register-access': ({ bar }) => bar.write32(VS, 1),
  'reserved-bits': ({ bar }) => bar.write32(CC, CC_ENABLED | 0xc000),
  'unsupported-request'({ simulation, bar }) {
    simulation.transport.config!.write(4, 2, 0)
    bar.read32(CC)
  },
  'ignored-setting': ({ bar }) => bar.write32(AQA, 0),
  'enable-order'({ bar }) {
    bar.write32(CC, 0)
    bar.write32(CC, CC_ENABLED)
  },
  'power-state': ({ simulation }) => simulation.transport.config!.write(PM + 4, 2, 3),
  async 'controller-fatal'(host) {
    host.sqs.get(1)!.memory.free()
    host.ringTail(1, 1)
    await host.pass(1000)
  },
  'doorbell-address': ({ bar }) => bar.write32(0x1000 + 8 * 40, 1),
  'doorbell-value': (host) => host.ringTail(1, 64),
  async 'doorbell-state'(host) {
    await host.disable()
    host.bar.write32(0x1000, 1)
  },
  'queue-memory': (host) => host.admin(createCqEntry(2, 8, 2 ** 40)),
  async 'phase-tag'(host) {
    const memory = host.alloc(4096, true)
    new Uint8Array(memory.view.buffer).fill(0xff)
    await host.admin(createCqEntry(2, 8, memory.iovaAt(0)))
  },
  async 'command-identifier'(host) {
    host.stage(1, { ...FLUSH, cid: 5 })
    host.stage(1, { ...FLUSH, cid: 5 })
    host.ringTail(1)
    await host.pass(1000)
  },
  interrupt({ simulation, bar }) {
    simulation.transport.config!.write(MSI_X + 2, 2, 0x8000)
    bar.write32(INTMS, 1)
  },
  'data-pointer': (host) => host.command(1, onBlocks(READ, 0, 1, { prp1: 2 })),
  'unmapped-memory': (host) => host.command(1, onBlocks(READ, 0, 1, { prp1: 2 ** 40 })),
  async 'namespace-busy'(host) {
    host.submit(1, onBlocks(READ, 0, 1, at(host, host.alloc(512))))
    await host.admin({ opcode: 0x80, nsid: 1 })
  },
  media: (host) => host.command(1, { ...onBlocks(READ, 0, 1, at(host, host.alloc(512))), nsid: 2 }),
  'simulator-limit': (host) => host.command(1, { ...onBlocks(COMPARE, 0, 1, at(host, host.alloc(512))), nsid: 3 }),
}

it.each(Object.entries(provoked))('reports one diagnostic %s, with the time of its cause', async (code, provoke) => {
  const host = await ready({ profile: 'sn740', namespaces })
  await host.pass(1000)
  const startNs = host.clock.now()
  await provoke(host)
  const { diagnostics } = host.simulation
  expect(diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code])
  const { timeNs } = diagnostics[0]!
  expect(timeNs).toBeGreaterThanOrEqual(startNs)
  expect(timeNs).toBeLessThanOrEqual(host.clock.now())
})

it('the time of a diagnostic is the virtual time of the host error', async () => {
  const { transport, clock, diagnostics } = simulate()
  await clock.idle(1234)
  transport.bar.write32(VS, 1)
  await clock.idle(5000)
  expect(diagnostics).toEqual([
    { code: 'register-access', timeNs: 1234, text: 'host wrote 0x1 to VS, which is read-only' },
  ])
})

it('after 1000 diagnostics, the last entry reports that further ones are dropped', () => {
  const { transport, diagnostics } = simulate()
  for (let i = 0; i < 1005; i++) transport.bar.write32(VS, 1)
  expect(diagnostics).toHaveLength(1001)
  expect(diagnostics.slice(-2)).toMatchObject([
    { code: 'register-access' },
    { code: 'dropped', text: 'further diagnostics are dropped after 1000' },
  ])
})
