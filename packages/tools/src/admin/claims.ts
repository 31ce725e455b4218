/** A field of Identify Controller that says whether a drive has something: 'LPA.TS', 'SANICAP'. */
export interface Claim {
  readonly path: string
}

export function claim(path: string): Claim {
  return { path }
}

/** Whether the field is not zero. @param identity of Identify Controller, decoded. @throws RangeError for no field of it. */
export function isClaimed(identity: object, { path }: Claim): boolean {
  let value: unknown = identity
  for (const name of path.split('.')) value = (value as Readonly<Record<string, unknown>>)[name]
  if (value === undefined) throw new RangeError(`Identify Controller has no field ${path}`)
  // A word of rows is claimed where any of them is.
  if (typeof value === 'object' && value !== null) return Object.values(value).some((row) => row !== 0)
  return value !== 0
}
