import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { ACQ, AQA, ASQ, CC, CC_ENABLED, CFS, CSTS, NSSR, RDY, VS } from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { enabled, prps, ready, TestHost } from '../../test/host.js'
import { deriveProfile, RamMedia, simulate } from '../index.js'

const slow = deriveProfile('ideal', { enableNs: 5_000_000, resetNs: 2_000_000, shutdownNs: 9_000_000 })

describe('enable (Base 2.1 §3.5.1)', () => {
  it('CSTS.RDY is 0 until the controller is ready to process commands, then 1', async () => {
    const host = new TestHost({ profile: slow })
    expect(host.bar.read32(CSTS)).toBe(0)
    expect(await host.enable()).toBe(RDY)
    expect(host.clock.now()).toBe(5_000_000)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('VS reads 2.1.0 as 00020100h', () => {
    expect(new TestHost().bar.read32(VS)).toBe(0x0002_0100)
  })

  it.each([
    ['CC.CSS = 110b with CAP.CSS.IOCSS = 0', CC_ENABLED | (6 << 4), /CC\.CSS is 6/],
    ['a reserved CC.CSS', CC_ENABLED | (1 << 4), /CC\.CSS is 1/],
    ['CC.MPS above CAP.MPSMAX', CC_ENABLED | (5 << 7), /CC\.MPS is 5, CAP allows 0 to 4/],
    ['a CC.AMS that CAP.AMS does not report', CC_ENABLED | (7 << 11), /CC\.AMS is 7/],
    ['a reserved CC.AMS', CC_ENABLED | (3 << 11), /CC\.AMS is 3/],
  ])('%s sets CSTS.CFS and never CSTS.RDY', async (_, cc, message) => {
    const host = new TestHost()
    expect(await host.enable({ cc })).toBe(CFS)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['AQA of 0h', AQA, 0, /at least 2/],
    ['an ASQ without memory', ASQ, 0x1000, /ASQ 0x1000: no memory/],
    ['an ACQ without memory', ACQ, 0x1000, /ACQ 0x1000: no memory/],
  ])('%s sets CSTS.CFS', async (_, offset, value, message) => {
    const host = new TestHost()
    const queue = host.alloc(4096, true)
    host.bar.write32(AQA, 0x001f_001f)
    host.bar.write64(ASQ, BigInt(queue.iovaAt(0)))
    host.bar.write64(ACQ, BigInt(queue.iovaAt(0)))
    host.bar.write32(offset, value)
    if (offset !== AQA) host.bar.write32(offset + 4, 0)
    host.bar.write32(CC, CC_ENABLED)
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(CFS)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringMatching(message)])
  })

  it('a reset recovers from CSTS.CFS (Base 2.1 §3.1.4.6)', async () => {
    const host = new TestHost()
    expect(await host.enable({ cc: CC_ENABLED | (1 << 4) })).toBe(CFS)
    await host.disable()
    await host.pass(1e9)
    expect(await host.enable()).toBe(RDY)
  })
})

describe('Controller Reset, CC.EN 1 -> 0 (Base 2.1 §3.7.2)', () => {
  it('clears CSTS.RDY, keeps AQA, ASQ and ACQ, and resets CC and the interrupt mask', async () => {
    const host = await enabled({ profile: slow })
    const kept = [host.bar.read32(AQA), host.bar.read64(ASQ), host.bar.read64(ACQ)]
    host.bar.write32(0x0c, 0b101)
    expect(host.bar.read32(0x10)).toBe(0b101)
    const startNs = host.clock.now()
    await host.disable()
    expect(host.clock.now() - startNs).toBe(2_000_000)
    expect(host.bar.read32(CC)).toBe(0)
    expect(host.bar.read32(0x0c)).toBe(0)
    expect([host.bar.read32(AQA), host.bar.read64(ASQ), host.bar.read64(ACQ)]).toEqual(kept)
  })

  it('posts no completion for aborted commands, and does not access their memory afterwards', async () => {
    const host = await ready({ profile: 'sn740' })
    const data = host.alloc(4096)
    host.submit(1, transfer(0x02, 0, 8, prps(host, data)))
    const { memory } = host.cqs.get(1)!
    new Uint8Array(data.view.buffer).fill(0xa5)
    await host.pass(10_000)
    await host.disable()
    await host.pass(1e9)
    expect(new Uint8Array(data.view.buffer).every((byte) => byte === 0xa5)).toBe(true)
    expect(new Uint8Array(memory.view.buffer).every((byte) => byte === 0)).toBe(true)
  })

  it('deletes the I/O queues, which can be created again', async () => {
    const host = await ready()
    await host.disable()
    await host.enable()
    await host.createPair(1, 8)
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('is reported as an error if CSTS.RDY is not yet 1', async () => {
    const host = new TestHost({ profile: slow })
    host.bar.write32(CC, CC_ENABLED)
    await host.pass(1000)
    host.bar.write32(CC, 0)
    expect(textsOf(host.simulation.diagnostics)).toEqual(['host cleared CC.EN before CSTS.RDY became 1'])
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(0)
  })

  it('reports and ignores CC.EN = 1 before CSTS.RDY is 0', async () => {
    const host = await enabled({ profile: slow })
    host.bar.write32(CC, 0)
    host.bar.write32(CC, CC_ENABLED)
    await host.until(() => host.bar.read32(CSTS) === 0)
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(0)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringContaining('before CSTS.RDY became 0')])
  })
})

describe('shutdown (Base 2.1 §3.6.1)', () => {
  it.each([
    ['normal', 0x4000],
    ['abrupt', 0x8000],
  ])('CC.SHN %s changes CSTS.SHST from 00b to 01b, then to 10b', async (_, shn) => {
    const host = await enabled({ profile: slow })
    host.bar.write32(CC, CC_ENABLED | shn)
    expect(host.bar.read32(CSTS)).toBe(RDY | (1 << 2))
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(RDY | (2 << 2))
  })

  it('flushes the media; a later reset clears CSTS.SHST to 00b', async () => {
    let flushes = 0
    const media = { capacityBytes: 4096, read: () => 0, write: () => 0, flush: () => (flushes += 1), close: () => 0 }
    const host = await enabled({ namespaces: [{ media }] })
    host.bar.write32(CC, CC_ENABLED | 0x4000)
    await host.pass(1e9)
    expect(flushes).toBe(1)
    await host.disable()
    expect(host.bar.read32(CSTS)).toBe(0)
    expect(await host.enable()).toBe(RDY)
  })
})

it('a shutdown completes even if media cannot be flushed', async () => {
  const flush = () => {
    throw new Error('disk full')
  }
  const host = new TestHost({ namespaces: [{ media: Object.assign(new RamMedia(4096), { flush }) }] })
  await host.enable()
  host.bar.write32(CC, CC_ENABLED | 0x4000)
  await host.pass(1e9)
  expect(host.bar.read32(CSTS)).toBe(RDY | (2 << 2))
  expect(textsOf(host.simulation.diagnostics)).toEqual(['media of namespace 1: Error: disk full'])
})

describe('registers (Base 2.1 §3.1.4)', () => {
  it('INTMS sets and INTMC clears bits of one mask, which both return', () => {
    const { bar } = new TestHost()
    bar.write32(0x0c, 0xf0)
    bar.write32(0x10, 0x30)
    expect([bar.read32(0x0c), bar.read32(0x10)]).toEqual([0xc0, 0xc0])
  })

  it('NSSR reads 0h; writing 4E564D65h resets all registers and sets CSTS.NSSRO', async () => {
    const host = await ready()
    host.bar.write32(NSSR, 0x4e56_4d65)
    expect(host.bar.read32(NSSR)).toBe(0)
    expect([host.bar.read32(CC), host.bar.read32(AQA), host.bar.read64(ASQ)]).toEqual([0, 0, 0n])
    expect(host.bar.read32(CSTS)).toBe(1 << 4)
    host.bar.write32(CSTS, 1 << 4)
    expect(host.bar.read32(CSTS)).toBe(0)
  })

  it('CSTS is read-only except for clearing NSSRO', async () => {
    const host = await ready()
    host.bar.write32(CSTS, 0xffff_ffff)
    expect(host.bar.read32(CSTS)).toBe(RDY)
  })

  it('ASQ and ACQ ignore the reserved bits 11:00', () => {
    const { bar } = new TestHost()
    bar.write64(ASQ, 0x1234_5678_9abc_dfffn)
    expect(bar.read64(ASQ)).toBe(0x1234_5678_9abc_d000n)
  })

  it('CC.MPS, CC.CSS and CC.AMS do not change while CC.EN = 1', async () => {
    const host = await ready()
    host.bar.write32(CC, CC_ENABLED | (1 << 7))
    expect(host.bar.read32(CC)).toBe(CC_ENABLED)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringContaining('CC.MPS')])
  })

  it('reports writes to read-only registers and to AQA while enabled, and accesses outside of registers', async () => {
    const host = await ready()
    host.bar.write32(0x00, 1)
    host.bar.read32(0x70)
    host.bar.write32(0x74, 2)
    host.bar.write32(AQA, 0)
    host.bar.read32(0x1000)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host wrote 0x1 to CAP, which is read-only',
      'host read offset 0x70: there is no register',
      'host wrote 0x2 to offset 0x74: there is no register',
      'host wrote AQA while CC.EN = 1: the Admin queues do not change',
      expect.stringContaining('host read offset 0x1000'),
    ])
  })

  it('optional registers that CAP does not report read 0h and ignore writes', async () => {
    const host = await ready()
    // CMBMSC, NSSD ("Abpt") and PMRCTL
    host.bar.write32(0x50, 3)
    host.bar.write32(0x64, 0x4162_7074)
    host.bar.write32(0xe04, 1)
    expect([0x38, 0x3c, 0x40, 0x48, 0x50, 0x64, 0xe00, 0xe04].map((offset) => host.bar.read32(offset))).toEqual(
      Array(8).fill(0),
    )
    expect(host.bar.read32(CSTS)).toBe(RDY)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host wrote 0x3 to CMBMSC, which this controller does not have',
      'host wrote 0x41627074 to NSSD, which this controller does not have',
      'host wrote 0x1 to PMRCTL, which this controller does not have',
    ])
  })

  it('an unaligned access, or one after the end of BAR0, throws RangeError', () => {
    const { bar } = simulate().transport
    expect(() => bar.read32(2)).toThrow(RangeError)
    expect(() => bar.read64(4)).toThrow(RangeError)
    expect(() => bar.write32(bar.lengthBytes, 0)).toThrow(RangeError)
  })
})

describe('doorbells (PCIe 1.2 §3.1.2)', () => {
  it('are 4 << CAP.DSTRD bytes apart', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { CAP: { DSTRD: 3 } }) })
    expect(host.strideBytes).toBe(32)
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
    host.bar.write32(0x1004, 0)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringContaining('doorbells are 32 bytes apart')])
  })

  it('an invalid tail stops the queue until it is deleted and created again (Base 2.1 §3.3.1.2)', async () => {
    const host = await ready()
    host.ringTail(1, 64)
    host.submit(1, { opcode: 0, nsid: 1 })
    expect(await host.until(() => host.poll(1).length > 0, 1e9)).toBe(false)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host rang SQ 1 tail 64, but SQ 1 has 64 entries: fetching stops until the queue is deleted and created again',
      'host rang SQ 1 tail 1, but an invalid tail has stopped this queue: delete and create it again',
    ])
    expect((await host.admin({ opcode: 0x00, cdw: { 10: 1 } })).status).toBe('0/00')
    expect((await host.admin({ opcode: 0x04, cdw: { 10: 1 } })).status).toBe('0/00')
    await host.createPair(1, 64)
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
  })

  it.each([
    [
      'an unchanged tail',
      (host: TestHost) => host.ringTail(1, 0),
      'host rang SQ 1 tail 0, but the tail is unchanged: it adds no entry',
    ],
    [
      'an unchanged head',
      (host: TestHost) => host.ringHead(1, 0),
      'host rang CQ 1 head 0, but the head is unchanged: it releases no entry',
    ],
    [
      'a head beyond the queue size',
      (host: TestHost) => host.ringHead(1, 64),
      'host rang CQ 1 head 64, but CQ 1 has 64 entries',
    ],
    [
      'a head past the posted entries',
      (host: TestHost) => host.ringHead(1, 1),
      'host rang CQ 1 head 1, but it releases 1 entries, more than the 0 posted',
    ],
    [
      'a queue that does not exist',
      (host: TestHost) => host.ringTail(2, 1),
      'host rang SQ 2 tail 1, but the queue does not exist',
    ],
  ])('%s is reported and has no effect', async (_, ring, message) => {
    const host = await ready()
    ring(host)
    expect(textsOf(host.simulation.diagnostics)).toEqual([message])
    expect((await host.command(1, { opcode: 0, nsid: 1 })).status).toBe('0/00')
  })

  it('reports a tail that passes the head: a queue of n entries holds n - 1 (Base 2.1 §3.3.1.5)', async () => {
    const host = await ready({ profile: 'sn740' }, 4)
    for (let i = 0; i < 3; i++) host.stage(1, { opcode: 0, nsid: 1 })
    host.ringTail(1)
    host.ringTail(1, 0)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      expect.stringContaining('host rang SQ 1 tail 0, but it adds 1 entries, more than the 0 free'),
    ])
  })
})

describe('the bus', () => {
  it('returns all ones for every register of a removed device, and drops writes', async () => {
    const faults = { rules: [{ match: { qid: 1 }, action: { kind: 'remove-device' } }] } as const
    const host = await ready({ faults })
    host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(0xffff_ffff)
    expect(host.bar.read64(0)).toBe(0xffff_ffff_ffff_ffffn)
    host.bar.write32(CC, 0)
    expect(host.poll(1)).toEqual([])
  })

  it('a function reset restores the power-on values of registers', async () => {
    const host = await ready()
    await host.simulation.transport.reset!('function')
    expect([host.bar.read32(CC), host.bar.read32(CSTS), host.bar.read32(AQA)]).toEqual([0, 0, 0])
  })

  it('queue memory freed by the host makes the controller fail instead of reading it', async () => {
    const host = await ready()
    host.sqs.get(1)!.memory.free()
    host.ringTail(1, 1)
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringContaining('SQ 1: its memory at')])
  })
})
