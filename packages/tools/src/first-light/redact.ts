/** Values to remove from a report. */
export interface Secrets {
  /** Serial numbers and other identifiers of devices, in any context. */
  readonly identifiers: readonly string[]
  /** Names of hosts, users and models, as whole words only. */
  readonly names: readonly string[]
  /** Paths of files and directories as messages name them, relative ones too. */
  readonly paths: readonly string[]
}

/** Common words that are not redacted. */
const COMMON = new Set([
  ...['', '-', '.', '..', '/', 'root', 'localhost', 'user', 'unknown', 'none', 'nvme', 'linux', 'gpu', 'drive'],
])

/** Paths that name devices only. */
const DEVICE_PATH = [
  String.raw`\/dev\/nvme\d+(?:n\d+(?:p\d+)?)?(?![\w/-])`,
  String.raw`\/dev\/vfio\/\d+(?![\w/-])`,
  String.raw`\/sys\/bus\/pci\/(?!\S*\.\.)[\w:./-]+`,
  String.raw`\/proc\/driver\/nvidia\/(?!\S*\.\.)[^\s'"]*`,
].join('|')

/** Start of a path: absolute, of a file URL, or relative to `.`, `..` or a home. Not the slashes of a web address. */
const PATH_START = String.raw`(?<![\w.<>/~-])(?<!https?:)(?:file:\/\/|\.{1,2}(?=\/)|~[\w-]*(?=\/))?(?!${DEVICE_PATH})\/`

/** Patterns of unique identifiers, also of other machines, and of text that a user may have chosen. */
const PATTERNS: readonly (readonly [form: RegExp, replacement: string])[] = [
  [/\bnqn\.[\w.:-]+/gi, '<NQN>'],
  [/\b(?:GPU-|MIG-|uuid\.)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<UUID>'],
  [/\b(?:eui|nguid)\.[0-9a-f]{16,32}\b/gi, '<EUI>'],
  [/\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,15}\b/gi, '<EUI>'],
  [/(--serial[ =])\S+/g, '$1<ID>'],
  [/\b(serial number (?:was|is|is not)) [^\s,;]+/g, '$1 <ID>'],
  [/(<ID>, and is now) [^\s,;]+/g, '$1 <ID>'],
  // Quoted text: names of volumes, models and files. An apostrophe is part of a word.
  [new RegExp(String.raw`(?<!\w)'(?!(?:${DEVICE_PATH})')[^'\n]+(?:'(?=\w)[^'\n]*)*'(?!\w)`, 'g'), "'<TEXT>'"],
  [new RegExp(String.raw`"(?!(?:${DEVICE_PATH})")(?:\\.|[^"\\\n])+"`, 'g'), '"<TEXT>"'],
  // A path can contain any character: it ends with its line, or before the code of the system's error.
  [new RegExp(String.raw`${PATH_START}[^\n]*?(?= \(E[A-Z0-9]+\)$|$)`, 'gm'), '<PATH>'],
]

/** Fields whose values are not free text: words of this program, addresses and times. */
const FIXED = new Set([
  ...['schema', 'step', 'outcome', 'code', 'severity', 'comparedWith', 'address', 'startedAt', 'transport'],
])

/** Removes secrets from text, and from all text of a report. */
export class Redactor {
  private readonly identifiers = new Set<string>()
  private readonly names = new Set<string>()
  private readonly paths = new Set<string>()

  add({ identifiers = [], names = [], paths = [] }: Partial<Secrets>): void {
    for (const each of identifiers) for (const form of formsOf(each)) this.identifiers.add(form)
    for (const each of names) if (!isCommon(each)) this.names.add(each.trim())
    for (const each of paths) if (!isCommon(each)) this.paths.add(each)
  }

  /** Returns the text without secrets. */
  text(text: string): string {
    let clean = text
    // Longest first: a file before its directory.
    for (const each of longestFirst(this.paths)) {
      // With everything below a directory.
      const form = String.raw`(?<![\w./-])${escaped(each)}(?:\/[^'"\n]*|(?![\w-]))`
      clean = clean.replace(new RegExp(form, 'g'), '<PATH>')
    }
    for (const each of longestFirst(this.identifiers)) {
      clean = clean.replace(new RegExp(escaped(each), 'gi'), '<ID>')
    }
    for (const [form, replacement] of PATTERNS) clean = clean.replace(form, replacement)
    for (const each of longestFirst(this.names)) {
      clean = clean.replace(new RegExp(`(?<![A-Za-z0-9])${escaped(each)}(?![A-Za-z0-9])`, 'gi'), '<NAME>')
    }
    return clean
  }

  /** Returns a copy of a JSON value, all free text of which is without secrets. */
  values<T extends object>(value: T): T {
    const clean = (key: string, each: unknown) => (typeof each === 'string' && !FIXED.has(key) ? this.text(each) : each)
    return JSON.parse(JSON.stringify(value, clean)) as T
  }
}

/** Returns an identifier as it may be written: whole, and without the separators of its digits. */
function formsOf(identifier: string): string[] {
  const whole = identifier.trim()
  if (isCommon(whole) || whole.length < 4 || /^0*$/.test(whole.replace(/[-:. ]/g, ''))) return []
  const digits = whole.replace(/[-:]/g, '')
  return digits === whole || !/^[0-9a-f]{16,}$/i.test(digits) ? [whole] : [whole, digits]
}

function isCommon(word: string): boolean {
  return COMMON.has(word.trim().toLowerCase())
}

function longestFirst(words: ReadonlySet<string>): string[] {
  return [...words].sort((a, b) => b.length - a.length)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
