/**
 * What an instruction of a cubin does to memory, as far as order goes. NVIDIA documents none of this: the numbers were
 * found by differences between kernels that differ in one instruction, and hold for what ptxas 13.0 writes.
 */
export interface MachineInstruction {
  readonly does: 'store' | 'load' | 'atomic' | 'fence' | 'other'
  /** Bits 77 to 80: how strong an access is. Of a fence, bits 76 to 79: its kind and scope. */
  readonly order: number
}

/** The function of a section `.text.NAME`. */
export interface MachineKernel {
  readonly name: string
  readonly instructions: readonly MachineInstruction[]
}

// STG and ST, LDG and LD, MEMBAR; ATOMG, ATOM, RED, and the first two's compare and swap: the lowest nine bits. The higher ones say what operands are.
const operations: Readonly<Record<number, MachineInstruction['does']>> = {
  ...{ 0x186: 'store', 0x185: 'store', 0x181: 'load', 0x180: 'load', 0x192: 'fence' },
  ...{ 0x1a8: 'atomic', 0x18a: 'atomic', 0x18e: 'atomic', 0x1a9: 'atomic', 0x18b: 'atomic' },
}

/** MEMBAR.SC.SYS, which fence.sc.sys and membar.sys become. */
export const fenceScSys = 0x3

/** An access .MMIO.SYS, by compute capability: 0xf on 7.5, 0xc on all that came after. */
export const mmioOrder = (computeCapability: number): number => (computeCapability === 75 ? 0xf : 0xc)

/** One instruction, of its two 64-bit words. */
export function decode(low: bigint, high: bigint): MachineInstruction {
  const does = operations[Number(low & 0x1ffn)] ?? 'other'
  return { does, order: Number((high >> (does === 'fence' ? 12n : 13n)) & 0xfn) }
}

/** The kernels of a cubin, which is an ELF file of 64 bits. */
export function machineKernels(cubin: Uint8Array): MachineKernel[] {
  const view = new DataView(cubin.buffer, cubin.byteOffset, cubin.byteLength)
  if (view.getUint32(0) !== 0x7f454c46 || view.getUint16(4) !== 0x0201)
    throw new Error('cubin: expected an ELF file of 64 bits, least significant byte first')
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

/** What of a kernel's instructions concerns doorbells. */
export interface Rings {
  readonly stores: number
  /** Loads and atomics with the order of a register: there may be none. */
  readonly reads: number
  /** Of the stores, those that follow a fence of the system with nothing stored between. */
  readonly fenced: number
}

/** Counts, in the order of the text. */
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
