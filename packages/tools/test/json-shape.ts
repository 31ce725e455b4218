/** What values of JSON have in common. */
export type Shape =
  | { readonly kind: 'plain'; readonly types: readonly string[] }
  | { readonly kind: 'list'; readonly of: Shape | undefined }
  /** An object whose keys are data: names of registers, of fields. */
  | { readonly kind: 'map'; readonly of: Shape | undefined }
  | {
      readonly kind: 'object'
      readonly fields: ReadonlyMap<string, { readonly shape: Shape; readonly always: boolean }>
    }

/** A key of these is a name that the wire format has, or that a drive or a machine was given. */
const NAME = /^[A-Z0-9][A-Z0-9_]*$|^[0-9a-f]{4}:|^\d+$|^\w+\./

export function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return { kind: 'list', of: value.map(shapeOf).reduce<Shape | undefined>(merge, undefined) }
  if (typeof value !== 'object' || value === null) {
    return { kind: 'plain', types: [value === null ? 'null' : typeof value] }
  }
  const entries = Object.entries(value).map(([key, each]) => [key, shapeOf(each)] as const)
  const isMap = entries.length > 0 && entries.every(([key]) => NAME.test(key))
  if (isMap) return { kind: 'map', of: entries.map(([, shape]) => shape).reduce<Shape | undefined>(merge, undefined) }
  return { kind: 'object', fields: new Map(entries.map(([key, shape]) => [key, { shape, always: true }])) }
}

/** What both have. */
export function merge(a: Shape | undefined, b: Shape): Shape {
  if (a === undefined) return b
  if (a.kind === 'plain' && b.kind === 'plain') return { kind: 'plain', types: [...new Set([...a.types, ...b.types])] }
  if (a.kind === 'list' && b.kind === 'list') return { kind: 'list', of: b.of === undefined ? a.of : merge(a.of, b.of) }
  if (a.kind === 'map' && b.kind === 'map') return { kind: 'map', of: b.of === undefined ? a.of : merge(a.of, b.of) }
  if (a.kind === 'object' && b.kind === 'object') return { kind: 'object', fields: mergeFields(a.fields, b.fields) }
  // An object without any key can be either.
  if (a.kind === 'object' && a.fields.size === 0) return b
  if (b.kind === 'object' && b.fields.size === 0) return a
  return { kind: 'plain', types: [...new Set([render(a), render(b)])] }
}

type Fields = Extract<Shape, { kind: 'object' }>['fields']

function mergeFields(a: Fields, b: Fields): Fields {
  return new Map(
    [...new Set([...a.keys(), ...b.keys()])].map((key) => {
      const [left, right] = [a.get(key), b.get(key)]
      const shape =
        left === undefined ? right!.shape : right === undefined ? left.shape : merge(left.shape, right.shape)
      return [key, { shape, always: (left?.always ?? false) && (right?.always ?? false) }]
    }),
  )
}

/** As TypeScript would write it. */
export function render(shape: Shape | undefined, indent = ''): string {
  if (shape === undefined) return 'unknown'
  if (shape.kind === 'plain') return shape.types.toSorted().join(' | ')
  if (shape.kind === 'map') return `{ [name]: ${render(shape.of, indent)} }`
  if (shape.kind === 'list') {
    const of = render(shape.of, indent)
    return of.includes(' | ') && !of.startsWith('{') ? `(${of})[]` : `${of}[]`
  }
  const inner = `${indent}  `
  const lines = [...shape.fields].map(
    ([key, { shape: field, always }]) => `${inner}${key}${always ? '' : '?'}: ${render(field, inner)}\n`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`
}
