import { simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import { formatTraceEvent } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enabledHost } from '../../test/enabled-host.js'
import { onlyNeeded } from '../../test/only-needed.js'
import { Controller } from '../controller.js'
import { faulty } from './faulty.js'
import { traced } from './traced.js'

let simulation: ReturnType<typeof simulate>
let events: TraceEvent[]
const start = (options: SimulationOptions = {}): Transport =>
  (simulation = simulate({ profile: 'sn740', ...options })).transport
const sink = (event: TraceEvent) => events.push(event)
const lines = (from = 0) => events.slice(from).map((event) => formatTraceEvent(event).replace(/^.*? ms {2}/, ''))
const on = (track: string, name: string) => events.filter((event) => event.track === track && event.name === name)

beforeEach(() => {
  events = []
})
afterEach(() => expect(simulation.diagnostics).toEqual([]))

describe('a traced transport', () => {
  it('has the members and the name of the underlying transport, plus wraps', async () => {
    const below: Transport = { ...start(), bdf: '0000:0b:00.0', movesData: false }
    const whole = traced(below, sink)
    expect(Object.keys(whole).sort()).toEqual([...Object.keys(below), 'wraps'].sort())
    expect(whole).toMatchObject({ name: 'sim:sn740', bdf: '0000:0b:00.0', movesData: false, can: below.can })
    expect(whole.clock).toBe(below.clock)
    expect(whole.wraps).toBe(below)
    const bare = traced(onlyNeeded(below), sink)
    expect(Object.keys(bare).sort()).toEqual(['bar', 'can', 'clock', 'close', 'dma', 'name', 'wraps'])
    await whole.close()
  })

  it('leaves the trace hash of the controller unchanged', async () => {
    const hashOf = async (wrap: (transport: Transport) => Transport) => {
      const ctrl = await Controller.open(wrap(start()))
      await ctrl.namespace(1).readBytes(0, 65_536)
      await ctrl.close()
      return simulation.traceHash
    }
    const plain = await hashOf((transport) => transport)
    expect(await hashOf((transport) => traced(transport, sink))).toBe(plain)
    expect(events.length).toBeGreaterThan(20)
  })

  it('rejects a missing sink with a TypeError', () => {
    expect(() => traced(simulate().transport, undefined as never)).toThrow(
      new TypeError('traced: sink: expected a function, got undefined'),
    )
  })

  it('throws the errors of the underlying transport, and traces no event for them', () => {
    const { bar, dma } = traced(start(), sink)
    expect(() => bar.read32(2)).toThrow('register access: expected a multiple of 4')
    expect(() => bar.write32(0x14, -1)).toThrow('register write at 0x14: expected an integer from 0 to 2^32 - 1')
    expect(() => bar.write64(0x28, 1n << 64n)).toThrow('expected a bigint from 0n to 2n ** 64n - 1n')
    expect(() => bar.write32('0' as never, 1)).toThrow(TypeError)
    const memory = dma.alloc(4096)
    memory.free()
    expect(() => memory.free()).toThrow(TypeError)
    expect(events).toEqual([])
  })
})

describe('a traced transport records', () => {
  it('register accesses by name, with decoded fields', () => {
    const { bar } = traced(start(), sink)
    bar.read64(0x00)
    bar.read32(0x1c)
    bar.write32(0x14, 0x0046_0000)
    bar.write64(0x28, 0x1_2345_6000n)
    bar.read32(0x2c)
    bar.write32(0x28, 0x2345_6000)
    const [cap, ...others] = lines()
    expect(cap).toMatch(/^bar {8}read CAP {6}CAP=0x[0-9a-f]{16} \{ MQES=\d+ /)
    expect(others).toEqual([
      'bar        read CSTS     CSTS=0x00000000 { RDY=0 CFS=0 SHST=NORMAL NSSRO=0 PP=0 ST=0 }',
      'bar        write CC      CC=0x00460000 { EN=0 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }',
      'bar        write ASQ     ASQ=0x0000000123456000 { ASQB=0x123456 }',
      'bar        read ASQ upper half  value=0x1',
      'bar        write ASQ     value=0x23456000',
    ])
  })

  it('commands at the write of their tail doorbell, and completions at the write of their head doorbell', async () => {
    const host = await enabledHost(traced(start(), sink))
    const data = host.transport.dma.alloc(4096)
    const from = events.length
    // Get Features 07h, CID 1, and Identify Controller, CID 2, with one doorbell write.
    host.stage(0, { opcode: 0x0a, cid: 1, cdw: { 10: 0x07 } })
    host.stage(0, { opcode: 0x06, cid: 2, prp1: data.iovaAt(0), cdw: { 10: 0x01 } })
    expect(lines(from)).toEqual([])
    host.ringTail(0)
    expect(lines(from)).toEqual([
      'sq 0       submit        Get Features CID=0x0001 FID=NUMBER_OF_QUEUES SEL=CURRENT',
      expect.stringMatching(/^sq 0 {7}submit {8}Identify CID=0x0002 PRP1=0x\w+000 CNS=CONTROLLER CSI=NVM$/),
      'sq 0       ring tail     value=2',
    ])
    const rung = events.length
    let completed = 0
    await host.until(() => (completed += host.poll(0, { ring: false }).length) === 2)
    host.ringHead(0)
    expect(lines(rung)).toEqual([
      expect.stringMatching(
        /^cq 0 {7}complete {6}CID=0x0001 SQID=0 SQHD=\d P=1 .*Successful Completion.* afterNs=\d+$/,
      ),
      expect.stringMatching(
        /^cq 0 {7}complete {6}CID=0x0002 SQID=0 SQHD=\d P=1 .*Successful Completion.* afterNs=\d+$/,
      ),
      'cq 0       ring head     value=2',
    ])
  })

  it('entries after a queue wraps around', async () => {
    const host = await enabledHost(traced(start(), sink), 3)
    for (let cid = 1; cid <= 7; cid++) {
      host.stage(0, { opcode: 0x0a, cid, cdw: { 10: 0x07 } })
      host.ringTail(0)
      await host.collect(0, 1)
    }
    const cids = (track: string, name: string) =>
      on(track, name).map(({ command, completion }) => (command ?? completion)!.cid.toString(16).padStart(4, '0'))
    expect(cids('sq 0', 'submit')).toEqual(['0001', '0002', '0003', '0004', '0005', '0006', '0007'])
    expect(cids('cq 0', 'complete')).toEqual(['0001', '0002', '0003', '0004', '0005', '0006', '0007'])
  })

  it('each Read in the I/O queues that a driver creates', async () => {
    const ctrl = await Controller.open(traced(start(), sink))
    await ctrl.namespace(1).readBytes(0, 4096)
    const reads = on('sq 1', 'submit').map(({ command }) => command!.text)
    expect(reads.filter((entry) => entry.startsWith('Read '))).toHaveLength(reads.length)
    expect(reads.at(-1)).toMatch(/^Read (CID=0x\w{4} )?NSID=1 PRP1=0x\w+ SLBA=0x0 NLB=7$/)
    expect(on('cq 1', 'complete').length).toBe(reads.length)
    await ctrl.close()
  })

  it('doorbells as plain offsets once the controller is disabled', async () => {
    const host = await enabledHost(traced(start(), sink))
    host.transport.bar.write32(0x14, 0x0046_0000)
    await host.until(() => (host.bar.read32(0x1c) & 1) === 0)
    const from = events.length
    host.transport.bar.write32(0x1000, 1)
    expect(lines(from)).toEqual(['bar        write 0x1000  value=0x1'])
    simulationMistakes(/SQ 0 tail/)
    const again = await enabledHost(host.transport)
    again.stage(0, { opcode: 0x0a, cid: 1, cdw: { 10: 0x07 } })
    again.ringTail(0)
    expect(on('sq 0', 'submit')).toHaveLength(1)
  })

  it('no entry from freed memory', async () => {
    const host = await enabledHost(traced(start(), sink))
    host.stage(0, { opcode: 0x0a, cid: 1, cdw: { 10: 0x07 } })
    host.sqs.get(0)!.memory.free()
    const from = events.length
    host.ringTail(0)
    expect(lines(from)[0]).toMatch(/^sq 0 {7}submit {8}entry="in memory that this transport did not allocate/)
  })

  it('configuration space accesses, interrupts and resets', async () => {
    const transport = traced(start(), sink)
    transport.config!.read(0x04, 2)
    transport.config!.write(0x0c, 1, 0x10)
    const host = await enabledHost(transport)
    host.stage(0, { opcode: 0x0a, cid: 1, cdw: { 10: 0x07 } })
    host.ringTail(0)
    expect(await transport.interrupts!.wait(0, transport.clock.now() + 1e9)).toBe('fired')
    await transport.reset!('bus')
    expect(lines().filter((line) => /^(config|interrupt|reset)/.test(line))).toEqual([
      'config     read 0x4      widthBytes=2 value=0x6',
      'config     write 0xc     widthBytes=1 value=0x10',
      'interrupt  vector 0',
      'reset      reset bus',
    ])
  })

  it('events with the times of its clock', async () => {
    const { bar, clock } = traced(start(), sink)
    await clock.idle(12_345)
    bar.read32(0x1c)
    expect(events.map(({ timeNs }) => timeNs)).toEqual([12_345])
  })
})

describe('a traced transport around a faulty one', () => {
  it('records what the host sees, including faults', async () => {
    const rules = [
      { match: { register: 'CSTS', nth: 1 }, action: { kind: 'read-value', value: 0xffff_ffff } },
      { match: { register: 'SQyTDBL', nth: 1 }, action: { kind: 'lose-write' } },
    ] as const
    const broken = faulty(start(), { rules }, { trace: sink })
    const transport = traced(broken, sink)
    transport.bar.read32(0x1c)
    const host = await enabledHost(transport)
    const from = events.length
    host.stage(0, { opcode: 0x0a, cid: 1, cdw: { 10: 0x07 } })
    host.ringTail(0)
    expect(lines().slice(0, 2)).toEqual([
      'fault      read-value    rule=0 where="read CSTS"',
      'bar        read CSTS     CSTS=0xffffffff { RDY=1 CFS=1 SHST=3 NSSRO=1 PP=1 ST=1 reserved=0xffffff80 }',
    ])
    expect(lines(from)).toEqual([
      'sq 0       submit        Get Features CID=0x0001 FID=NUMBER_OF_QUEUES SEL=CURRENT',
      'sq 0       ring tail     value=1',
      'fault      lose-write    rule=1 where="write SQ0TDBL"',
    ])
    expect(broken.faults.hits).toEqual([1, 1])
  })

  it('makes Controller.open reject a removed device', async () => {
    const broken = faulty(start(), {
      rules: [{ match: { register: 'CSTS', nth: 4 }, action: { kind: 'remove-device' } }],
    })
    await expect(Controller.open(traced(broken, sink))).rejects.toThrow()
    expect(broken.faults.hits).toEqual([1])
  })
})

/** Checks and clears the diagnostics that a test provokes. */
function simulationMistakes(expected: RegExp): void {
  const mistakes = simulation.diagnostics.map(({ text }) => text)
  expect(mistakes).toEqual([expect.stringMatching(expected)])
  simulation = { ...simulation, diagnostics: [] }
}
