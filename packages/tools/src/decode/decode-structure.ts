import { IDENTIFY_BYTES, NamespaceIdDescriptor, namespaceIds, NIDT } from '@gpunvme/nvme-spec'
import { explain, formatExplained, type ExplainedLine } from '@gpunvme/nvme-spec/explain'
import type { AnyStruct } from '@gpunvme/nvme-spec/layout'
import { plural } from '../terminal/units.js'
import { UsageError } from '../command-line/tools-error.js'

/** Maximum bytes of unstructured data in text output. */
const REST_SHOWN_BYTES = 32

/** Decoded data: lines of text, and the object for JSON. */
export interface Found {
  /** The short form: nonzero fields, as NAME=value. */
  readonly lines: readonly string[]
  /** Returns lines that explain every field; absent if `lines` is already complete. */
  readonly explained?: () => readonly string[]
  readonly object: DecodedJson
}

/** Decoded data as JSON. Its members depend on what was decoded. */
export interface DecodedJson {
  /** Name in the specification. */
  readonly structure?: string
  /** Source: 'Base 2.1 §5.1.13.2.1'. */
  readonly spec?: string
  /** Values by the field's name in the specification. */
  readonly fields?: unknown
  /** Bytes after the structure, in hexadecimal. */
  readonly rest?: string
  /** Bytes without a known structure, in hexadecimal. */
  readonly data?: string
  /** Entries of a list: each in words, and its fields. */
  readonly entries?: readonly { readonly text: string; readonly [field: string]: unknown }[]
  /** Identifiers of a namespace. */
  readonly identifiers?: readonly { readonly type: number; readonly name: string | undefined; readonly id: string }[]
  /** Of a register: its name and meaning, the value in hexadecimal, and its fields in words. */
  readonly name?: string
  readonly doc?: string
  readonly value?: string
  readonly text?: string
}

/** One decoded entry of several. */
export interface FoundEntry {
  readonly text: string
  readonly entry: object
  /** Returns the title, source and lines of the entry; absent if `text` is already complete. */
  readonly explained?: () => { readonly title: string; readonly spec: string; readonly lines: readonly ExplainedLine[] }
}

/** Decodes consecutive entries. @throws UsageError for an incomplete entry. */
export function decodeEntries(
  { name, bytes, spec }: AnyStruct,
  data: DataView,
  read: (data: DataView, byteOffset: number) => FoundEntry,
): Found {
  const count = data.byteLength / bytes
  if (!Number.isInteger(count)) {
    throw new UsageError(`${name}: expected a multiple of ${bytes} bytes, got ${data.byteLength}`, { facts: [spec] })
  }
  const entries = Array.from({ length: count }, (_, i) => read(data, i * bytes))
  const number = (i: number) => (count === 1 ? '' : `${i}: `)
  return {
    lines: entries.map(({ text }, i) => number(i) + text),
    explained: () =>
      entries.flatMap(({ text, explained }, i) => {
        if (explained === undefined) return [number(i) + text]
        const { title, spec: source, lines } = explained()
        return [`${number(i)}${title} (${source})`, ...indented(formatExplained(lines))]
      }),
    object: { entries: entries.map(({ text, entry }) => ({ text, ...(plain(entry) as object) })) },
  }
}

/** Decodes one structure, and shows the bytes after it. @throws UsageError for an incomplete structure. */
export function decodeStructure(structure: AnyStruct, data: DataView): Found {
  const { name, spec } = structure
  const rest = restOf(structure, data)
  // The specification's name shows whether a page continues: its length is in a field, or ends with the page.
  const more = describeRest(rest, name.endsWith(' header') ? ' of entries or data' : '')
  return {
    lines: [`${name} (${spec}); zero fields omitted`, ...indented(structure.describe(data)), ...more],
    explained: () => [`${name} (${spec})`, ...indented(formatExplained(explain(structure, data))), ...more],
    object: {
      structure: name,
      spec,
      fields: plain(structure.decode(data)),
      ...(rest.length > 0 && { rest: hexOf(rest) }),
    },
  }
}

/**
 * Decodes the identifiers of a namespace, returned by CNS 03h.
 * @throws UsageError for an incomplete or damaged list.
 */
export function decodeNamespaceIds(data: DataView): Found {
  const { spec } = NamespaceIdDescriptor
  const name = `${NamespaceIdDescriptor.name} list`
  const rest = restOf({ name, bytes: IDENTIFY_BYTES, spec }, data)
  const identifiers = readNamespaceIds(data).map(({ type, id }) => ({ type, name: NIDT.nameOf(type), id: hexOf(id) }))
  return {
    lines: [
      `${name} (${spec})`,
      ...(identifiers.length === 0 ? ['  no identifier'] : identifiers.map((each) => `  ${each.name}=${each.id}`)),
      ...describeRest(rest),
    ],
    object: { structure: name, spec, identifiers, ...(rest.length > 0 && { rest: hexOf(rest) }) },
  }
}

function readNamespaceIds(data: DataView) {
  try {
    return [...namespaceIds(data)]
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

/** Returns the bytes after a structure. */
function restOf({ name, bytes, spec }: Pick<AnyStruct, 'name' | 'bytes' | 'spec'>, data: DataView): Uint8Array {
  if (data.byteLength < bytes) {
    throw new UsageError(`${name}: expected ${plural(bytes, 'byte')}, got ${data.byteLength}`, { facts: [spec] })
  }
  return new Uint8Array(data.buffer, data.byteOffset + bytes, data.byteLength - bytes)
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}

function describeRest(rest: Uint8Array, what = ''): string[] {
  if (rest.length === 0) return []
  const shown = rest.length > REST_SHOWN_BYTES ? ' (complete with --json)' : `: ${hexOf(rest)}`
  return [`  and ${plural(rest.length, 'byte')}${what} after it${shown}`]
}

/** Converts bytes to hexadecimal text and typed arrays to arrays, for JSON. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hexOf(value)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
