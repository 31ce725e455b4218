/**
 * Where a declaration comes from: a section that was read, or a header and a symbol of it, with its version. A
 * reference without a revision does not compile: section numbers move between revisions, and a number that cannot be
 * looked up is no evidence. Declarations of your own say `vendor`, and which document. `Base 2.2` and `Base 2.3` stand where the same figure of Base 2.1 could not be read.
 */
export type SpecRef =
  | `${'Base 2.1' | 'Base 2.2' | 'Base 2.3' | 'NVM 1.2' | 'PCIe 1.2' | 'ZNS 1.1'} §${string}`
  | `${'libnvme' | 'Linux'} ${number} ${string}`
  | `vfio-user ${string}`
  | `gpunvme ${string}`
  | `vendor ${string}`

/** What an error says of the place it speaks of: `CC.MPS`, and where the specification defines it. */
export interface Where {
  readonly name: string
  readonly spec: SpecRef
}

/** Refuses a value: TypeError for one of the wrong type, RangeError for one out of range, always with the reason. */
export function refuse(where: Where, doc: string, expected: string, got: unknown, type = 'number'): never {
  const Kind = typeof got === type && got !== null ? RangeError : TypeError
  throw new Kind(`${where.name} (${doc}): expected ${expected}, got ${shown(got)} (${where.spec})`)
}

/** A value as an error shows it: of what kind it is can be told, and nothing of it is run. */
export function shown(got: unknown): string {
  if (typeof got === 'string') return JSON.stringify(got.slice(0, 80))
  if (typeof got === 'bigint') return `${got}n`
  if (typeof got === 'object') return Object.prototype.toString.call(got)
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- what has a default text of no use is an object, above
  return String(got)
}
