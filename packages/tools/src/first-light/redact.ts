/** Values to remove from free text. */
export interface Secrets {
  /** Serial numbers and other identifiers of devices, in any context. */
  readonly identifiers: readonly string[]
  /** Host and user names, as whole words only. */
  readonly names: readonly string[]
  /** Paths of directories, with everything below them. */
  readonly folders: readonly string[]
}

/** Words that are not worth hiding, and that messages use in other senses. */
const COMMON = new Set(['', '-', 'root', 'localhost', 'user', 'unknown', 'none', 'nvme', 'linux', 'gpu', 'drive'])

/** Forms of unique identifiers, also those that were not read from this machine. */
const PATTERNS: readonly (readonly [form: RegExp, replacement: string])[] = [
  [/\bnqn\.[\w.:-]+/gi, '<NQN>'],
  [/\b(?:GPU-|MIG-|uuid\.)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<UUID>'],
  [/\b(?:eui|nguid)\.[0-9a-f]{16,32}\b/gi, '<EUI>'],
  [/\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,15}\b/gi, '<EUI>'],
  // Paths outside of the system's own directories: homes, mount points, data.
  [/(?<![\w.:/<>])\/(?!(?:dev|sys|proc|etc|boot|lib|usr|run)\b)[^\s:;,'")]+/g, '<PATH>'],
]

/** Removes secrets from free text: the messages of errors, and reasons. */
export class Redactor {
  private readonly identifiers = new Set<string>()
  private readonly names = new Set<string>()
  private readonly folders = new Set<string>()

  add({ identifiers = [], names = [], folders = [] }: Partial<Secrets>): void {
    for (const each of identifiers) for (const form of formsOf(each)) this.identifiers.add(form)
    for (const each of names) if (!isCommon(each)) this.names.add(each.trim())
    for (const each of folders) if (/^\/[^/]/.test(each)) this.folders.add(each.replace(/\/+$/, ''))
  }

  /** Returns the text without secrets. */
  text(text: string): string {
    let clean = text
    // Longest first: a folder may begin with another one.
    for (const each of longestFirst(this.folders)) clean = clean.replaceAll(each, '<DIR>')
    for (const each of longestFirst(this.identifiers)) {
      clean = clean.replace(new RegExp(escaped(each), 'gi'), '<ID>')
    }
    for (const [form, replacement] of PATTERNS) clean = clean.replace(form, replacement)
    for (const each of longestFirst(this.names)) {
      clean = clean.replace(new RegExp(`(?<![A-Za-z0-9])${escaped(each)}(?![A-Za-z0-9])`, 'gi'), '<NAME>')
    }
    return clean
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
