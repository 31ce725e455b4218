import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { RawHost } from '@gpunvme/nvme-sim/conformance'
import { FaultPlanError } from '@gpunvme/nvme-spec/faults'
import type { FaultAction, FaultMatch, FaultPlan, TraceEvent, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { enabledHost } from '../../test/enabled-host.js'
import { onlyNeeded } from '../../test/only-needed.js'
import { Controller } from '../controller.js'
import { faulty, type FaultyOptions } from './faulty.js'

const CAP = 0x00
const CC = 0x14
const CSTS = 0x1c
const INTMS = 0x0c
const ASQ = 0x28
const ALL_ONES = 0xffff_ffff

let simulation: ReturnType<typeof simulate>
const sn740 = (): Transport => (simulation = simulate({ profile: 'sn740' })).transport
const plan = (match: FaultMatch, action: FaultAction): FaultPlan => ({ rules: [{ match, action }] })
const withFault = (match: FaultMatch, action: FaultAction, options?: FaultyOptions) =>
  faulty(sn740(), plan(match, action), options)

/** Returns whether a completion of the Admin queue arrives; its doorbell is not rung. */
const completes = (host: RawHost) => host.until(() => host.poll(0, { ring: false }).length > 0)

// Faults change what the host sees; the underlying controller must not diagnose host errors.
afterEach(() => expect(simulation.diagnostics).toEqual([]))

describe('a transport without faults', () => {
  it('forwards every member of the underlying transport', async () => {
    const below: Transport = { ...sn740(), bdf: '0000:0b:00.0', movesData: false }
    const wrapped = faulty(below, { rules: [] })
    expect(Object.keys(below).filter((key) => !(key in wrapped))).toEqual([])
    expect(wrapped).toMatchObject({ name: 'faulty:sim:sn740', bdf: '0000:0b:00.0', movesData: false, can: below.can })
    expect(wrapped.wraps).toBe(below)
    expect(wrapped.bar.read64(CAP)).toBe(below.bar.read64(CAP))
    expect(wrapped.config!.read(0, 4)).toBe(below.config!.read(0, 4))
    expect(wrapped.interrupts!.vectors).toBe(below.interrupts!.vectors)
    await wrapped.close()
  })

  it('adds only faults and wraps to the members of the underlying transport', () => {
    const wrapped = faulty(onlyNeeded(sn740()), { rules: [] })
    expect(Object.keys(wrapped).sort()).toEqual(['bar', 'can', 'clock', 'close', 'dma', 'faults', 'name', 'wraps'])
  })

  it('supports a driver', async () => {
    const ctrl = await Controller.open(faulty(sn740(), { rules: [] }))
    expect(ctrl.namespaces.map(({ nsid }) => nsid)).toEqual([1])
    await ctrl.close()
  })
})

describe('a register access', () => {
  it('lose-write: the write never arrives', () => {
    const { bar, faults } = withFault({ register: 'CC', nth: 1 }, { kind: 'lose-write' })
    bar.write32(CC, 0x0046_0000)
    expect(bar.read32(CC)).toBe(0)
    bar.write32(CC, 0x0046_0000)
    expect(bar.read32(CC)).toBe(0x0046_0000)
    expect(faults).toEqual({ hits: [1], injected: [{ atNs: 0, rule: 0, kind: 'lose-write', where: 'write CC' }] })
  })

  it('lose-write: a doorbell is matched and reported by its queue', async () => {
    const transport = withFault({ register: 'SQyTDBL', qid: 0, nth: 1 }, { kind: 'lose-write' })
    const host = await enabledHost(transport)
    host.stage(0, { opcode: 0x09, cid: 1, cdw: { 10: 0x07 } })
    host.ringTail(0)
    expect(await completes(host)).toBe(false)
    host.ringTail(0)
    expect(await completes(host)).toBe(true)
    expect(transport.faults.injected).toMatchObject([{ kind: 'lose-write', where: 'write SQ0TDBL' }])
  })

  it('read-value: the host reads the value in the plan', () => {
    const { bar } = withFault({ register: 'CSTS', nth: 2, every: 2 }, { kind: 'read-value', value: ALL_ONES })
    expect([bar.read32(CSTS), bar.read32(CSTS), bar.read32(CSTS), bar.read32(CSTS)]).toEqual([0, ALL_ONES, 0, ALL_ONES])
  })

  it('a 64-bit access counts as two 32-bit accesses, lower half first', () => {
    const { bar, faults } = withFault({ register: 'ASQ', nth: 2 }, { kind: 'lose-write' })
    bar.write64(ASQ, 0x0000_0001_2345_6000n)
    expect(bar.read64(ASQ)).toBe(0x2345_6000n)
    expect(faults.hits).toEqual([1])
    const reads = withFault({ register: 'ASQ', nth: 1 }, { kind: 'read-value', value: 7 })
    reads.bar.write64(ASQ, 0x0000_0001_2345_6000n)
    expect(reads.bar.read64(ASQ)).toBe(0x0000_0001_0000_0007n)
  })

  it('delay-write: the write and all later writes arrive after the delay, in order', async () => {
    const { bar, clock } = withFault({ register: 'CC', nth: 1 }, { kind: 'delay-write', delayNs: 5_000 })
    bar.write32(CC, 0x0046_0000)
    bar.write32(INTMS, 1)
    expect([bar.read32(CC), bar.read32(INTMS)]).toEqual([0, 0])
    await clock.idle(4_999)
    expect([bar.read32(CC), bar.read32(INTMS)]).toEqual([0, 0])
    // idle() returns when the delayed writes arrive.
    await clock.idle(1_000_000)
    expect(clock.now()).toBe(5_000)
    expect([bar.read32(CC), bar.read32(INTMS)]).toEqual([0x0046_0000, 1])
    bar.write32(CC, 0)
    expect(bar.read32(CC)).toBe(0)
  })

  it('fromNs, untilNs and times limit when a rule applies', async () => {
    const zero = { kind: 'read-value', value: 0x11 } as const
    const { bar, clock, faults } = withFault({ register: 'CSTS', fromNs: 100, untilNs: 200 }, zero)
    const reads = [bar.read32(CSTS)]
    for (const atNs of [100, 199, 200]) {
      await clock.idle(atNs)
      reads.push(bar.read32(CSTS))
    }
    expect(reads).toEqual([0, 0x11, 0x11, 0])
    expect(faults.hits).toEqual([2])
    const twice = withFault({ register: 'CSTS', times: 2 }, zero).bar
    expect([1, 2, 3].map(() => twice.read32(CSTS))).toEqual([0x11, 0x11, 0])
  })

  it('probability draws depend on the seed, as in the simulator', () => {
    const match = { register: 'CSTS', probability: 0.5 }
    const seen = { kind: 'read-value', value: 0x11 } as const
    const draws = (transport: Transport) => Array.from({ length: 64 }, () => transport.bar.read32(CSTS))
    const [one, again, other] = [7, 7, 8].map((seed) => draws(withFault(match, seen, { seed })))
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
    expect(draws(simulate({ profile: 'sn740', seed: 7, faults: plan(match, seen) }).transport)).toEqual(one)
  })

  it('an invalid register offset is rejected, even after remove-device', () => {
    const { bar } = withFault({ register: 'CSTS' }, { kind: 'remove-device' })
    expect(() => bar.read32(2)).toThrow('register access: expected a multiple of 4 below 0x4000, got 2')
    bar.read32(CSTS)
    expect(() => bar.read64(4)).toThrow(RangeError)
    expect(() => bar.write32(0x4000, 0)).toThrow(RangeError)
  })
})

describe('a change of CC.EN', () => {
  it('ready-never-rises: CSTS.RDY stays 0 after CC.EN became 1', async () => {
    const transport = withFault({ nth: 1 }, { kind: 'ready-never-rises' })
    const host = new RawHost(transport)
    expect((await host.enable()) & 1).toBe(0)
    expect(transport.faults.injected).toMatchObject([{ kind: 'ready-never-rises', where: 'CC.EN' }])
    await transport.reset!('function')
    expect((await host.enable()) & 1).toBe(1)
  })

  it('ready-never-falls: CSTS.RDY stays 1 after CC.EN became 0, until the function is reset', async () => {
    const transport = withFault({}, { kind: 'ready-never-falls' })
    const host = await enabledHost(transport)
    transport.bar.write32(CC, 0x0046_0000)
    expect(await host.until(() => (host.bar.read32(CSTS) & 1) === 0)).toBe(false)
    await transport.reset!('function')
    expect(host.bar.read32(CSTS) & 1).toBe(0)
  })
})

describe('the device', () => {
  it('remove-device: later reads return all ones, and writes are dropped', async () => {
    const transport = withFault({ register: 'CSTS', access: 'read', nth: 2 }, { kind: 'remove-device' })
    const { bar, config } = transport
    bar.read32(CSTS)
    expect(bar.read32(CSTS)).toBe(ALL_ONES)
    bar.write32(CC, 0x0046_0000)
    config!.write(0x0c, 1, 0x10)
    expect([bar.read32(CC), bar.read64(CAP)]).toEqual([ALL_ONES, 0xffff_ffff_ffff_ffffn])
    expect([config!.read(0, 4), config!.read(0, 2), config!.read(0, 1)]).toEqual([ALL_ONES, 0xffff, 0xff])
    await transport.reset!('bus')
    expect(bar.read32(CSTS)).toBe(ALL_ONES)
    expect(simulation.transport.bar.read32(CC)).toBe(0)
    expect(transport.faults.hits).toEqual([1])
  })

  it('remove-device: the removed device no longer writes to host memory', async () => {
    const rule = [{ register: 'SQyTDBL', nth: 2 }, { kind: 'remove-device' }] as const
    for (const hide of [false, true]) {
      const below = sn740()
      const transport = faulty(hide ? onlyNeeded(below) : below, plan(...rule))
      const host = await enabledHost(transport)
      const data = transport.dma.alloc(4096)
      host.stage(0, { opcode: 0x06, cid: 1, prp1: data.iovaAt(0), cdw: { 10: 1 } })
      host.ringTail(0)
      host.ringTail(0)
      expect(await completes(host)).toBe(false)
      expect(data.view!.getUint32(0, true)).toBe(0)
    }
  })

  it('atNs: the fault occurs at its time, whether the host idles past it or polls later', async () => {
    const waits = withFault({ atNs: 1_000 }, { kind: 'remove-device' })
    await waits.clock.idle(5_000)
    expect(waits.clock.now()).toBe(1_000)
    expect(waits.faults.injected).toEqual([{ atNs: 1_000, rule: 0, kind: 'remove-device', where: 'time' }])
    const looks = withFault({ atNs: 1_000 }, { kind: 'remove-device' })
    await simulation.clock.idle(5_000)
    expect(looks.config!.read(0, 4)).toBe(ALL_ONES)
    expect(looks.bar.read32(CSTS)).toBe(ALL_ONES)
  })

  it('atNs: a wait for an interrupt does not delay the fault', async () => {
    const { interrupts, clock, faults } = withFault({ atNs: 1_000 }, { kind: 'remove-device' })
    expect(await interrupts!.wait(0, 5_000)).toBe('deadline')
    expect(clock.now()).toBe(5_000)
    expect(faults.injected).toMatchObject([{ atNs: 1_000 }])
  })

  it('fatal-status: CSTS.CFS is 1 and no command is fetched until the controller is reset', async () => {
    const transport = withFault({ register: 'SQyTDBL', nth: 1 }, { kind: 'fatal-status' })
    const host = await enabledHost(transport)
    host.stage(0, { opcode: 0x09, cid: 1, cdw: { 10: 0x07 } })
    host.ringTail(0)
    expect(host.bar.read32(CSTS) & 2).toBe(2)
    expect(await completes(host)).toBe(false)
    transport.bar.write32(CC, 0x0046_0000)
    expect(host.bar.read32(CSTS) & 2).toBe(0)
  })

  it('surprise-reset: the controller loses its state, and host accesses before detection are not host errors', async () => {
    const transport = withFault({ register: 'SQyTDBL', nth: 1 }, { kind: 'surprise-reset' })
    const host = await enabledHost(transport)
    host.stage(0, { opcode: 0x09, cid: 1, cdw: { 10: 0x07 } })
    host.ringTail(0)
    host.ringTail(0)
    expect([transport.bar.read32(CC), host.bar.read32(CSTS) & 1]).toEqual([0, 0])
    expect(transport.bar.read64(ASQ)).toBe(0n)
    expect(transport.faults.injected).toMatchObject([{ kind: 'surprise-reset', where: 'write SQ0TDBL' }])
    await transport.close()
  })

  it('surprise-reset: close throws the error of a failed reset after closing the underlying transport', async () => {
    const below = sn740()
    let isClosed = false
    const transport = faulty(
      {
        ...below,
        reset: () => Promise.reject(new Error('no way')),
        close: () => Promise.resolve(void (isClosed = true)),
      },
      plan({ register: 'CSTS' }, { kind: 'surprise-reset' }),
    )
    transport.bar.read32(CSTS)
    await expect(transport.close()).rejects.toThrow('no way')
    expect(isClosed).toBe(true)
  })

  it('delay-write: a delayed write is dropped if the function is reset in the meantime', async () => {
    const transport = withFault({ register: 'CC', nth: 1 }, { kind: 'delay-write', delayNs: 5_000 })
    transport.bar.write32(CC, 0x0046_0000)
    await transport.reset!('function')
    expect(transport.bar.read32(CC)).toBe(0)
  })

  it('faults are traced in the format of the simulator', () => {
    const events: TraceEvent[] = []
    const { bar } = withFault({ register: 'CC' }, { kind: 'lose-write' }, { trace: (event) => events.push(event) })
    bar.write32(CC, 1)
    expect(events).toEqual([{ timeNs: 0, track: 'fault', name: 'lose-write', details: { rule: 0, where: 'write CC' } }])
  })
})

describe('rules that are rejected because a transport wrapper cannot apply them', () => {
  const fine = { match: { register: 'CC' }, action: { kind: 'lose-write' } } as const
  const commands = 'matches commands, but a wrapper of a transport sees only its registers'
  const inside = 'happens inside the controller, not at its registers'
  const simulator = 'use this rule in the simulator: simulate({ faults })'
  it.each<[FaultMatch, FaultAction, string, string]>([
    [{ opcode: 2 }, { kind: 'drop-completion' }, commands, simulator],
    [{}, { kind: 'hang' }, commands, simulator],
    [{}, { kind: 'status', sct: 0, sc: 4 }, commands, simulator],
    [{}, { kind: 'corrupt-phase' }, commands, simulator],
    [{}, { kind: 'torn-dma', fromByte: 1 }, commands, simulator],
    [{ nth: 3 }, { kind: 'remove-device' }, commands, `match a 'register' or a time ('atNs'), or ${simulator}`],
    [{ atNs: 1 }, { kind: 'throttle', factor: 2, forNs: 1 }, inside, simulator],
    [{ register: 'CC' }, { kind: 'detach-namespace', nsid: 1 }, inside, simulator],
  ])('%j %j', (match, action, why, next) => {
    const below = sn740()
    const refused = errorOf(() => faulty(below, { rules: [fine, { match, action }] }))
    expect(refused).toMatchObject({ rule: 1, field: 'action.kind', code: 'ERR_GPUNVME_FAULT_PLAN' })
    expect(refused.message).toBe(`fault plan, rule 1, action.kind: '${action.kind}' ${why}\n  Try: ${next}`)
  })

  it('surprise-reset on a transport without reset()', () => {
    const below = onlyNeeded(sn740())
    const refused = errorOf(() => faulty(below, plan({ atNs: 0 }, { kind: 'surprise-reset' })))
    expect(refused.message).toContain("'surprise-reset' needs a transport that can reset its function, which sim:sn740")
    expect(refused.message).toContain('Try: use a transport that has reset(), or use this rule in the simulator')
  })

  it('an invalid plan, and an invalid seed', () => {
    expect(() => withFault({ register: 'CSTZ' }, { kind: 'lose-write' })).toThrow('there is no register "CSTZ"')
    expect(() => withFault({}, { kind: 'ready-never-rises' }, { seed: -1 })).toThrow(
      'seed: expected an integer from 0 to 2^32 - 1, got -1',
    )
  })
})

function errorOf(run: () => unknown): FaultPlanError {
  try {
    run()
  } catch (error) {
    if (error instanceof FaultPlanError) return error
    throw error
  }
  throw new Error('no FaultPlanError was thrown')
}

it('locates doorbells by CAP.DSTRD', () => {
  simulation = simulate({ profile: deriveProfile('sn740', { CAP: { DSTRD: 2 } }) })
  const lost = plan({ register: 'CQyHDBL' }, { kind: 'lose-write' })
  const { bar, faults } = faulty(simulation.transport, lost)
  bar.write32(0x1010, 0)
  bar.write32(0x1030, 0)
  expect(faults.injected.map(({ where }) => where)).toEqual(['write CQ0HDBL', 'write CQ1HDBL'])
})
