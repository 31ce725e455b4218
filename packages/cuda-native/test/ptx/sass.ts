/**
 * Effect of a machine instruction on memory ordering. NVIDIA does not document the encoding: the values were found by
 * comparing kernels that differ in one instruction, and are valid for ptxas 13.0.
 */
export interface MachineInstruction {
  readonly does: 'store' | 'load' | 'atomic' | 'fence' | 'other'
  /** Order of an access (bits 77 to 80), or kind and scope of a fence (bits 76 to 79). */
  readonly order: number
}

/** The function of a section `.text.NAME`. */
export interface MachineKernel {
  readonly name: string
  readonly instructions: readonly MachineInstruction[]
}

// The lowest nine bits of STG and ST, LDG and LD, MEMBAR; ATOMG, ATOM, RED, and compare-and-swap of the first two.
// Higher bits encode the types of operands.
const operations: Readonly<Record<number, MachineInstruction['does']>> = {
  ...{ 0x186: 'store', 0x185: 'store', 0x181: 'load', 0x180: 'load', 0x192: 'fence' },
  ...{ 0x1a8: 'atomic', 0x18a: 'atomic', 0x18e: 'atomic', 0x1a9: 'atomic', 0x18b: 'atomic' },
}

/** MEMBAR.SC.SYS, to which fence.sc.sys and membar.sys are compiled. */
export const fenceScSys = 0x3

/** Returns the order of a .MMIO.SYS access by compute capability: 0xf for 7.5, 0xc for all later ones. */
export const mmioOrder = (computeCapability: number): number => (computeCapability === 75 ? 0xf : 0xc)

/** Decodes an instruction of two 64-bit words. */
export function decode(low: bigint, high: bigint): MachineInstruction {
  const does = operations[Number(low & 0x1ffn)] ?? 'other'
  return { does, order: Number((high >> (does === 'fence' ? 12n : 13n)) & 0xfn) }
}

/** Reads the kernels of a cubin, a 64-bit ELF file. */
export function machineKernels(cubin: Uint8Array): MachineKernel[] {
  const view = new DataView(cubin.buffer, cubin.byteOffset, cubin.byteLength)
  if (view.getUint32(0) !== 0x7f454c46 || view.getUint16(4) !== 0x0201)
    throw new Error('cubin: expected an ELF file, 64-bit little-endian')
  const address = (at: number) => Number(view.getBigUint64(at, true))
  const [table, entryBytes, count, names] = [
    address(0x28),
    ...[0x3a, 0x3c, 0x3e].map((at) => view.getUint16(at, true)),
  ] as [number, number, number, number]
  const section = (index: number) => {
    const at = table + index * entryBytes
    return { name: view.getUint32(at, true), offset: address(at + 0x18), bytes: address(at + 0x20) }
  }
  const text = Buffer.from(cubin.buffer, cubin.byteOffset, cubin.byteLength)
  const nameOf = (name: number) => {
    const start = section(names).offset + name
    return text.toString('latin1', start, text.indexOf(0, start))
  }
  const kernels: MachineKernel[] = []
  for (let index = 0; index < count; index++) {
    const { name, offset, bytes } = section(index)
    const found = /^\.text\.(.+)$/.exec(nameOf(name))
    if (found === null) continue
    if (bytes % 16 !== 0) throw new Error(`cubin: expected instructions of 16 bytes, got ${bytes} of ${found[1]!}`)
    const instructions = Array.from({ length: bytes / 16 }, (_, i) =>
      decode(view.getBigUint64(offset + i * 16, true), view.getBigUint64(offset + i * 16 + 8, true)),
    )
    kernels.push({ name: found[1]!, instructions })
  }
  return kernels
}

/** Numbers of instructions of a kernel that access doorbells. */
export interface Rings {
  readonly stores: number
  /** Number of MMIO loads and atomics, which kernels must not have. */
  readonly reads: number
  /** Number of doorbell stores after a system-scope fence, without a store in between. */
  readonly fenced: number
}

/** Counts accesses to doorbells, in program order. */
export function ringsOf({ instructions }: MachineKernel, computeCapability: number): Rings {
  const mmio = mmioOrder(computeCapability)
  let clean = false
  const rings = { stores: 0, reads: 0, fenced: 0 }
  for (const { does, order } of instructions) {
    if (does === 'fence') clean ||= order === fenceScSys
    else if (does === 'store' && order === mmio) {
      rings.stores++
      if (clean) rings.fenced++
    } else if (does === 'store' || does === 'atomic') clean = false
    if ((does === 'load' || does === 'atomic') && order === mmio) rings.reads++
  }
  return rings
}
