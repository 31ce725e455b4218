import { CQE, decodeCqe, decodeSqe, formatCqe, formatSqe, registers, SQE } from '@gpunvme/nvme-spec'
import { explainCqe, explainSqe, explainWord, formatExplained, formatExplainedValue } from '@gpunvme/nvme-spec/explain'
import type { AnyRegister, CommandSet } from '@gpunvme/nvme-spec/layout'
import { Option, type Command } from 'commander'
import { verb, type Context } from '../command-line/verb.js'
import { decodeIdentify, decodeLog } from '../decode/decode-data.js'
import { decodeEntries, type Found } from '../decode/decode-structure.js'
import { readDump, readWord, type DumpInput } from '../decode/dump-input.js'
import { unknownIdentify, unknownLog } from '../decode/known-structures.js'
import { identifier } from '../command-line/options.js'
import type { OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { UsageError } from '../command-line/tools-error.js'

interface Flags extends OutputOptions {
  readonly file?: string
  readonly set: CommandSet
  readonly cns: number
  readonly csi: number
  readonly lid: number
  readonly brief?: boolean
}

/** Options that apply to each WHAT. */
const OPTIONS = { sqe: ['set'], cqe: [], identify: ['cns', 'csi'], log: ['lid'] } as const

type Kind = keyof typeof OPTIONS

const NOTES = `
Bytes are in memory order: 04030201 is the dword 01020304h. Reverse the bytes of
dwords that a tool prints as numbers. An unknown --cns or --lid lists the known
ones. With --json, integers from 2^53 on are decimal strings.`

export const decode = verb({
  options(command) {
    command
      .argument('<what>', 'sqe, cqe, identify, log, or the name of a register')
      .argument('[hex...]', "bytes in hexadecimal, in memory order, or the value of a register; '-' reads stdin")
      .option('--file <file>', "read a file ('-' for stdin): bytes, hexadecimal digits, or output of xxd or hexdump -C")
      .addOption(new Option('--set <name>', 'command set of an sqe').choices(['admin', 'nvm', 'zns']).default('nvm'))
      .addOption(identifier('--cns <n>', 'CNS of Identify data: 1, 0x01 or 01h').default(1))
      .addOption(identifier('--csi <n>', 'CSI of Identify data').default(0))
      .addOption(identifier('--lid <n>', 'log page: 2, 0x02 or 02h').default(2))
      .option('--brief', 'only nonzero fields, without explanations')
  },
  about: NOTES,
  examples: [
    'gpunvme nvme decode CC 0x00460001',
    'gpunvme nvme decode cqe 00000000 00000000 04000100 12040181',
    'gpunvme nvme decode identify --cns 1 --file controller.bin --json',
  ],
  run,
})

async function run(typed: string, words: string[], flags: Flags, { output, command }: Context): Promise<void> {
  const register = (registers as readonly AnyRegister[]).find(({ name }) => name === typed.toUpperCase())
  const { stdin } = output.io
  const what = register?.name ?? kindOf(typed)
  refuseOthers(what, command)
  const input = { words, stdin, ...(flags.file !== undefined && { file: flags.file }) }
  const { lines, explained, object } = await (register === undefined
    ? decodeBytes(what as Kind, input, flags)
    : decodeRegister(register, input))
  output.print((flags.brief ? undefined : explained?.()) ?? lines)
  output.object('gpunvme.decode/1', { what, ...object })
}

function kindOf(typed: string): Kind {
  const kind = typed.toLowerCase()
  if (Object.hasOwn(OPTIONS, kind)) return kind as Kind
  throw new UsageError(`Unknown WHAT '${printable(typed)}'`, {
    facts: [
      `structures: ${Object.keys(OPTIONS).join(' ')}`,
      `registers: ${registers.map(({ name }) => name).join(' ')}`,
    ],
    next: { command: ['help', 'nvme', 'decode'] },
  })
}

/** Rejects options that belong to another WHAT. */
function refuseOthers(what: string, command: Command): void {
  for (const [kind, names] of Object.entries(OPTIONS)) {
    const name = names.find((option) => command.getOptionValueSource(option) === 'cli')
    if (name !== undefined && kind !== what)
      throw new UsageError(`${what}: --${name} requires ${kind}`, { next: { command: ['help', 'nvme', 'decode'] } })
  }
}

async function decodeBytes(what: Kind, input: DumpInput, flags: Flags): Promise<Found> {
  const { set, cns, csi, lid } = flags
  switch (what) {
    case 'sqe':
      return decodeEntries(SQE, await readDump(input), (data, at) => ({
        text: formatSqe(set, data, at),
        entry: decodeSqe(set, data, at),
        explained: () => explainSqe(set, data, at),
      }))
    case 'cqe':
      return decodeEntries(CQE, await readDump(input), (data, at) => ({
        text: formatCqe(data, at),
        entry: decodeCqe(data, at),
        explained: () => explainCqe(data, at),
      }))
    case 'identify': {
      const found = decodeIdentify(cns, csi, await readDump(input))
      if (found === undefined) throw unknownIdentify(cns, csi)
      return found
    }
    case 'log': {
      const found = decodeLog(lid, await readDump(input))
      if (found === undefined) throw unknownLog(lid)
      return found
    }
  }
}

async function decodeRegister(register: AnyRegister, input: DumpInput): Promise<Found> {
  const { name, widthBits, spec, doc } = register
  if (input.file !== undefined && input.file !== '-') {
    throw new UsageError(`${name}: --file requires a structure`, {
      next: { command: ['nvme', 'decode', name, '-'], note: 'to read stdin' },
    })
  }
  const next = { command: ['nvme', 'decode', name, `0x${'0'.repeat(widthBits / 4)}`] }
  const word = await readWord(input)
  const digits = /^(?:0x)?([0-9a-f][0-9a-f_]*)$/i.exec(word)?.[1]?.replaceAll('_', '')
  if (digits === undefined) {
    throw new UsageError(`${name}: expected a value in hexadecimal, got '${printable(word)}'`, { next })
  }
  const value = BigInt(`0x${digits}`)
  if (BigInt.asUintN(widthBits, value) !== value) {
    throw new UsageError(`${name}: expected at most ${widthBits / 4} hexadecimal digits, got ${digits.length}`, {
      next,
    })
  }
  const raw = widthBits === 32 ? Number(value) : value
  const text = register.format(raw)
  return {
    lines: [text],
    explained: () => explainedRegister(register, raw),
    object: {
      name,
      doc,
      spec,
      value: `0x${value.toString(16).padStart(widthBits / 4, '0')}`,
      text,
      fields: register.decode(raw),
    },
  }
}

function explainedRegister(register: AnyRegister, raw: number | bigint): string[] {
  const lines = explainWord(register, raw)
  const title = `${formatExplainedValue(lines[0]!)}  ${register.doc} (${register.spec})`
  return [title, ...formatExplained(lines).slice(1)]
}
