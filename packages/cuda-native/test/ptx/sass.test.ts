import { expect, test } from 'vitest'
import { decode, fenceScSys, machineKernels, mmioOrder, ringsOf } from './sass.js'

// Words that ptxas 13.0.88 wrote for kernels that differ in one instruction of PTX, by compute capability.
test.each<[ptx: string, capability: number, low: bigint, high: bigint, does: string, order: number]>([
  ['st.mmio.relaxed.sys.global.u32', 75, 0x00000000ff007986n, 0x000fe2000c11e904n, 'store', 0xf],
  ['st.mmio.relaxed.sys.global.u32', 80, 0x00000005ff007986n, 0x000fe2000c118904n, 'store', 0xc],
  ['st.mmio.relaxed.sys.global.u32', 90, 0x00000005ff007986n, 0x000fe20008118904n, 'store', 0xc],
  ['st.mmio.relaxed.sys.global.u32', 100, 0x00000005ff007986n, 0x001fe20008118904n, 'store', 0xc],
  ['st.mmio.relaxed.sys.global.u32', 120, 0x00000005ff007986n, 0x001fe20008118904n, 'store', 0xc],
  ['st.mmio.relaxed.sys.u32', 75, 0x00000002ff007985n, 0x000fe8000c11e906n, 'store', 0xf],
  ['st.mmio.relaxed.sys.u32', 120, 0x00000007ff007985n, 0x001fe80008118904n, 'store', 0xc],
  ['st.relaxed.sys.global.u32', 75, 0x00000000ff007986n, 0x000fe2000c116904n, 'store', 0xb],
  ['st.relaxed.sys.global.u32', 80, 0x0000000702007986n, 0x000fe2000c115904n, 'store', 0xa],
  ['st.volatile.global.u32', 75, 0x00000002ff007986n, 0x000fe8000c116904n, 'store', 0xb],
  ['st.volatile.global.u32', 90, 0x0000000902007986n, 0x002fe8000c115904n, 'store', 0xa],
  ['st.global.u32', 75, 0x00000400ff007986n, 0x0001e2000c10e904n, 'store', 7],
  ['st.global.u32', 120, 0x0000040502007986n, 0x001fe2000c101904n, 'store', 0],
  ['ld.mmio.relaxed.sys.global.u32', 75, 0x00000006ff007981n, 0x001ea8000c1fe900n, 'load', 0xf],
  ['ld.mmio.relaxed.sys.global.u32', 100, 0x00000004ff057981n, 0x001ea800081f8900n, 'load', 0xc],
  ['ld.mmio.relaxed.sys.u32', 75, 0x00000006ff007980n, 0x000ea8000c11e900n, 'load', 0xf],
  ['ld.mmio.relaxed.sys.u32', 90, 0x00000004ff057980n, 0x000ea80008118900n, 'load', 0xc],
  ['ld.acquire.sys.global.u32', 75, 0x00000004ff007981n, 0x000ea4000c1f6900n, 'load', 0xb],
  ['ld.acquire.sys.global.u32', 120, 0x0000000402077981n, 0x000ea4000c1f5900n, 'load', 0xa],
  ['fence.sc.sys', 75, 0x0000000000007992n, 0x000fea0000003000n, 'fence', 3],
  ['membar.sys', 120, 0x0000000000007992n, 0x000fec0000003000n, 'fence', 3],
  ['fence.sc.gpu', 75, 0x0000000000007992n, 0x000fea0000002000n, 'fence', 2],
  ['fence.acq_rel.sys', 90, 0x0000000000007992n, 0x000fec000000b000n, 'fence', 0xb],
  ['what follows a fence: ERRBAR', 90, 0x00000000000079abn, 0x000fc00000000000n, 'other', 0],
])('decodes %s of sm_%i', (_, capability, low, high, does, order) => {
  expect(decode(low, high)).toEqual({ does, order })
  const access = does === 'store' || does === 'load'
  if (access) expect(order === mmioOrder(capability)).toBe(_.includes('.mmio'))
  if (does === 'fence') expect(order === fenceScSys).toBe(/^(fence\.sc|membar)\.sys$/.test(_))
})

const store = [0x0000040502007986n, 0x001fe2000c101904n]
const fence = [0x0000000000007992n, 0x000fec0000003000n]
const weakFence = [0x0000000000007992n, 0x000fec000000b000n]
const ring = [0x00000005ff007986n, 0x001fe20008118904n]
const read = [0x00000004ff057981n, 0x001ea800081f8900n]
const other = [0x00000000000079abn, 0x000fc00000000000n]

test('finds the instructions of each kernel in an ELF file', () => {
  const kernels = machineKernels(elf({ '.text.one': [...store, ...fence], '.nv.info': other, '.text.two': ring }))
  expect(kernels.map(({ name, instructions }) => [name, instructions.map(({ does }) => does)])).toEqual([
    ['one', ['store', 'fence']],
    ['two', ['store']],
  ])
})

test('rejects a file that is not a cubin', () => {
  expect(() => machineKernels(new Uint8Array(64))).toThrow(/expected an ELF file/)
  expect(() => machineKernels(elf({ '.text.one': [1n] }))).toThrow(/16 bytes, got 8 of one/)
})

test.each([
  ['a ring after a fence', [...store, ...fence, ...other, ...ring], { stores: 1, reads: 0, fenced: 1 }],
  ['two rings after a fence', [...store, ...fence, ...ring, ...ring], { stores: 2, reads: 0, fenced: 2 }],
  ['a ring without a fence', [...store, ...ring], { stores: 1, reads: 0, fenced: 0 }],
  ['a ring after a weaker fence', [...store, ...weakFence, ...ring], { stores: 1, reads: 0, fenced: 0 }],
  ['a store between fence and ring', [...fence, ...store, ...ring], { stores: 1, reads: 0, fenced: 0 }],
  ['a ring before a fence', [...ring, ...fence], { stores: 1, reads: 0, fenced: 0 }],
  ['a read of a register', [...fence, ...ring, ...read], { stores: 1, reads: 1, fenced: 1 }],
])('counts %s', (_, words, rings) => {
  expect(ringsOf(machineKernels(elf({ '.text.k': words }))[0]!, 120)).toEqual(rings)
})

/** Creates an ELF file with these sections, and a section of their names. */
function elf(sections: Readonly<Record<string, readonly bigint[]>>): Uint8Array {
  const names = ['', ...Object.keys(sections), '.shstrtab']
  const nameTable = Buffer.from(names.map((name) => `${name}\0`).join(''))
  const contents = [
    Buffer.alloc(0),
    ...Object.values(sections).map((words) => Buffer.from(new BigUint64Array(words).buffer)),
    nameTable,
  ]
  const file = Buffer.alloc(64 + contents.reduce((sum, { length }) => sum + length, 0) + names.length * 64)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  let at = 64
  const offsets = contents.map((content) => {
    file.set(content, at)
    at += content.length
    return at - content.length
  })
  file.writeBigUInt64LE(BigInt(at), 0x28)
  file.writeUInt16LE(64, 0x3a)
  file.writeUInt16LE(names.length, 0x3c)
  file.writeUInt16LE(names.length - 1, 0x3e)
  names.forEach((name, index) => {
    const header = at + index * 64
    file.writeUInt32LE(nameTable.indexOf(`${name}\0`), header)
    file.writeBigUInt64LE(BigInt(offsets[index]!), header + 0x18)
    file.writeBigUInt64LE(BigInt(contents[index]!.length), header + 0x20)
  })
  return file
}
