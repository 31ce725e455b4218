/** A value that nvme-cli prints for a structure, with nvme-cli's names. */
export interface Claim {
  /** nvme-cli's key of the field. */
  readonly key: string
  /** Index and nvme-cli's key inside the element, if the field is an array of structures. */
  readonly element?: { readonly index: number; readonly part: string }
  /** Position and description of bits, if the line explains bits of the field. */
  readonly bits?: { readonly msb: number; readonly lsb: number; readonly text: string }
  /** Printed value: digits, hexadecimal digits or text. */
  readonly value: string
}

/** Parses the output of `-o json`. Integers remain text, since many exceed the safe integers of JavaScript. */
export function claimsOfJson(text: string): Claim[] {
  const quoted = text.replace(/^(\s*"\w+":)(-?\d+)(,?)$/gm, '$1"$2"$3')
  const root = JSON.parse(quoted) as Record<string, string | Record<string, string>[]>
  return Object.entries(root).flatMap(([key, value]): Claim[] => {
    // As in the output of -H: six hexadecimal digits.
    if (key === 'ieee') return [{ key, value: Number(value).toString(16).padStart(6, '0') }]
    if (typeof value === 'string') return [{ key, value }]
    return value.flatMap((element, index) =>
      Object.entries(element).flatMap(([part, inner]) =>
        part === 'flags' ? flagClaims(key, index, Number(inner)) : [{ key, element: { index, part }, value: inner }],
      ),
    )
  })
}

/** Returns the claims of the byte of a power state with two rows and six reserved bits. */
function flagClaims(key: string, index: number, flags: number): Claim[] {
  return [
    { key, element: { index, part: 'mxps' }, value: String(flags & 1) },
    { key, element: { index, part: 'nops' }, value: String((flags >> 1) & 1) },
  ]
}

/** Parses the output of `-H` of id-ctrl and id-ns: one line per field, followed by one line per bit range. */
export function claimsOfText(text: string): Claim[] {
  const claims: Claim[] = []
  let key = ''
  for (const line of text.split('\n').slice(1)) {
    const bits = /^\s*\[(\d+):(\d+)\]\s*: (.*)$/.exec(line)
    const format = /^LBA Format +(\d+) : Metadata Size: (\d+) +bytes - Data Size: (-?\d+) +bytes - (.*)$/.exec(line)
    const power = /^ps +(\d+) : mp:\d+\.(\d+)W (non-)?operational enlat:(-?\d+) exlat:(-?\d+) /.exec(line)
    const field = /^([a-z0-9]+)\s*: ?(.*)$/.exec(line)
    const isAboutElements = format ?? power
    if (bits) {
      const [msb, lsb, explained] = bits.slice(1) as [string, string, string]
      const [printed, ...words] = explained.split('\t') as [string, ...string[]]
      // Temperatures are printed in degrees Celsius, then in the unit of the field.
      const value = /\((\d+) Kelvin\)/.exec(printed)?.[1] ?? /^\w+/.exec(printed)![0]
      claims.push({ key, bits: { msb: Number(msb), lsb: Number(lsb), text: words.join(' ').trim() }, value })
    } else if (isAboutElements) {
      const index = Number(isAboutElements[1])
      claims.push(...(format ? formatClaims(format, index) : powerClaims(power!, index)))
    } else if (field) {
      key = field[1]!
      claims.push({ key, value: field[2]! })
    }
  }
  return claims
}

function formatClaims(line: RegExpExecArray, index: number): Claim[] {
  const [metadataBytes, dataBytes, rest] = line.slice(2) as [string, string, string]
  const performance = /^Relative Performance: (\w+) (\w+)/.exec(rest)!
  const parts = { ms: metadataBytes, bytes: dataBytes, rp: performance[1]!, quality: performance[2]! }
  const inUse = rest.endsWith('(in use)') ? [{ key: 'in use', value: String(index) }] : []
  return [
    ...Object.entries(parts).map(([part, value]) => ({ key: 'lbafs', element: { index, part }, value })),
    ...inUse,
  ]
}

/** Returns the claims of a power state. The number of decimals shows the scale of the maximum power. */
function powerClaims(line: RegExpExecArray, index: number): Claim[] {
  const [decimals, non] = line.slice(2) as [string, string | undefined]
  const parts = { mxps: decimals.length === 4 ? '1' : '0', nops: non ? '1' : '0' }
  return Object.entries(parts).map(([part, value]) => ({ key: 'psds', element: { index, part }, value }))
}

/** Parses the output of `-H` of smart-log: one line per value, and one per bit of the critical warning. */
export function claimsOfHealthText(text: string): Claim[] {
  const claims: Claim[] = []
  for (const line of text.trimEnd().split('\n').slice(1)) {
    const bit = /^ +(.+)\[(\d+)\]\s*: ([01])$/.exec(line)
    const field = /^(.+?)\s*: (.*)$/.exec(line)
    if (bit) {
      const at = Number(bit[2])
      claims.push({ key: claims.at(-1)!.key, bits: { msb: at, lsb: at, text: bit[1]! }, value: bit[3]! })
    } else if (field) {
      const [, key, printed] = field as unknown as [string, string, string]
      claims.push({ key, value: /\((\d+) Kelvin\)/.exec(printed)?.[1] ?? /^\w+/.exec(printed)![0] })
    }
  }
  return claims
}
