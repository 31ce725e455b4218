/**
 * Source of a declaration: a specification section, or a header and a symbol in it, with its version. A reference
 * without a revision does not compile, since section numbers differ between revisions. Your own declarations use
 * `vendor` and the name of a document. `Base 2.2` and `Base 2.3` are used if the same figure of Base 2.1 could not be
 * read.
 */
export type SpecRef =
  | `${'Base 2.1' | 'Base 2.2' | 'Base 2.3' | 'NVM 1.2' | 'PCIe 1.2' | 'ZNS 1.1'} §${string}`
  | `${'libnvme' | 'Linux'} ${number} ${string}`
  | `vfio-user ${string}`
  | `gpunvme ${string}`
  | `vendor ${string}`

/** Subject of an error: `CC.MPS`, and where the specification defines it. */
export interface Where {
  readonly name: string
  readonly spec: SpecRef
}

/** Rejects a value: TypeError for the wrong type, RangeError for one out of range, always with the reason. */
export function refuse(where: Where, doc: string, expected: string, got: unknown, type = 'number'): never {
  const Kind = typeof got === type && got !== null ? RangeError : TypeError
  throw new Kind(`${where.name} (${doc}): expected ${expected}, got ${shown(got)} (${where.spec})`)
}

/** Formats a value for an error: shows its kind, and runs no code of the value. */
export function shown(got: unknown): string {
  if (typeof got === 'string') return JSON.stringify(got.slice(0, 80))
  if (typeof got === 'bigint') return `${got}n`
  if (typeof got === 'object') return Object.prototype.toString.call(got)
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- what has a default text of no use is an object, above
  return String(got)
}
