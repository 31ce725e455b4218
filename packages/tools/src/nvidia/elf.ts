import { unknown, type Known } from '../machine/known.js'

/** What a kernel module says of itself to whoever reads it as a file. */
export interface ElfFacts {
  /** The entries of .modinfo; a name may come more than once. */
  readonly modinfo: readonly (readonly [name: string, value: string])[]
  /** Of the names that were asked for, those that it calls and does not have. */
  readonly calls: ReadonlySet<string>
}

const SHT_SYMTAB = 2
const SYMBOL_BYTES = 24
const SECTION_HEADER_BYTES = 64
/** A kernel module has some hundred sections with one per function, some ten thousand. */
const MOST_SECTIONS = 200_000
/** Far above any module's. */
const MOST_MODINFO_BYTES = 4 * 1024 * 1024
const MOST_SYMBOLS = 4_000_000

interface Section {
  readonly name: string
  readonly type: number
  readonly offset: number
  readonly lengthBytes: number
  readonly link: number
}

/**
 * Reads a 64-bit little-endian ELF file (System V ABI, chapter 4): .modinfo, and which of `names` are undefined
 * symbols. Nothing in it is trusted: what does not fit makes it unknown, with the reason.
 */
export function readElf(file: Buffer, names: readonly string[]): Known<ElfFacts> {
  try {
    const sections = readSections(file)
    const modinfo = sections.find(({ name }) => name === '.modinfo')
    if (modinfo === undefined) throw new Malformed('it has no section .modinfo: it is no kernel module')
    return { modinfo: entries(bytesOf(file, modinfo)), calls: undefinedSymbols(file, sections, names) }
  } catch (error) {
    if (error instanceof Malformed) return unknown(error.message)
    throw error
  }
}

function readSections(file: Buffer): Section[] {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46) throw new Malformed('it is no ELF file')
  if (file[4] !== 2 || file[5] !== 1) throw new Malformed('it is no 64-bit little-endian ELF file')
  const at = offset(file, 40)
  const each = file.readUInt16LE(58)
  if (each !== SECTION_HEADER_BYTES) throw new Malformed(`its section headers have ${each} bytes, not 64`)
  if (at === 0 || at + each > file.length) throw new Malformed('its section headers lie outside of it')
  // More sections than 16 bits count: the number is in the first header, which is of no section.
  const count = file.readUInt16LE(60) || offset(file, at + 32)
  const namesIn = file.readUInt16LE(62) === 0xffff ? file.readUInt32LE(at + 40) : file.readUInt16LE(62)
  if (count > MOST_SECTIONS || at + count * each > file.length)
    throw new Malformed(`it says that it has ${count} sections, which it cannot hold`)
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

/** Entries are name=value, each ended by a zero. */
function entries(bytes: Buffer): [string, string][] {
  if (bytes.length > MOST_MODINFO_BYTES) throw new Malformed(`its .modinfo has ${bytes.length} bytes`)
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((entry) => entry.includes('='))
    .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
}

function undefinedSymbols(file: Buffer, sections: readonly Section[], names: readonly string[]): Set<string> {
  const table = sections.find(({ type }) => type === SHT_SYMTAB)
  if (table === undefined) throw new Malformed('its symbols were stripped, so what it calls cannot be told')
  const strings = sections[table.link]
  if (strings === undefined) throw new Malformed('the names of its symbols are missing')
  const [symbols, texts] = [bytesOf(file, table), bytesOf(file, strings)]
  const count = Math.floor(symbols.length / SYMBOL_BYTES)
  if (count > MOST_SYMBOLS) throw new Malformed(`it says that it has ${count} symbols`)
  const wanted = names.map((name) => ({ name, bytes: Buffer.from(`${name}\0`, 'latin1') }))
  const found = new Set<string>()
  for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
    const nameAt = symbols.readUInt32LE(at)
    if (symbols.readUInt16LE(at + 6) !== 0 || nameAt === 0) continue // it is defined, or the first one, which has no name
    for (const { name, bytes } of wanted) {
      if (texts.subarray(nameAt, nameAt + bytes.length).equals(bytes)) found.add(name)
    }
  }
  return found
}

function bytesOf(file: Buffer, { offset: at, lengthBytes }: Pick<Section, 'offset' | 'lengthBytes'>): Buffer {
  if (at + lengthBytes > file.length) throw new Malformed('a section of it ends after the file does: it was cut off')
  return file.subarray(at, at + lengthBytes)
}

/** A 64-bit offset or size; what no file can have becomes larger than every file. */
function offset(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at))
}

function text(bytes: Buffer, at: number): string {
  const end = bytes.indexOf(0, at)
  if (at >= bytes.length || end === -1) throw new Malformed('a name in it has no end')
  return bytes.toString('latin1', at, end)
}

class Malformed extends Error {}
