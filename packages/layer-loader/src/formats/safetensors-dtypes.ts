/** A known dtype. */
export interface SafetensorsDtype {
  readonly name: string
  /** Bits per element. Elements shorter than a byte are packed without gaps. */
  readonly bits: number
}

const DTYPES: readonly (readonly [name: string, bits: number])[] = [
  ['F4', 4],
  ['F6_E2M3', 6],
  ['F6_E3M2', 6],
  ['BOOL', 8],
  ['U8', 8],
  ['I8', 8],
  ['F8_E4M3', 8],
  ['F8_E4M3FNUZ', 8],
  ['F8_E5M2', 8],
  ['F8_E5M2FNUZ', 8],
  ['F8_E8M0', 8],
  ['U16', 16],
  ['I16', 16],
  ['F16', 16],
  ['BF16', 16],
  ['U32', 32],
  ['I32', 32],
  ['F32', 32],
  ['U64', 64],
  ['I64', 64],
  ['F64', 64],
  ['C64', 64],
]

const byName: ReadonlyMap<string, SafetensorsDtype> = new Map(DTYPES.map(([name, bits]) => [name, { name, bits }]))

/** Returns the dtype with this name ('BF16'); undefined if it is unknown. */
export function safetensorsDtype(name: string): SafetensorsDtype | undefined {
  return byName.get(name)
}
