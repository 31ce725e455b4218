import type { Schema } from './schema-check.js'

/** Returns a schema as a TypeScript type, descriptions as comments. */
export function textOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/$defs/', '')
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => textOf(each, indent)).join(' | ')
  if (schema.type === 'array') return listOf(schema.items, indent)
  if (schema.type === 'object') return objectOf(schema, indent)
  return schema.type === undefined ? 'unknown' : [schema.type].flat().join(' | ')
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function listOf(items: Schema = {}, indent: string): string {
  const text = textOf(items, indent)
  const isUnion = items.anyOf !== undefined || items.enum !== undefined || Array.isArray(items.type)
  return isUnion ? `(${text})[]` : `${text}[]`
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).flatMap(([name, schema]) => [
    ...(schema.description === undefined ? [] : [`${inner}// ${schema.description}`]),
    `${inner}${name}${required.includes(name) ? '' : '?'}: ${textOf(schema, inner)}`,
  ])
  if (additionalProperties !== undefined)
    lines.push(`${inner}[name]: ${additionalProperties === true ? 'unknown' : textOf(additionalProperties, inner)}`)
  return lines.length === 0 ? 'object' : ['{', ...lines, `${indent}}`].join('\n')
}

/** Returns the text of a whole schema without its name, after the types that it refers to. */
export function pageOf(schema: Schema): string {
  const properties = Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => name !== 'schema'))
  const required = (schema.required ?? []).filter((name) => name !== 'schema')
  const named = Object.entries(schema.$defs ?? {}).map(([name, each]) => `// ${name}\n${textOf(each)}\n\n`)
  return `${named.join('')}${textOf({ ...schema, properties, required })}`
}
