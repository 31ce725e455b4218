import {
  CQE,
  decodeCqe,
  decodeSqe,
  ErrorLogEntry,
  formatCqe,
  formatSqe,
  identifyStructure,
  LID,
  logStructure,
  registers,
  SQE,
} from '@gpunvme/nvme-spec'
import type { AnyRegister, AnyStruct, CommandSet } from '@gpunvme/nvme-spec/layout'
import { Option, type Command } from 'commander'
import { readDump } from '../dump-input.js'
import { addOutputOptions, examples, identifier } from '../options.js'
import { Output, type OutputOptions } from '../output.js'
import { plural } from '../units.js'
import { UsageError } from '../usage-error.js'

interface Flags extends OutputOptions {
  readonly file?: string
  readonly set: CommandSet
  readonly cns: number
  readonly csi: number
  readonly lid: number
}

/** What a decoder found: the lines for people, the object for programs. */
interface Found {
  readonly lines: readonly string[]
  readonly object: object
}

export function decode(program: Command): void {
  const command = program
    .command('decode')
    .usage('WHAT [HEX...] [options]')
    .description('explain bytes: queue entries, registers, Identify data, log pages')
    .argument('<what>', 'sqe, cqe, identify, log, or the name of a register')
    .argument('[hex...]', "the bytes in hexadecimal as they lie in memory, a register's value; '-' reads stdin")
    .option('--file <file>', 'read the bytes from a file: as they are, or as hexadecimal text')
    .addOption(new Option('--set <name>', 'the queue of an sqe').choices(['admin', 'nvm', 'zns']).default('nvm'))
    .addOption(identifier('--cns <n>', 'what Identify returned, as 1 or 0x01').default(1))
    .addOption(identifier('--csi <n>', 'the command set that Identify was asked about').default(0))
    .addOption(identifier('--lid <n>', 'the log page, as 2 or 0x02').default(2))
    .action((what: string, hex: string[], flags: Flags) => run(what, hex, flags, new Output(flags)))
  addOutputOptions(command)
  examples(command, [
    'gpunvme decode CC 0x00460001',
    'gpunvme decode cqe 00000000 00000000 04000100 12040181',
    'gpunvme decode identify --cns 1 --file controller.bin --json',
  ])
}

async function run(what: string, hex: string[], flags: Flags, output: Output): Promise<void> {
  const { lines, object } = await find(what, hex, flags)
  output.print(...lines)
  output.object('gpunvme.decode/1', { what, ...object })
}

async function find(what: string, words: string[], flags: Flags): Promise<Found> {
  const input = { words, ...(flags.file !== undefined && { file: flags.file }) }
  const register = (registers as readonly AnyRegister[]).find(({ name }) => name === what.toUpperCase())
  if (register !== undefined) {
    if (flags.file !== undefined)
      throw new UsageError(`${register.name}: a value is given as an argument, --file is for structures`)
    return ofRegister(register, words)
  }
  switch (what) {
    case 'sqe':
      return ofEntries(SQE, await readDump(input), (data, at) => ({
        text: formatSqe(flags.set, data, at),
        entry: decodeSqe(flags.set, data, at),
      }))
    case 'cqe':
      return ofEntries(CQE, await readDump(input), (data, at) => ({
        text: formatCqe(data, at),
        entry: decodeCqe(data, at),
      }))
    case 'identify':
      return ofStructure(identifyStructure(flags.cns, flags.csi), `--cns ${flags.cns} --csi ${flags.csi}`, () =>
        readDump(input),
      )
    case 'log':
      // The one page that is nothing but entries.
      if (flags.lid === LID.ERROR_INFORMATION) return ofEntries(ErrorLogEntry, await readDump(input), errorEntry)
      return ofStructure(logStructure(flags.lid), `--lid ${flags.lid}`, () => readDump(input))
    default:
      throw new UsageError(`Unknown WHAT '${what}'`, {
        facts: ['structures: sqe cqe identify log', `registers: ${registers.map(({ name }) => name).join(' ')}`],
        next: 'gpunvme help decode',
      })
  }
}

function ofRegister(register: AnyRegister, words: readonly string[]): Found {
  const { name, widthBits, spec, doc } = register
  const [word = '', ...more] = words
  const digits = /^(?:0x)?([0-9a-f][0-9a-f_]*)$/i.exec(word)?.[1]?.replaceAll('_', '')
  if (digits === undefined || more.length > 0) {
    throw new UsageError(`${name}: expected its value in hexadecimal, got '${words.join(' ')}'`, {
      next: `gpunvme decode ${name} 0x${'0'.repeat(widthBits / 4)}`,
    })
  }
  if (BigInt.asUintN(widthBits, BigInt(`0x${digits}`)) !== BigInt(`0x${digits}`)) {
    throw new UsageError(`${name}: expected at most ${widthBits / 4} hexadecimal digits, got ${digits.length}`)
  }
  const raw = widthBits === 32 ? Number.parseInt(digits, 16) : BigInt(`0x${digits}`)
  return {
    lines: [register.format(raw)],
    object: { name, doc, spec, value: `0x${digits}`, fields: register.decode(raw) },
  }
}

function ofEntries(
  { name, bytes, spec }: AnyStruct,
  data: DataView,
  read: (data: DataView, byteOffset: number) => { text: string; entry: object },
): Found {
  const count = data.byteLength / bytes
  if (!Number.isInteger(count)) {
    throw new UsageError(`${name}: expected a multiple of ${bytes} bytes, got ${data.byteLength}`, { facts: [spec] })
  }
  const entries = Array.from({ length: count }, (_, i) => read(data, i * bytes))
  return {
    lines: entries.map(({ text }, i) => (count === 1 ? text : `${i}: ${text}`)),
    object: { entries: entries.map(({ text, entry }) => ({ text, ...(plain(entry) as object) })) },
  }
}

function errorEntry(data: DataView, at: number): { text: string; entry: object } {
  const text = ErrorLogEntry.describe(data, at).join(' ')
  return { text: text === '' ? 'no error' : text, entry: { fields: ErrorLogEntry.decode(data, at) } }
}

async function ofStructure(
  structure: AnyStruct | undefined,
  flags: string,
  read: () => Promise<DataView>,
): Promise<Found> {
  if (structure === undefined)
    throw new UsageError(`No structure is known for ${flags}`, { next: 'gpunvme help decode' })
  const { name, bytes, spec } = structure
  const data = await read()
  if (data.byteLength < bytes) {
    throw new UsageError(`${name}: expected ${plural(bytes, 'byte')}, got ${data.byteLength}`, { facts: [spec] })
  }
  const rest = new Uint8Array(data.buffer, data.byteOffset + bytes, data.byteLength - bytes)
  const fields = structure.describe(data)
  return {
    lines: [
      `${name} (${spec}); fields that are zero are left out`,
      ...fields.map((line) => `  ${line}`),
      ...(rest.length > 0
        ? [
            `  and ${plural(rest.length, 'byte')} after it: ${hexOf(rest.subarray(0, 32))}${rest.length > 32 ? '…' : ''}`,
          ]
        : []),
    ],
    object: {
      structure: name,
      spec,
      fields: plain(structure.decode(data)),
      ...(rest.length > 0 && { rest: hexOf(rest) }),
    },
  }
}

/** The same with bytes as hexadecimal text and arrays as arrays, for JSON. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hexOf(value)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
