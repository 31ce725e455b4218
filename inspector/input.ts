import { registers } from '@gpunvme/nvme-spec'
import { readDumpBytes, readDumpText } from '@gpunvme/nvme-spec/hex-dump'
import type { AnyRegister } from '@gpunvme/nvme-spec/layout'
import { parseTraceLine } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent } from '@gpunvme/nvme-spec/transport'

/** A register and its value. */
export interface RegisterValue {
  readonly register: AnyRegister
  readonly value: bigint
}

/** Pasted or dropped input. */
export type Input =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'trace'; readonly events: readonly TraceEvent[] }
  | { readonly kind: 'registers'; readonly values: readonly RegisterValue[] }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }

/**
 * Reads text: a JSONL trace, register values, a hex dump, or hexadecimal digits.
 * @throws GpuNvmeError for other text, naming the line.
 */
export function readText(text: string): Input {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'nothing' }
  if (trimmed.startsWith('{')) return { kind: 'trace', events: readTrace(trimmed) }
  const values = readRegisters(trimmed)
  if (values !== undefined) return { kind: 'registers', values }
  return { kind: 'bytes', bytes: readDumpText(text, 'the text') }
}

/**
 * Reads a file: bytes, or text as `readText`.
 * @throws as `readText`.
 */
export function readFile(bytes: Uint8Array, name: string): Input {
  if (bytes.length === 0) return { kind: 'nothing' }
  // Traces and register lists come first: `readDumpBytes` accepts only binary data, hex dumps and hexadecimal digits.
  const text = new TextDecoder().decode(bytes)
  if (/^\s*\{"/.test(text) || readRegisters(text.trim()) !== undefined) return readText(text)
  return { kind: 'bytes', bytes: readDumpBytes(bytes, name) }
}

function readTrace(text: string): TraceEvent[] {
  const lines = text.split(/\r?\n/)
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [parseTraceLine(line, index + 1)]))
}

/** A register line: `0x14  CC=0x00460001 { … }` of gpunvme, or `cc      : 460001` of `nvme show-regs`. */
// from memory: the format and register names of nvme-cli
const REGISTER = /^(?:0x[\da-f]+ {2})?([a-z]+)\s*[=:]\s*(?:0x)?([\da-f]+)h?(?:\s*\{.*)?$/i
/** The lines that name the drive in the output of gpunvme; the second one is printed only on a terminal. */
const DRIVE = /^(?:DRIVE|SIMULATED) {2}|, (?:brought up by|as set by|as found).*\.$/
/** A line break of gpunvme in a line that is wider than the terminal. */
const FOLD = /\r?\n {8}(?=\S)/g
/** Register names of nvme-cli that differ from the specification's. */
const NAMES: Readonly<Record<string, string>> = { VERSION: 'VS' }

/** Returns register values; undefined unless every line has one. */
function readRegisters(text: string): RegisterValue[] | undefined {
  const values: RegisterValue[] = []
  for (const line of text
    .replace(FOLD, ' ')
    .split(/\r?\n/)
    .filter((each) => each.trim() !== '' && !DRIVE.test(each))) {
    const [, name = '', digits = ''] = REGISTER.exec(line.trim()) ?? []
    const upper = name.toUpperCase()
    const register = registers.find((each) => each.name === (NAMES[upper] ?? upper))
    if (register === undefined) return undefined
    const value = BigInt(`0x${digits}`)
    if (BigInt.asUintN(register.widthBits, value) !== value) return undefined
    values.push({ register, value })
  }
  return values.length === 0 ? undefined : values
}
