import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { FakeSysfs } from '../../../test/fake-sysfs.js'
import { refusal } from '../../../test/fake-hardware-host.js'
import {
  dwords,
  FakeTarget,
  isOpen,
  socketOf,
  strayDescriptor,
  type FakeTargetOptions,
} from '../../../test/fake-vfio-user.js'
import { openVfioUser, VfioUserLostError, type VfioUserOptions, type VfioUserTransport } from './index.js'

import { usualMemoryFolder } from './memory.js'

let sys: FakeSysfs
let target: FakeTarget

beforeEach(() => {
  sys = new FakeSysfs()
  target = new FakeTarget(sys)
})
afterEach(() => {
  // No test may leave memory mapped or files open.
  expect([...target.hardware.live].map(({ lengthBytes }) => lengthBytes)).toEqual([])
  expect(sys.openFiles()).toEqual([])
  sys[Symbol.dispose]()
})

function presented(options: FakeTargetOptions): FakeTarget {
  return (target = new FakeTarget(sys, options))
}

const open = (options: Partial<VfioUserOptions> = {}): Promise<VfioUserTransport> =>
  openVfioUser({ host: target, socket: socketOf(sys), memoryFolder: sys.root, ...options })

const hex = (index: number) => target.sent[index]!.bytes.toString('hex').replaceAll(/../g, '$& ').trim()
const commands = () => target.sent.map(({ command }) => command)

test('open requests version, device, regions and class, with the exact bytes of the specification', async () => {
  const transport = await open()
  expect(commands().slice(0, 5)).toEqual([1, 4, 5, 5, 9])
  expect(target.sent[0]!.bytes.toString('latin1')).toBe(
    '\x01\0\x01\0\x79\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0' +
      '{"capabilities":{"max_msg_fds":16,"max_data_xfer_size":1048576,"max_dma_maps":65535,"pgsizes":4096}}\0',
  )
  expect(hex(1)).toBe('02 00 04 00 20 00 00 00 00 00 00 00 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00')
  expect(hex(3).slice(48)).toBe(
    '00 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00',
  )
  expect(hex(4).slice(48)).toBe('08 00 00 00 00 00 00 00 07 00 00 00 04 00 00 00')
  expect(transport.name).toBe(`vfio-user ${socketOf(sys)}`)
  expect(transport.bar.lengthBytes).toBe(0x4000)
  expect(transport.departure).toBeUndefined()
  expect(target.config.readUInt16LE(4)).toBe(0x0406)
  await transport.close()
  await transport.close()
  expect(target.config.readUInt16LE(4)).toBe(0x0402)
})

test('register accesses are messages of their width; a 64-bit write is two dwords, low half first', async () => {
  target.bar.writeBigUInt64LE(0x20_0101_000f_03ffn, 0)
  const transport = await open()
  expect(transport.bar.read64(0)).toBe(0x20_0101_000f_03ffn)
  expect(transport.bar.read32(4)).toBe(0x20_0101)
  const before = target.sent.length
  transport.bar.write64(0x28, 0x1_0000_2000n)
  transport.bar.write32(0x1000, 1)
  expect(target.sent.slice(before).map(({ bytes }) => bytes.subarray(16).toString('hex'))).toEqual([
    '2800000000000000000000000400000000200000',
    '2c00000000000000000000000400000001000000',
    '0010000000000000000000000400000001000000',
  ])
  expect(target.bar.readBigUInt64LE(0x28)).toBe(0x1_0000_2000n)
  expect(transport.bar.window).toBeUndefined()
  await transport.close()
})

test('mappable doorbells are written by stores, other registers by messages', async () => {
  presented({ doorbells: true })
  const transport = await open()
  const page = target.hardware.mapped.find(({ lengthBytes }) => lengthBytes === 0x1000)!
  const before = target.sent.length
  transport.bar.write32(0x1008, 5)
  expect(page.stores).toEqual([{ offset: 8, value: 5 }])
  expect(target.sent.length).toBe(before)
  transport.bar.write32(0x2000, 6)
  expect(target.bar.readUInt32LE(0x2000)).toBe(6)
  await transport.close()
})

test('memory is an unlinked file of whole pages, which the target unmaps first', async () => {
  const transport = await open()
  const memory = transport.dma.alloc(3_000_000, { contiguous: true })
  const iova = memory.iovaAt(0)
  expect(iova % 2_097_152).toBe(0)
  expect(target.maps.get(iova)).toEqual({
    flags: 3,
    offset: 0n,
    lengthBytes: 4_194_304,
    file: { lengthBytes: 4_194_304, links: 0 },
  })
  target.answers.set(3, (payload) => {
    expect([...target.hardware.live].some(({ lengthBytes }) => lengthBytes === 4_194_304)).toBe(true)
    target.maps.delete(Number(payload.readBigUInt64LE(8)))
    return { data: payload }
  })
  memory.free()
  target.answers.delete(3)
  expect(target.maps.has(iova)).toBe(false)
  expect([...target.hardware.live].some(({ lengthBytes }) => lengthBytes === 4_194_304)).toBe(false)
  await transport.close()
  expect(target.maps.size).toBe(0)
})

test('much memory uses few DMA regions, since some targets accept only 16', async () => {
  const transport = await open()
  const regions = () => target.sent.filter(({ command }) => command === 2).length
  const pieces = Array.from({ length: 60 }, () => transport.dma.alloc(1_500_000))
  // 2, 2, 4, 8, 16, 32 and 64 MiB, where each piece takes 2 MiB at most.
  expect(regions()).toBeLessThanOrEqual(7)
  expect(new Set(pieces.map((piece) => piece.iovaAt(0))).size).toBe(60)
  for (const piece of pieces) piece.free()
  await transport.close()
})

test('addresses are not reused if the target fails to unmap them', async () => {
  const transport = await open()
  const memory = transport.dma.alloc(4_194_304)
  const iova = memory.iovaAt(0)
  target.answers.set(3, () => ({ error: 16 }))
  expect(() => {
    memory.free()
  }).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_VFIO_USER_REFUSED' }))
  target.answers.delete(3)
  target.maps.delete(iova)
  expect(transport.dma.alloc(4_194_304).iovaAt(0)).not.toBe(iova)
  await transport.close()
})

test('interrupts are registered within the descriptor limit of the target, fire, and are registered again after a reset', async () => {
  presented({ vectors: 3 })
  const transport = await open({ interrupts: 8 })
  expect(transport.interrupts!.vectors).toBe(3)
  const announced = () =>
    target.sent.filter(({ command }) => command === 8).map(({ descriptors }) => descriptors.length)
  expect(announced()).toEqual([2, 1])
  const waiting = transport.interrupts!.wait(1, transport.clock.now() + 60e9)
  target.hardware.signal(target.irqs.get(1)!)
  expect(await waiting).toBe('fired')
  await transport.reset!('function')
  expect(target.resets).toBe(1)
  expect(announced()).toEqual([2, 1, 2, 1])
  expect(target.config.readUInt16LE(4)).toBe(0x0406)
  await expect(transport.reset!('bus')).rejects.toThrow(TypeError)
  await transport.close()
  expect(target.irqs.size).toBe(0)
})

test.each([
  ['no', undefined, 0x0002],
  ['MSI-X', 3, 0x8002],
])(
  'with %s interrupts, configuration space has MSI-X set to match, and INTx disabled',
  async (_, interrupts, control) => {
    presented({ vectors: 3 })
    // An MSI-X capability after the others, left enabled and masked.
    target.config[0x61] = 0x70
    target.config[0x70] = 0x11
    target.config.writeUInt16LE(0xc002, 0x72)
    const said = () => [target.config.readUInt16LE(0x04) & 0x0400, target.config.readUInt16LE(0x72)]
    const transport = await open(interrupts === undefined ? {} : { interrupts })
    expect(said()).toEqual([0x0400, control])
    await transport.reset!('function')
    expect(said()).toEqual([0x0400, control])
    await transport.close()
  },
)

test('interrupts are absent if not requested or without MSI-X; reset is absent if the target has none', async () => {
  presented({ vectors: 0, canReset: false })
  const polled = await open()
  expect(polled.interrupts).toBeUndefined()
  expect(polled).not.toHaveProperty('reset')
  await polled.close()
  const without = await open({ interrupts: 4 })
  expect(without.interrupts).toBeUndefined()
  await without.close()
})

test('configuration space beyond the size of its region reads all ones without a request', async () => {
  const transport = await open()
  const before = target.sent.length
  expect(transport.config!.read(0, 2)).toBe(0x1b36)
  expect(transport.config!.read(0xe, 1)).toBe(0)
  expect(transport.config!.read(0x100, 4)).toBe(0xffff_ffff)
  transport.config!.write(0x100, 4, 0)
  expect(target.sent.length).toBe(before + 2)
  await transport.close()
})

describe('errors of open:', () => {
  test.each([
    ['ENOENT', 'not-found', 'gpunvme sim serve'],
    ['ECONNREFUSED', 'not-found', 'has ended'],
    ['EACCES', 'privilege', 'give your user write access to the socket'],
    ['EAGAIN', 'device', 'one at a time'],
    ['ENOENT', 'not-found', 'no such file or directory (ENOENT)'],
    ['EACCES', 'privilege', 'permission denied (EACCES)'],
    ['ENOTSOCK', 'device', 'vfio-user target'],
  ])('%s from connect has its own next step', async (code, category, advice) => {
    target.connect = () => {
      throw refusal(code, 'connect')
    }
    const opening = () => open({ socket: `${sys.root}/none.sock` })
    await expect(opening()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_CONNECT' })
    await expect(opening()).rejects.toMatchObject({ category, cause: { code } })
    await expect(opening()).rejects.toThrow(advice)
  })

  test('ECONNREFUSED is explained, and a regular file is reported as not a socket', async () => {
    const socket = `${sys.root}/plain`
    target.connect = () => {
      throw refusal('ECONNREFUSED', 'connect')
    }
    await expect(open({ socket })).rejects.toThrow(`${socket}: no process is listening (ECONNREFUSED)`)
    writeFileSync(socket, '')
    await expect(open({ socket })).rejects.toMatchObject({ category: 'usage' })
    await expect(open({ socket })).rejects.toThrow(`Cannot connect to ${socket}: not a socket (ECONNREFUSED)`)
  })

  test.each<[string, FakeTargetOptions, RegExp]>([
    ['another major version', { version: [1, 0] }, /uses vfio-user 1\.0, this client 0\.1/],
    ['a later minor version than was offered', { version: [0, 2] }, /uses vfio-user 0\.2/],
  ])('%s', async (_, options, message) => {
    presented(options)
    await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_VERSION' })
    await expect(open()).rejects.toThrow(message)
  })

  test.each<[string, (target: FakeTarget) => void, RegExp]>([
    ['no PCI function', (it) => it.answers.set(4, () => ({ data: dwords(16, 1, 9, 5) })), /not a PCI function/],
    ['no configuration space', (it) => it.answers.set(4, () => ({ data: dwords(16, 3, 7, 5) })), /has 7 regions/],
    ['another class of device', (it) => it.config.writeUInt32LE(0x0200_0000, 8), /class code is 020000h/],
  ])('%s', async (_, change, message) => {
    change(target)
    await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_FUNCTION' })
    await expect(open()).rejects.toThrow(message)
  })

  test('no registers in BAR0', async () => {
    presented({ barBytes: 0 })
    await expect(open()).rejects.toThrow(/its BAR0 has 0 bytes/)
  })

  test('a target that accepts no descriptors', async () => {
    presented({ capabilities: '{"capabilities":{"max_msg_fds":0}}\0' })
    await expect(open()).rejects.toThrow(/accepts no descriptors/)
  })

  test('a target whose smallest page is larger than 2 MiB', async () => {
    presented({ capabilities: '{"capabilities":{"max_msg_fds":1,"pgsizes":1073741824}}\0' })
    await expect(open()).rejects.toThrow(/smallest page is 1073741824 bytes, expected at most 2097152/)
    presented({ capabilities: '{"capabilities":{"max_msg_fds":1,"pgsizes":2101248}}\0' })
    await (await open()).close()
  })

  test('an unusable memory folder, and memory that the target rejects', async () => {
    await expect(open({ memoryFolder: `${sys.root}/nowhere` })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_VFIO_USER_MEMORY',
    })
    target.answers.set(2, () => ({ error: 12 }))
    await expect(open()).rejects.toThrow(/refused DMA_MAP: ENOMEM/)
    target.answers.set(2, () => ({ error: 0 }))
    await expect(open()).rejects.toThrow(/refused [A-Z_]+: unknown\n/)
  })

  test('a target that does not answer VERSION may be serving another client', async () => {
    target.answers.set(1, () => undefined)
    await expect(open()).rejects.toThrow(
      /no complete answer for 10000 ms during VERSION: it may be serving another client[^]*end the other client/,
    )
  })

  test('invalid options', async () => {
    await expect(open({ interrupts: -1 })).rejects.toThrow(RangeError)
    await expect(open({ answerTimeoutNs: Infinity })).rejects.toThrow(RangeError)
    await expect(openVfioUser({ host: target } as never)).rejects.toThrow(/socket: expected a string, got undefined/)
    await expect(open({ path: '/x' } as never)).rejects.toThrow(/unknown 'path'/)
  })
})

describe('invalid replies:', () => {
  test.each<[string, (target: FakeTarget) => void, RegExp]>([
    ['too long', (it) => it.answers.set(4, () => ({ data: new Uint8Array(17) })), /32 to 32 bytes, got one of 33/],
    ['too short', (it) => it.answers.set(5, () => ({ data: new Uint8Array(31) })), /48 to 4112 bytes, got one of 47/],
    ['invalid JSON', (it) => it.answers.set(1, () => ({ data: Buffer.from('\0\0\0\0{]\0') })), /expected JSON/],
    [
      'longer than the maximum',
      (it) => it.answers.set(1, () => ({ data: new Uint8Array(4097) })),
      /20 to 4112 bytes, got/,
    ],
    [
      'areas beyond the region',
      (it) => it.answers.set(5, () => ({ data: regionInfo(0x4000n, [0x4000n, 0x1000n]) })),
      /whole pages inside it/,
    ],
    [
      'areas that are not whole pages',
      (it) => it.answers.set(5, () => ({ data: regionInfo(0x4000n, [0x1000n, 0x10n]) })),
      /whole pages inside it/,
    ],
    [
      'areas beyond the end of its file',
      (it) =>
        it.answers.set(5, () => ({
          data: regionInfo(0x4000n, [0x1000n, 0x1000n]),
          descriptors: [strayDescriptor(sys)],
        })),
      /4096 mappable bytes at offset 4096: .* the 0 bytes of the file/,
    ],
    [
      'more areas than the reply holds',
      (it) => it.answers.set(5, () => ({ data: regionInfo(0x4000n, [0x1000n, 0x1000n], 0xffff_ffff) })),
      /expected at most 1 pairs, got 4294967295/,
    ],
  ])('%s', async (_, change, message) => {
    change(target)
    await expect(open()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_PROTOCOL' })
    await expect(open()).rejects.toThrow(message)
  })

  test.each<[string, (target: FakeTarget) => void, RegExp]>([
    [
      'of another command',
      (it) => it.reply(2, 5, { data: dwords(16, 3, 9, 5) }),
      /expected the answer to command 4, number 2/,
    ],
    ['of another number', (it) => it.reply(9, 4, { data: dwords(16, 3, 9, 5) }), /got one to command 4, number 9/],
    ['of an invalid type', (it) => it.say({ id: 2, command: 4, flags: 2 }), /message of type 2/],
    ['shorter than a header', (it) => it.say({ id: 2, command: 4, flags: 1, size: 8 }), /got one of 8/],
    ['a request that is too long', (it) => it.say({ command: 12, size: 0x20_0000 }), /got one of 2097152/],
  ])('%s', async (_, say, message) => {
    target.answers.set(4, () => {
      say(target)
      return undefined
    })
    const error = await open().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_PROTOCOL' })
    expect((error as Error).message).toMatch(message)
  })

  test('unexpected descriptors are closed', async () => {
    const stray = strayDescriptor(sys)
    target.answers.set(4, () => ({ data: dwords(16, 3, 9, 5), descriptors: [stray] }))
    await expect(open()).rejects.toThrow(/expected no descriptors, got 1/)
    expect(isOpen(stray)).toBe(false)
  })

  test('too many descriptors end the connection', async () => {
    target.answers.set(5, () => ({ data: regionInfo(0x4000n, [0x1000n, 0x1000n]), descriptors: new Array(17).fill(0) }))
    await expect(open()).rejects.toThrow(/at most 16 descriptors/)
  })

  test('a reply for another register ends the connection', async () => {
    const transport = await open()
    target.answers.set(9, (payload) => {
      const other = Buffer.concat([payload, Buffer.alloc(4)])
      other.writeUInt32LE(0x14, 0)
      return { data: other }
    })
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(transport.departure!.message).toMatch(/expected the answer to .*OFFSET=28.*, got one to .*OFFSET=20/)
    await transport.close()
  })
})

/** struct vfio_region_info with one area that can be mapped. */
function regionInfo(size: bigint, [start, length]: readonly [bigint, bigint], areas = 1): Buffer {
  const data = Buffer.alloc(64)
  for (const [at, value] of Object.entries({ 0: 64, 4: 15, 12: 32, 40: areas })) data.writeUInt32LE(value, Number(at))
  data.set([1, 0, 1, 0], 32)
  data.writeBigUInt64LE(size, 16)
  data.writeBigUInt64LE(start, 48)
  data.writeBigUInt64LE(length, 56)
  return data
}

/** Returns the byte positions to test: the first 400, then every 29th of the many configuration space reads. */
const places = (bytes: number) => Array.from({ length: bytes }, (_, at) => at).filter((at) => at < 400 || at % 29 === 0)

describe('a lost target', () => {
  test.each(['silence', 'closing'] as const)(
    '%s at any byte during open is a VfioUserLostError, and nothing stays open',
    async (by) => {
      const whole = await open()
      const { givenBytes } = target
      await whole.close()
      expect(givenBytes).toBeGreaterThan(500)
      for (const after of places(givenBytes)) {
        presented({})
        target.cut = { after, by }
        // Only silence has to time out; in the other case, a busy machine must not look silent.
        const answerTimeoutNs = by === 'silence' ? 50e6 : 60e9
        const limits = { answerTimeoutNs, memoryFolder: usualMemoryFolder() }
        const error = await open(limits).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(VfioUserLostError)
        expect(error).toMatchObject({ reason: by === 'silence' ? 'silent' : 'closed', category: 'device' })
        expect(Math.max(...target.waits)).toBeLessThanOrEqual(answerTimeoutNs)
        expect([...target.hardware.live]).toEqual([])
        expect(sys.openFiles()).toEqual([])
      }
    },
  )

  test('a corrupt byte during open is tolerated or a GpuNvmeError, and nothing stays open', async () => {
    const whole = await open()
    const { givenBytes } = target
    await whole.close()
    const names = new Set<string>()
    for (const at of places(givenBytes)) {
      presented({})
      target.flip = { at, xor: [0xff, 0x01, 0x80][at % 3]! }
      const found = await open({ answerTimeoutNs: 50e6, memoryFolder: usualMemoryFolder() }).catch(
        (reason: unknown) => reason,
      )
      if (found instanceof GpuNvmeError) names.add(found.code)
      else if (found instanceof Error) throw found
      else await (found as VfioUserTransport).close()
      expect([...target.hardware.live]).toEqual([])
      expect(sys.openFiles()).toEqual([])
    }
    expect(names).toContain('ERR_GPUNVME_VFIO_USER_PROTOCOL')
    expect(names).toContain('ERR_GPUNVME_VFIO_USER_FUNCTION')
  })

  test('reads all ones without requests, releases its memory, and has a reason', async () => {
    const transport = await open({ interrupts: 1 })
    const memory = transport.dma.alloc(4_194_304)
    target.bar.writeUInt32LE(1, 0x1c)
    expect(transport.bar.read32(0x1c)).toBe(1)
    target.close()
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(transport.departure).toBeInstanceOf(VfioUserLostError)
    expect(transport.departure!.message).toMatch(/closed the connection during REGION_READ/)
    const { length } = target.waits
    expect(transport.bar.read64(0)).toBe(0xffff_ffff_ffff_ffffn)
    transport.bar.write32(0x1000, 1)
    expect(transport.config!.read(0, 2)).toBe(0xffff)
    transport.config!.write(4, 2, 0)
    expect(target.waits.length).toBe(length)
    expect(() => transport.dma.alloc(8_388_608)).toThrow(VfioUserLostError)
    memory.free()
    await expect(transport.reset!('function')).rejects.toThrow(VfioUserLostError)
    await transport.close()
  })

  test('is detected by its closed connection while no request is pending', async () => {
    const transport = await open()
    target.close()
    const until = transport.clock.now() + 10e9
    while (transport.departure === undefined && transport.clock.now() < until) await transport.clock.idle(until)
    expect(transport.departure).toMatchObject({ reason: 'closed' })
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    await transport.close()
  })

  test('that no longer receives counts as silent', async () => {
    const transport = await open()
    target.send = () => {
      throw refusal('ETIMEDOUT', 'sendmsg')
    }
    transport.bar.write32(0x1000, 1)
    expect(transport.departure).toMatchObject({ reason: 'silent' })
    await transport.close()
  })

  test('is one that rejects a register access', async () => {
    const transport = await open()
    target.answers.set(10, () => ({ error: 22 }))
    transport.bar.write32(0x14, 1)
    expect(transport.departure).toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_PROTOCOL' })
    expect(transport.departure!.cause).toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_REFUSED' })
    await transport.close()
  })
})

describe('a request from the target', () => {
  const request = (it: FakeTarget, flags = 0) => {
    it.say({ id: 7, command: 11, flags }, Buffer.from('00100000000000000010000000000000', 'hex'))
  }

  test('is rejected before its pending reply arrives', async () => {
    const transport = await open()
    target.answers.set(9, (payload) => {
      request(target)
      return { data: Buffer.concat([payload, Buffer.from([1, 2, 3, 4])]) }
    })
    expect(transport.bar.read32(0)).toBe(0x0403_0201)
    expect(target.sent.at(-1)!.bytes.toString('hex')).toBe('07000b0010000000210000005f000000')
    target.answers.delete(9)
    await transport.close()
  })

  test('is rejected while the client is idle, and gets no reply if it wants none', async () => {
    const transport = await open()
    const before = target.sent.length
    request(target, 0x10)
    request(target)
    const until = transport.clock.now() + 10e9
    while (target.sent.length === before && transport.clock.now() < until) await transport.clock.idle(until)
    expect(target.sent.slice(before).map(({ bytes }) => bytes.toString('hex'))).toEqual([
      '07000b0010000000210000005f000000',
    ])
    expect(transport.departure).toBeUndefined()
    await transport.close()
  })

  test('is not a stray reply, which ends the connection', async () => {
    const transport = await open()
    target.reply(77, 9, {})
    const until = transport.clock.now() + 10e9
    while (transport.departure === undefined && transport.clock.now() < until) await transport.clock.idle(until)
    expect(transport.departure!.message).toMatch(/a reply without a request/)
    await transport.close()
  })
})
