/** Shape of JSON values: all kinds that occur, each merged over its values. */
export interface Shape {
  /** 'string', 'number', 'boolean', 'null'. */
  readonly plain: readonly string[]
  readonly list?: { readonly of: Shape | undefined }
  /** Objects whose keys are data, such as names of registers or fields. */
  readonly map?: { readonly of: Shape | undefined }
  readonly object?: Fields
}

type Fields = ReadonlyMap<string, { readonly shape: Shape; readonly always: boolean }>

/** Keys of maps: names of the wire format, of drives or of machines. */
const NAME = /^[A-Z0-9][A-Z0-9_]*$|^[0-9a-f]{4}:|^\d+$|^\w+\./

export function shapeOf(value: unknown): Shape {
  if (Array.isArray(value)) return { plain: [], list: { of: shapeOfAll(value) } }
  if (value === null) return { plain: ['null'] }
  if (typeof value !== 'object') return { plain: [typeof value] }
  const keys = Object.keys(value)
  if (keys.length > 0 && keys.every((key) => NAME.test(key)))
    return { plain: [], map: { of: shapeOfAll(Object.values(value)) } }
  const fields = Object.entries(value).map(([key, each]) => [key, { shape: shapeOf(each), always: true }] as const)
  return { plain: [], object: new Map(fields) }
}

function shapeOfAll(values: readonly unknown[]): Shape | undefined {
  return values.map(shapeOf).reduce<Shape | undefined>(merge, undefined)
}

export function merge(a: Shape | undefined, b: Shape): Shape {
  if (a === undefined) return b
  const list = either(a.list, b.list, mergeParts)
  const map = either(a.map, b.map, mergeParts)
  const object = either(a.object, b.object, mergeFields)
  return {
    plain: [...new Set([...a.plain, ...b.plain])],
    ...(list !== undefined && { list }),
    ...(map !== undefined && { map }),
    // If maps occur too, an object without keys is an empty map.
    ...(object !== undefined && !(map !== undefined && object.size === 0) && { object }),
  }
}

function either<T>(a: T | undefined, b: T | undefined, both: (a: T, b: T) => T): T | undefined {
  return a === undefined || b === undefined ? (a ?? b) : both(a, b)
}

interface Parts {
  readonly of: Shape | undefined
}

function mergeParts(a: Parts, b: Parts): Parts {
  return { of: either(a.of, b.of, merge) }
}

function mergeFields(a: Fields, b: Fields): Fields {
  return new Map(
    [...new Set([...a.keys(), ...b.keys()])].map((key) => {
      const [left, right] = [a.get(key), b.get(key)]
      const always = left?.always === true && right?.always === true
      return [key, { shape: either(left?.shape, right?.shape, merge)!, always }]
    }),
  )
}

/** Renders a shape as a TypeScript type. */
export function render(shape: Shape | undefined, indent = ''): string {
  if (shape === undefined) return 'unknown'
  const kinds = [
    ...shape.plain.toSorted(),
    ...(shape.map ? [`{ [name]: ${render(shape.map.of, indent)} }`] : []),
    ...(shape.object ? [renderFields(shape.object, indent)] : []),
    ...(shape.list ? [renderList(shape.list.of, indent)] : []),
  ]
  return kinds.join(' | ')
}

function renderList(of: Shape | undefined, indent: string): string {
  const isUnion = of !== undefined && kindsOf(of) > 1
  return isUnion ? `(${render(of, indent)})[]` : `${render(of, indent)}[]`
}

function kindsOf({ plain, list, map, object }: Shape): number {
  return plain.length + [list, map, object].filter((kind) => kind !== undefined).length
}

function renderFields(fields: Fields, indent: string): string {
  if (fields.size === 0) return '{}'
  const inner = `${indent}  `
  const lines = [...fields].map(
    ([key, { shape, always }]) => `${inner}${key}${always ? '' : '?'}: ${render(shape, inner)}\n`,
  )
  return `{\n${lines.join('')}${indent}}`
}
