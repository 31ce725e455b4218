import {
  codes,
  struct,
  type Codes,
  type Encodable,
  type FieldMap,
  type NamedValues,
  type SpecRef,
  type Struct,
  type StructMethods,
} from '../layout/index.js'
import { isPlain } from '../layout/placed.js'

/** Sections of the TCP and RDMA Transport Specifications, which `SpecRef` does not list. */
type TransportRef = `${'TCP 1.0' | 'RDMA 1.0'} §${string}`

/** Facts of a declaration that a transport specification defines. */
export interface TransportFacts {
  readonly doc: string
  readonly spec: TransportRef
}

/** Declares a structure of a transport specification. @throws as `struct`. */
/*#__NO_SIDE_EFFECTS__*/
export function transportStruct<const F extends FieldMap>(
  name: string,
  { bytes, doc, spec }: TransportFacts & { readonly bytes: number },
  fields: F,
): Struct<F> {
  return struct(name, { bytes, doc, spec: sourceOf(spec) }, fields)
}

/** Declares a table of numbers of a transport specification. */
/*#__NO_SIDE_EFFECTS__*/
export function transportCodes<const V extends NamedValues>(
  name: string,
  { doc, spec }: TransportFacts,
  values: V,
): Codes<V> {
  return codes(name, { doc, spec: sourceOf(spec) }, values)
}

function sourceOf(spec: TransportRef): SpecRef {
  return spec as string as SpecRef
}

/**
 * Returns the same structure whose `encode` and `create` store these values where none are given: an opcode or a header
 * length has one right value.
 */
/*#__NO_SIDE_EFFECTS__*/
export function filledWith<F extends FieldMap>(layout: Struct<F>, defaults: Partial<Encodable<F>>): Struct<F> {
  type Given = Partial<Encodable<F>>
  // Values that are not an object are passed on, to be rejected there.
  const filled = (values: Given): Given => (isPlain(values) ? Object.assign({}, defaults, values) : values)
  const methods: Pick<StructMethods<F>, 'create' | 'encode'> = {
    create: (values = {}) => layout.create(filled(values)),
    encode: (data, byteOffset, values, options) => {
      layout.encode(data, byteOffset, filled(values), options)
    },
  }
  return Object.freeze({ ...layout, ...methods }) as Struct<F>
}
