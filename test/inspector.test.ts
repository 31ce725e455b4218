import { Controller } from '@gpunvme/host-driver'
import { CNS, CSI, identifyStructure, LID, logStructure, Read, Write } from '@gpunvme/nvme-spec'
import { formatHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { simulate } from '@gpunvme/nvme-sim'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { examples } from '../inspector/examples.js'
import { readFile, readText } from '../inspector/input.js'
import { guessKind, kindOf, kinds, viewOf } from '../inspector/kinds.js'
import { formatTime, scaleOf } from '../inspector/scale.js'
import { modelOf } from '../inspector/trace-model.js'
import { completion, submission } from '../packages/tools/test/trace-lines.js'

const utf8 = (text: string) => new TextEncoder().encode(text)

describe('input', () => {
  test.each([
    ['gpunvme nvme regs', 'SIMULATED  x\n0x14  CC=0x00460001 { EN=1 }\n0x1c  CSTS=0x00000001 { RDY=1 }'],
    [
      'gpunvme nvme regs on a narrow terminal',
      'SIMULATED  x\nsim:sn740, brought up by the driver of gpunvme.\n0x14  CC=0x00460001 { EN=1 CSS=NVM\n        MPS=0 }\n0x1c  CSTS=0x00000001 { RDY=1 }',
    ],
    ['CC.format', 'CC=0x00460001 { EN=1 CSS=NVM }\nCSTS=0x00000001 { RDY=1 }'],
    ['nvme show-regs', 'cc      : 460001\ncsts    : 1\n'],
  ])('reads register values as printed by %s', (_, text) => {
    const input = readText(text)
    expect(input.kind === 'registers' && input.values.map(({ register, value }) => [register.name, value])).toEqual([
      ['CC', 0x46_0001n],
      ['CSTS', 1n],
    ])
    expect(readFile(utf8(text), 'regs.txt')).toEqual(input)
  })

  test('reads bytes from digits, a dump, and binary and text files', () => {
    const bytes = Uint8Array.from({ length: 64 }, (_, i) => i)
    const expected = { kind: 'bytes', bytes }
    expect(readText(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' '))).toEqual(expected)
    const dump = formatHexDump(bytes).join('\n')
    expect(readText(dump)).toEqual(expected)
    expect(readFile(utf8(dump), 'dump.txt')).toEqual(expected)
    expect(readFile(bytes, 'bytes.bin')).toEqual(expected)
  })

  test('reads a trace, and rejects a damaged line by its number', () => {
    const line = '{"timeNs":1,"track":"bar","name":"read CSTS"}'
    expect(readText(`${line}\n\n${line}\n`)).toMatchObject({ kind: 'trace', events: [{ timeNs: 1 }, { timeNs: 1 }] })
    expect(() => readText(`${line}\n{"timeNs":`)).toThrow('Trace line 2')
    expect(() => readText('prose')).toThrow("Expected hexadecimal digits in the text, got 'prose'")
    expect(readText(' \n')).toEqual({ kind: 'nothing' })
  })
})

describe('kinds', () => {
  test('cover every structure of Identify and every log page', () => {
    const ids = new Set(kinds.map(({ id }) => id))
    expect(ids.size).toBe(kinds.length)
    for (const cns of Object.values(CNS.values)) {
      const known = Object.values(CSI.values).some((csi) => identifyStructure(cns, csi) !== undefined)
      expect([cns, kinds.some(({ id }) => id.startsWith(`identify ${cns} `))]).toEqual([cns, known])
    }
    for (const lid of Object.values(LID.values))
      expect([lid, ids.has(`log ${lid}`)]).toEqual([lid, logStructure(lid) !== undefined])
  })

  test.each(kinds.map((kind) => [kind.id, kind] as const))('%s explains bytes of its declared length', (_, kind) => {
    const { title, lines } = kind.explain(viewOf(new Uint8Array(kind.lengthBytes)), 0)
    expect(title).not.toBe('')
    expect(lines.length).toBeGreaterThan(0)
  })

  test('are guessed by length, and Identify Controller by its entry sizes', () => {
    const controller = new Uint8Array(4096)
    controller.set([0x66, 0x44], 512)
    expect(guessKind(controller)?.id).toBe('identify 1 0')
    expect(guessKind(new Uint8Array(4096))?.id).toBe('identify 0 0')
    expect([512, 64, 192, 16, 48, 8, 4, 7, 0].map((length) => guessKind(new Uint8Array(length))?.id)).toEqual([
      'log 2',
      'sqe nvm',
      'sqe nvm',
      'cqe',
      'cqe',
      'register CAP',
      'register CC',
      undefined,
      undefined,
    ])
    expect(kindOf('identify 1 0')?.lengthBytes).toBe(4096)
  })
})

describe('traces', () => {
  test('of the simulator: each command has its completion, status and faults', async () => {
    const events: TraceEvent[] = []
    const match = { qid: 1, opcode: 2, nth: 2 }
    const faults = { rules: [{ match, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }] } as const
    const { transport } = simulate({ profile: 'ideal', seed: 1, faults, trace: (event) => events.push(event) })
    const controller = await Controller.open(transport)
    await controller.namespace(1).readBytes(0, 4096)
    await expect(controller.namespace(1).readBytes(4096, 4096)).rejects.toThrow()
    await controller.close()
    const { commands, tracks } = modelOf(events)
    const reads = commands.filter(({ track, name }) => track === 'queue 1' && name === 'Read')
    expect(reads.map(({ status, failed }) => [status, failed])).toEqual([
      ['Successful Completion (SCT 0h SC 00h)', false],
      ['Unrecovered Read Error (SCT 2h SC 81h, DNR, M)', true],
    ])
    for (const { startNs, endNs } of reads) expect(endNs).toBeGreaterThanOrEqual(startNs)
    expect(tracks.slice(0, 2)).toMatchObject([
      { name: 'queue 0', isQueue: true },
      { name: 'queue 1', isQueue: true },
    ])
    expect(tracks.find(({ name }) => name === 'fault')).toMatchObject({ count: 1 })
    // Open when the trace ends: the Asynchronous Event Requests.
    const open = commands.filter(({ endNs }) => endNs === undefined)
    expect(new Set(open.map(({ name }) => name))).toEqual(new Set(['Asynchronous Event Request']))
  })

  test('match commands by drive, queue and identifier, and keep stray completions as events', () => {
    const { commands, marks } = modelOf([
      { ...submission(Read, { NSID: 1 }), timeNs: 0, track: '2: sq 1' },
      { ...submission(Write, { CID: 0xa00, NSID: 1 }), timeNs: 1 },
      { ...completion(0xa00, { SC: 0x07 }), timeNs: 2, track: 'cq 3' },
      { ...completion(0, { SC: 0x07 }), timeNs: 3 },
    ])
    expect(commands).toMatchObject([
      { track: '2: queue 1', name: 'Read', endNs: undefined },
      { track: 'queue 1', name: 'Write', endNs: 2, status: 'Command Abort Requested (SCT 0h SC 07h)', failed: true },
    ])
    expect(marks).toMatchObject([{ track: 'cq 1', startNs: 3 }])
  })

  test('have a scale that shortens pauses on request and converts in both directions', () => {
    const times = [0, 10, 20, 30, 10_000_000_000, 10_000_000_010]
    const plain = scaleOf(times, false)
    expect([plain.at(0), plain.at(10_000_000_010), plain.breaks]).toEqual([0, 1, []])
    expect(plain.at(30)).toBeLessThan(1e-6)
    const shortened = scaleOf(times, true)
    expect(shortened.breaks).toEqual([{ fromNs: 30, toNs: 10_000_000_000 }])
    // Gaps of 10; the pause is drawn as 12 gaps.
    expect(times.map((ns) => Math.round(shortened.at(ns) * 160))).toEqual([0, 10, 20, 30, 150, 160])
    for (const ns of times) expect(shortened.timeAt(shortened.at(ns))).toBeCloseTo(ns, 3)
    expect(scaleOf([], true).at(5)).toBe(0)
  })

  test('have times in the largest fitting unit', () => {
    expect([0, 999, 1500, 20_022_147, 10_057_381_097].map(formatTime)).toEqual([
      '0 ns',
      '999 ns',
      '1.5 µs',
      '20.0221 ms',
      '10.0574 s',
    ])
  })
})

test.each(Object.entries(examples))('the example %s is recognized', (_, make) => {
  const input = readText(make())
  expect(input.kind).not.toBe('nothing')
  if (input.kind === 'bytes') expect(guessKind(input.bytes)).toBeDefined()
})
