import { unknown, type Known } from '../machine/known.js'

/** Data of a kernel module file. */
export interface ElfFacts {
  /** Entries of .modinfo; names may repeat. */
  readonly modinfo: readonly (readonly [name: string, value: string])[]
  /** Requested names that are undefined symbols of the module. */
  readonly calls: ReadonlySet<string>
}

const SHT_SYMTAB = 2
const SYMBOL_BYTES = 24
const SECTION_HEADER_BYTES = 64
/** A kernel module has some hundred sections, or some ten thousand with one per function. */
const MAX_SECTIONS = 200_000
/** Far above that of any module. */
const MAX_MODINFO_BYTES = 4 * 1024 * 1024
const MAX_SYMBOLS = 4_000_000

interface Section {
  readonly name: string
  readonly type: number
  readonly offset: number
  readonly lengthBytes: number
  readonly link: number
}

/**
 * Reads a 64-bit little-endian ELF file (System V ABI, chapter 4): .modinfo, and which of `names` are undefined
 * symbols. The file is untrusted: invalid content gives an unknown result with a reason.
 */
export function readElf(file: Buffer, names: readonly string[]): Known<ElfFacts> {
  try {
    const sections = readSections(file)
    const modinfo = sections.find(({ name }) => name === '.modinfo')
    if (modinfo === undefined) throw new Malformed('it has no section .modinfo, so it is not a kernel module')
    return { modinfo: entries(bytesOf(file, modinfo)), calls: undefinedSymbols(file, sections, names) }
  } catch (error) {
    if (error instanceof Malformed) return unknown(error.message)
    throw error
  }
}

function readSections(file: Buffer): Section[] {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46) throw new Malformed('it is not an ELF file')
  if (file[4] !== 2 || file[5] !== 1) throw new Malformed('it is not a 64-bit little-endian ELF file')
  const at = offset(file, 40)
  const each = file.readUInt16LE(58)
  if (each !== SECTION_HEADER_BYTES) throw new Malformed(`its section headers have ${each} bytes, not 64`)
  if (at === 0 || at + each > file.length) throw new Malformed('its section headers are outside the file')
  // More sections than 16 bits can count: the number is in the first header, which is otherwise unused.
  const count = file.readUInt16LE(60) || offset(file, at + 32)
  const namesIn = file.readUInt16LE(62) === 0xffff ? file.readUInt32LE(at + 40) : file.readUInt16LE(62)
  if (count > MAX_SECTIONS || at + count * each > file.length)
    throw new Malformed(`it claims ${count} sections, more than it can hold`)
  if (namesIn >= count) throw new Malformed('the section with the names of sections is missing')
  const header = (index: number) => {
    const start = at + index * each
    return {
      nameAt: file.readUInt32LE(start),
      type: file.readUInt32LE(start + 4),
      offset: offset(file, start + 24),
      lengthBytes: offset(file, start + 32),
      link: file.readUInt32LE(start + 40),
    }
  }
  const names = bytesOf(file, header(namesIn))
  return Array.from({ length: count }, (_, index) => {
    const { nameAt, ...rest } = header(index)
    return { name: text(names, nameAt), ...rest }
  })
}

/** Entries are name=value, terminated by zeros. */
function entries(bytes: Buffer): [string, string][] {
  if (bytes.length > MAX_MODINFO_BYTES) throw new Malformed(`its .modinfo has ${bytes.length} bytes`)
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry.includes('='))
    .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
}

function undefinedSymbols(file: Buffer, sections: readonly Section[], names: readonly string[]): Set<string> {
  const table = sections.find(({ type }) => type === SHT_SYMTAB)
  if (table === undefined) throw new Malformed('its symbols are stripped, so its calls are unknown')
  const strings = sections[table.link]
  if (strings === undefined) throw new Malformed('the names of its symbols are missing')
  const [symbols, texts] = [bytesOf(file, table), bytesOf(file, strings)]
  const count = Math.floor(symbols.length / SYMBOL_BYTES)
  if (count > MAX_SYMBOLS) throw new Malformed(`it claims ${count} symbols`)
  const wanted = names.map((name) => ({ name, bytes: Buffer.from(`${name}\0`, 'latin1') }))
  const found = new Set<string>()
  for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
    const nameAt = symbols.readUInt32LE(at)
    if (symbols.readUInt16LE(at + 6) !== 0 || nameAt === 0) continue // defined, or the first symbol, which has no name
    for (const { name, bytes } of wanted) {
      if (texts.subarray(nameAt, nameAt + bytes.length).equals(bytes)) found.add(name)
    }
  }
  return found
}

function bytesOf(file: Buffer, { offset: at, lengthBytes }: Pick<Section, 'offset' | 'lengthBytes'>): Buffer {
  if (at + lengthBytes > file.length) throw new Malformed('a section ends past the file: it is truncated')
  return file.subarray(at, at + lengthBytes)
}

/** Reads a 64-bit offset or size; impossible values become larger than any file. */
function offset(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at))
}

function text(bytes: Buffer, at: number): string {
  const end = bytes.indexOf(0, at)
  if (at >= bytes.length || end === -1) throw new Malformed('a name in it is unterminated')
  return bytes.toString('latin1', at, end)
}

class Malformed extends Error {}
