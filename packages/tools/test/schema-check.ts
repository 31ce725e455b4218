import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The keywords of JSON Schema that build-schemas.mjs uses. */
export interface Schema {
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | true
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

const folder = join(import.meta.dirname, '../schemas')

/** All schemas by name: 'gpunvme.smart/1'. */
export const schemas: ReadonlyMap<string, Schema> = new Map(
  readdirSync(folder).map((file) => {
    const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Schema & { readonly $id: string }
    return [schema.$id, schema]
  }),
)

/** Returns why a result does not fit the schema that it names, with the places; also members that the schema does not have. */
export function problemsOf(result: object): string[] {
  const name = (result as { readonly schema?: string }).schema ?? ''
  const schema = schemas.get(name)
  return schema === undefined ? [`no schema ${name}`] : [...check(schema, result, '', schema)]
}

function* check(schema: Schema, value: unknown, where: string, root: Schema): Generator<string> {
  if (schema.$ref !== undefined) {
    yield* check(root.$defs![schema.$ref.replace('#/$defs/', '')]!, value, where, root)
    return
  }
  const problem = plainProblem(schema, value)
  if (problem !== undefined) {
    yield `${where || '/'}: ${problem}`
    return
  }
  if (schema.anyOf !== undefined) {
    const problems = schema.anyOf.map((each) => [...check(each, value, where, root)])
    // The best fit explains the failure.
    if (!problems.some((each) => each.length === 0)) yield* problems.sort((a, b) => a.length - b.length)[0]!
    return
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* check(schema.items ?? {}, item, `${where}/${index}`, root)
  } else if (typeof value === 'object' && value !== null) yield* checkMembers(schema, value, where, root)
}

function* checkMembers(schema: Schema, value: object, where: string, root: Schema): Generator<string> {
  const { properties = {}, required = [], additionalProperties } = schema
  for (const name of required) if (!Object.hasOwn(value, name)) yield `${where}/${name}: missing`
  for (const [name, member] of Object.entries(value)) {
    const others = additionalProperties === true ? {} : additionalProperties
    const own = Object.hasOwn(properties, name) ? properties[name] : others
    if (own !== undefined) yield* check(own, member, `${where}/${name}`, root)
    else if (schema.properties !== undefined) yield `${where}/${name}: not in the schema`
  }
}

function plainProblem(schema: Schema, value: unknown): string | undefined {
  const got = JSON.stringify(value).slice(0, 60)
  const types = schema.type === undefined ? undefined : [schema.type].flat()
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (types !== undefined && !types.includes(type)) return `expected ${types.join(' or ')}, got ${got}`
  if ('const' in schema && schema.const !== value) return `expected ${JSON.stringify(schema.const)}, got ${got}`
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return `expected one of ${JSON.stringify(schema.enum)}, got ${got}`
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value)))
    return `expected ${schema.pattern}, got ${got}`
  return undefined
}
