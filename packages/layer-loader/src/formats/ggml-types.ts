/** Packing of a ggml type: a row is a whole number of blocks. */
export interface GgmlType {
  readonly id: number
  readonly name: string
  /** Elements per block. */
  readonly blockElements: number
  /** Bytes per block. */
  readonly blockBytes: number
}

const type = (id: number, name: string, blockElements: number, blockBytes: number): GgmlType => ({
  id,
  name,
  blockElements,
  blockBytes,
})

/** Current tensor types, in the order of ids. */
export const GGML_TYPES: readonly GgmlType[] = [
  type(0, 'F32', 1, 4),
  type(1, 'F16', 1, 2),
  type(2, 'Q4_0', 32, 18),
  type(3, 'Q4_1', 32, 20),
  type(6, 'Q5_0', 32, 22),
  type(7, 'Q5_1', 32, 24),
  type(8, 'Q8_0', 32, 34),
  type(9, 'Q8_1', 32, 36),
  type(10, 'Q2_K', 256, 84),
  type(11, 'Q3_K', 256, 110),
  type(12, 'Q4_K', 256, 144),
  type(13, 'Q5_K', 256, 176),
  type(14, 'Q6_K', 256, 210),
  type(15, 'Q8_K', 256, 292),
  type(16, 'IQ2_XXS', 256, 66),
  type(17, 'IQ2_XS', 256, 74),
  type(18, 'IQ3_XXS', 256, 98),
  type(19, 'IQ1_S', 256, 50),
  type(20, 'IQ4_NL', 32, 18),
  type(21, 'IQ3_S', 256, 110),
  type(22, 'IQ2_S', 256, 82),
  type(23, 'IQ4_XS', 256, 136),
  type(24, 'I8', 1, 1),
  type(25, 'I16', 1, 2),
  type(26, 'I32', 1, 4),
  type(27, 'I64', 1, 8),
  type(28, 'F64', 1, 8),
  type(29, 'IQ1_M', 256, 56),
  type(30, 'BF16', 1, 2),
  type(34, 'TQ1_0', 256, 54),
  type(35, 'TQ2_0', 256, 66),
  type(39, 'MXFP4', 32, 17),
  type(40, 'NVFP4', 64, 36),
  type(41, 'Q1_0', 128, 18),
  type(42, 'Q2_0', 64, 18),
]

/** Ids that ggml has retired. Files may still contain them; their bytes are opaque here. */
const RETIRED_GGML_TYPES: ReadonlyMap<number, string> = new Map([
  [4, 'Q4_2'],
  [5, 'Q4_3'],
  [31, 'Q4_0_4_4'],
  [32, 'Q4_0_4_8'],
  [33, 'Q4_0_8_8'],
  [36, 'IQ4_NL_4_4'],
  [37, 'IQ4_NL_4_8'],
  [38, 'IQ4_NL_8_8'],
])

const byId = new Map(GGML_TYPES.map((entry) => [entry.id, entry]))
const byName = new Map(GGML_TYPES.map((entry) => [entry.name, entry]))

/** Returns the type with this id; undefined if it is retired or unknown. */
export function ggmlTypeById(id: number): GgmlType | undefined {
  return byId.get(id)
}

/** Returns the type with this name ('Q4_0'); undefined if it is retired or unknown. */
export function ggmlTypeByName(name: string): GgmlType | undefined {
  return byName.get(name)
}

/**
 * Returns whether a name is of an opaque type: retired, or known by number only, as are the types that forks of
 * llama.cpp add. Such a tensor takes all bytes up to the next one, possibly with padding.
 */
export function isOpaqueGgmlType(name: string): boolean {
  return /^type \d+$| \(retired\)$/.test(name)
}

/** Returns a name for any id: 'Q4_0', 'Q4_2 (retired)', 'type 77'. */
export function ggmlTypeName(id: number): string {
  const retired = RETIRED_GGML_TYPES.get(id)
  return byId.get(id)?.name ?? (retired === undefined ? `type ${id}` : `${retired} (retired)`)
}

/** Returns the id for a name of `ggmlTypeName`, opaque types included; undefined for any other name. */
export function ggmlTypeId(name: string): number | undefined {
  const current = byName.get(name)?.id
  if (current !== undefined || !isOpaqueGgmlType(name)) return current
  const [retired] = [...RETIRED_GGML_TYPES].find(([, retired]) => name === `${retired} (retired)`) ?? []
  const id = retired ?? Number(name.replace(/^type /, ''))
  // The field has 32 bits, and a current type has its own name.
  return id <= 0xffff_ffff && ggmlTypeName(id) === name ? id : undefined
}
