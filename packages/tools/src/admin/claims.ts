/** A field of Identify Controller that reports support of something: 'LPA.TS', 'SANICAP'. */
export interface Claim {
  readonly path: string
}

export function claim(path: string): Claim {
  return { path }
}

/**
 * Returns whether the field is nonzero. @param identity decoded Identify Controller. @throws RangeError for an unknown
 * field.
 */
export function isClaimed(identity: object, { path }: Claim): boolean {
  let value: unknown = identity
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>>)[name]
  if (value === undefined) throw new RangeError(`Identify Controller has no field ${path}`)
  // A composite field is nonzero if any of its parts is.
  if (typeof value === 'object' && value !== null) return Object.values(value).some((row) => row !== 0)
  return value !== 0
}
