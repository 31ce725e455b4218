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

/** What was pasted or dropped. */
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
  // Neither is a hexadecimal digit; a trace, and a list of registers, is text in any case.
  const text = new TextDecoder().decode(bytes)
  if (/^\s*\{"/.test(text) || readRegisters(text.trim()) !== undefined) return readText(text)
  return { kind: 'bytes', bytes: readDumpBytes(bytes, name) }
}

function readTrace(text: string): TraceEvent[] {
  const lines = text.split(/\r?\n/)
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [parseTraceLine(line, index + 1)]))
}

/** `0x14  CC=0x00460001 { … }` as gpunvme prints it, and `cc      : 460001` as `nvme show-regs` does. */
// from memory: the form and the names of nvme-cli
const REGISTER = /^(?:0x[\da-f]+ {2})?([a-z]+)\s*[=:]\s*(?:0x)?([\da-f]+)h?(?:\s*\{.*)?$/i
/** The line that names the drive in the output of gpunvme. */
const DRIVE = /^(?:DRIVE|SIMULATED) {2}/
/** Names of nvme-cli that differ from the specification's. */
const NAMES: Readonly<Record<string, string>> = { VERSION: 'VS' }

/** Undefined unless every line is a register with a value. */
function readRegisters(text: string): RegisterValue[] | undefined {
  const values: RegisterValue[] = []
  for (const line of text.split(/\r?\n/).filter((each) => each.trim() !== '' && !DRIVE.test(each))) {
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
