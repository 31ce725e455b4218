import { decodeFileMap, encodeFileMap } from '@gpunvme/layer-loader/filesystems'
import { formatFaultPlan, parseFaultPlan } from '@gpunvme/nvme-spec/faults'
import { jsonlTrace, parseTraceLine } from '@gpunvme/nvme-spec/trace'
import { decodeVersion, encodeVersion } from '@gpunvme/nvme-spec/vfio-user'
import { Readable } from 'node:stream'
import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice } from '../../../../test/fuzz/mutator.js'
import { repeatOfFio } from '../../src/bench/fio-output.js'
import { parseEntry } from '../../src/binding/entry.js'
import { readDump } from '../../src/decode/dump-input.js'
import { formatCsv } from '../../src/report/csv.js'
import { formatHtml } from '../../src/report/html/page.js'
import { formatMarkdown } from '../../src/report/markdown.js'
import { readResults } from '../../src/report/read-results.js'
import { oneCell, sweep } from '../bench-results.js'

interface Input {
  readonly valid: Uint8Array
  readonly read: (text: string, bytes: Uint8Array) => unknown
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** A fault plan with a rule of each kind. */
const PLAN = {
  rules: [
    { match: { opcode: 2, lba: [64, 127] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } },
    { match: { qid: 1, every: 10, times: 3 }, action: { kind: 'delay-completion', delayNs: 50e6 } },
    {
      match: { register: 'CSTS', access: 'read', probability: 0.5 },
      action: { kind: 'read-value', value: 0xffff_ffff },
    },
    { match: { atNs: 1e6 }, action: { kind: 'fatal-status' } },
    { match: { opcode: 2, nth: 4 }, action: { kind: 'torn-dma', fromByte: 512, toByte: 1024 } },
  ],
}

let traceLine = ''
jsonlTrace((text) => (traceLine = text))({
  ...{ timeNs: 1500, track: 'queue 1', name: 'Read', durationNs: 80_000 },
  details: { SLBA: 64, NLB: 7, status: 'SUCCESS' },
})

const CAPTURED = {
  path: '/models/a.gguf',
  sizeBytes: 200_000,
  extents: [
    { fileOffsetBytes: 0, deviceOffsetBytes: 150_000, lengthBytes: 150_000 },
    { fileOffsetBytes: 150_000, deviceOffsetBytes: 0, lengthBytes: 50_000 },
  ],
  device: { disk: 'nvme0n1', partition: 'nvme0n1p2', fileSystem: 'ext4' },
  partitionStartBytes: 1_048_576,
  mtimeNs: 1_795_359_775_736_499_961n,
  firstCrc32: 1,
  lastCrc32: 2,
}

const RECORD = {
  ...{ version: 1, bdf: '0000:01:00.0', driver: 'vfio-pci', previous: 'nvme', override: '' },
  ...{ isProbed: false, powerControl: 'auto', begun: ['unbind'] },
}
const ENTRY = {
  ...{ schema: 'gpunvme.binding/1', name: 'nvme0', serial: 'S1', model: 'M', bootId: 'b' },
  ...{ since: '2026-01-01T00:00:00Z', by: { user: 'u', command: 'c' }, holder: { pid: 1, startTicks: '2' } },
  record: RECORD,
}
const FIO = {
  'fio version': 'fio-3.33',
  jobs: [
    {
      ...{ error: 0, job_runtime: 2000, usr_cpu: 5.1, sys_cpu: 16.7 },
      read: {
        ...{ io_bytes: 1_048_576, total_ios: 256, runtime: 1000 },
        clat_ns: { min: 1, max: 20_000, bins: { '1000': 200, '20000': 56 } },
      },
    },
  ],
}

const INPUTS: Readonly<Record<string, Input>> = {
  'fault plan': {
    valid: json(PLAN),
    read(text) {
      const plan = parseFaultPlan(text)
      if (JSON.stringify(parseFaultPlan(formatFaultPlan(plan))) !== JSON.stringify(plan))
        throw new Error('a plan changes when it is written')
    },
  },
  'trace line': {
    valid: Buffer.from(traceLine.trimEnd()),
    read(text) {
      const event = parseTraceLine(text)
      let written = ''
      jsonlTrace((line) => (written = line))(event)
      // An infinite detail, such as 1e999, is written as text: JSON has no number for it.
      const hasInfinite = Object.values(event.details ?? {}).some((detail) => Math.abs(Number(detail)) === Infinity)
      if (!hasInfinite && JSON.stringify(parseTraceLine(written)) !== JSON.stringify(event))
        throw new Error('an event changes when it is written')
    },
  },
  'bench results': {
    valid: json(oneCell()),
    read: (text) => {
      const results = readResults(text, 'results.json')
      formatMarkdown(results)
      formatCsv(results)
      formatHtml(results)
    },
  },
  'bench results of a sweep': {
    valid: json(sweep()),
    read: (text) => formatMarkdown(readResults(text, 'results.json')),
  },
  'map of a file': { valid: Buffer.from(encodeFileMap(CAPTURED)), read: (text) => decodeFileMap(text) },
  'record of a binding': { valid: json(ENTRY), read: (text) => parseEntry(text, 'record.json') },
  'output of fio': { valid: json(FIO), read: (text) => repeatOfFio(text) },
  'capabilities of vfio-user': {
    valid: encodeVersion({
      ...{ major: 0, minor: 1 },
      capabilities: {
        maxMsgFds: 16,
        maxDataXferSize: 1_048_576,
        maxDmaMaps: 65_535,
        pgsizes: 4096,
        writeMultiple: true,
      },
    }),
    read(_, bytes) {
      try {
        decodeVersion(bytes)
      } catch (error) {
        // The documented error of this codec, which its callers wrap.
        if (!(error instanceof RangeError && /^(VERSION: |vfio-user version needs )/.test(error.message))) throw error
      }
    },
  },
  'hex dump': {
    valid: Buffer.from('00000000: 0201 0003 0000 0000 ffff ffff 0000 0000  ................\n00000010: 40 41\n'),
    read: (_, bytes) => readDump({ words: ['-'], stdin: Readable.from([Buffer.from(bytes)]) }),
  },
}

async function read(dice: Dice): Promise<string> {
  const name = dice.pick(Object.keys(INPUTS))
  const { valid, read } = INPUTS[name]!
  const bytes = dice.chance(0.01) ? Buffer.from(valid) : mutate(valid, dice, 'json')
  return `${name}: ${await endingOf(() => read(bytes.toString(), bytes))}`
}

testFuzzer(
  fuzzer('json', read),
  1500,
  Object.keys(INPUTS).map((name) => `${name}: accepted`),
)
