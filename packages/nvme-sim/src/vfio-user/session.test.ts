import { describe, expect, it } from 'vitest'
import {
  BAR0,
  CONFIG,
  DirectClient,
  EEXIST,
  EINVAL,
  ENOENT,
  ENOTSUP,
  DMA_MAP,
  DMA_UNMAP,
  GET_INFO,
  GET_REGION_INFO,
  REGION_READ,
  REGION_WRITE,
  RESET,
  VERSION,
  words,
  WRITE_MULTI,
} from '../../test/vfio-user/direct-client.js'
import { another, isOpen, unnamedFile } from '../../test/vfio-user/fake-host.js'
import { textsOf } from '../../test/diagnostics.js'

const PAGE = 4096
const NO_REPLY = 16

const text = (minor: number, json: string, major = 0) =>
  Buffer.concat([words([16, major], [16, minor]), Buffer.from(json)])

describe('VERSION', () => {
  it('is answered with the version that both speak, and what the server can do', () => {
    const client = new DirectClient()
    const { errno, data } = client.ask(VERSION, text(0, '{"capabilities":{"max_msg_fds":8}}\0'))
    expect(errno).toBe(0)
    expect([data.getUint16(0, true), data.getUint16(2, true)]).toEqual([0, 0])
    const json = Buffer.from(data.buffer, data.byteOffset + 4).toString()
    expect(json.at(-1)).toBe('\0')
    expect(JSON.parse(json.slice(0, -1))).toEqual({
      capabilities: {
        ...{ max_msg_fds: 16, max_data_xfer_size: 1_048_576, max_dma_maps: 65_535, pgsizes: 4096 },
        write_multiple: true,
      },
    })
  })

  it('of a later minor version is answered with 0.1', () => {
    const { data } = new DirectClient().ask(VERSION, words([16, 0], [16, 7]))
    expect(data.getUint16(2, true)).toBe(1)
  })

  it.each([
    ['another major version', text(0, '', 1), 'expected major version 0, got 1'],
    ['no JSON', text(0, 'hello\0'), 'VERSION: expected JSON, got "hello"'],
    ['no NUL', text(0, '{}'), 'VERSION: expected text that ends with a NUL'],
  ])('that says %s ends it', (_name, data, why) => {
    const client = new DirectClient()
    expect(client.ask(VERSION, data).errno).toBe(EINVAL)
    expect(client.session.end).toBe(why)
    expect(textsOf(client.diagnostics.entries)).toEqual([`client sent VERSION: ${why}; client disconnected`])
  })

  it('has to come first', () => {
    const client = new DirectClient()
    expect(client.ask(GET_INFO, new Uint8Array(16)).errno).toBe(EINVAL)
    expect(client.session.end).toBe('expected VERSION first')
  })

  it('comes once', () => {
    const client = new DirectClient().agree()
    expect(client.ask(VERSION, words([16, 0], [16, 1])).errno).toBe(EINVAL)
    expect(client.session.end).toBeUndefined()
  })
})

describe('what the device is', () => {
  it('a PCI device that can be reset, with 9 regions and 5 kinds of interrupts', () => {
    const { data } = new DirectClient().agree().ask(GET_INFO, words([32, 16], [32, 0], [32, 0], [32, 0]))
    expect([0, 4, 8, 12].map((at) => data.getUint32(at, true))).toEqual([16, 3, 9, 5])
  })

  it('BAR0 and configuration space can be read and written, all else is empty', () => {
    const client = new DirectClient().agree()
    const sizes = Array.from({ length: 9 }, (_, index) => {
      const { errno, data } = client.ask(
        GET_REGION_INFO,
        words([32, 32], [32, 0], [32, index], [32, 0], [64, 0], [64, 0]),
      )
      expect([errno, data.byteLength, data.getUint32(0, true)]).toEqual([0, 32, 32])
      return [data.getUint32(4, true), Number(data.getBigUint64(16, true))]
    })
    const none = [0, 0]
    expect(sizes).toEqual([[3, 16_384], none, none, none, none, none, none, [3, 4096], none])
  })

  it.each([
    ['of a region that does not exist', 9, 32],
    ['with room for less than a region', 0, 31],
  ])('a question %s is refused', (_name, index, room) => {
    const client = new DirectClient().agree()
    const data = words([32, room], [32, 0], [32, index], [32, 0], [64, 0], [64, 0])
    expect(client.ask(GET_REGION_INFO, data).errno).toBe(EINVAL)
  })

  it.each([1, 2, 3, 4, 5, 6, 8, 9, 0xffff_ffff])('region %i has nothing to read or write', (region) => {
    const client = new DirectClient().agree()
    expect(client.read(region, 0, 4)).toBe(EINVAL)
    expect(client.write32(region, 0, 0)).toBe(EINVAL)
  })
})

describe('memory', () => {
  it('is mapped from the file that came beside, which is closed afterwards', () => {
    const client = new DirectClient().agree()
    const file = unnamedFile(4 * PAGE)
    const beside = another(file)
    client.memory.bytesOf(file).set([1, 2, 3], PAGE)
    expect(client.map(0x10_0000, 2 * PAGE, PAGE, beside)).toBe(0)
    expect(isOpen(beside)).toBe(false)
    expect(client.served.device.memory.bytes(0x10_0000, 3)).toEqual(Uint8Array.of(1, 2, 3))
    expect(client.map(0x10_1000, PAGE, 0, another(file))).toBe(EEXIST)
    expect(client.unmap(0x10_0000, 2 * PAGE)).toBe(0)
    expect(client.unmap(0x10_0000, 2 * PAGE)).toBe(ENOENT)
  })

  it('DMA_UNMAP is answered with what was asked, DMA_MAP with nothing', () => {
    const client = new DirectClient().agree()
    const mapped = client.ask(DMA_MAP, words([32, 32], [32, 1], [64, 0], [64, PAGE], [64, PAGE]))
    expect([mapped.errno, mapped.data.byteLength]).toEqual([0, 0])
    const asked = words([32, 24], [32, 0], [64, PAGE], [64, PAGE])
    const { data } = client.ask(DMA_UNMAP, asked)
    expect(new Uint8Array(data.buffer, data.byteOffset)).toEqual(asked)
  })

  it('all of it goes at once', () => {
    const client = new DirectClient().agree()
    for (const page of [1, 3, 5]) expect(client.map(page * PAGE, PAGE, 0, another(unnamedFile(PAGE)))).toBe(0)
    expect(client.unmap(PAGE, PAGE, 2)).toBe(EINVAL)
    expect(client.unmap(0, 0, 2)).toBe(0)
    expect(client.served.device.memory.has(PAGE, 1)).toBe(false)
    expect(client.memory.mapped.size).toBe(0)
  })

  it.each([
    ['flags that nobody knows', () => words([32, 32], [32, 4], [64, 0], [64, 0], [64, PAGE]), 0, EINVAL],
    ['two descriptors', () => words([32, 32], [32, 3], [64, 0], [64, 0], [64, PAGE]), 2, EINVAL],
    ['less than it has to say', () => new Uint8Array(31), 1, EINVAL],
  ])('DMA_MAP with %s is refused, and its descriptors are closed', (_name, data, count, errno) => {
    const client = new DirectClient().agree()
    const beside = Array.from({ length: count }, () => unnamedFile(PAGE))
    expect(client.ask(DMA_MAP, data(), beside).errno).toBe(errno)
    expect(beside.filter(isOpen)).toEqual([])
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('no bitmap of what was written is kept', () => {
    const client = new DirectClient().agree()
    client.map(0, PAGE, 0, another(unnamedFile(PAGE)))
    expect(client.unmap(0, PAGE, 1)).toBe(ENOTSUP)
    expect(client.served.device.memory.has(0, PAGE)).toBe(true)
  })

  it('of a client that is gone is not there for the next one', () => {
    const client = new DirectClient().agree()
    client.map(0, PAGE, 0, another(unnamedFile(PAGE)))
    client.reconnect()
    expect(client.served.device.memory.has(0, 1)).toBe(false)
    expect(client.memory.mapped.size).toBe(0)
  })
})

describe('reading and writing', () => {
  it('are answered with where they went', () => {
    const client = new DirectClient().agree()
    const where = words([64, 8], [32, BAR0], [32, 4])
    const read = client.ask(REGION_READ, where)
    expect(read.data.byteLength).toBe(20)
    expect(new Uint8Array(read.data.buffer, read.data.byteOffset, 16)).toEqual(where)
    expect(read.data.getUint32(16, true)).toBe(0x0002_0100)
    const written = client.ask(REGION_WRITE, Buffer.concat([words([64, 0x0c], [32, BAR0], [32, 4]), words([32, 0])]))
    expect(written.data.byteLength).toBe(16)
  })

  it('a write with fewer bytes than it says is refused', () => {
    const client = new DirectClient().agree()
    expect(client.ask(REGION_WRITE, words([64, 0x14], [32, BAR0], [32, 4], [16, 0])).errno).toBe(EINVAL)
    expect(textsOf(client.diagnostics.entries)).toEqual(['client sent REGION_WRITE: expected 4 bytes to write, got 2'])
  })

  it('a write that wants no answer gets none, not even where it is refused', () => {
    const client = new DirectClient().agree()
    const write = (offset: number) =>
      Buffer.concat([words([64, offset], [32, BAR0], [32, 4]), words([32, 0x0046_0000])])
    expect(client.send(REGION_WRITE, write(0x14), [], NO_REPLY)).toBeUndefined()
    expect(client.read32(BAR0, 0x14)).toBe(0x0046_0000)
    expect(client.send(REGION_WRITE, write(0x15), [], NO_REPLY)).toBeUndefined()
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('many writes in one message happen in their order', () => {
    const client = new DirectClient().agree()
    const one = (region: number, offset: number, value: bigint, count: number) =>
      words([64, offset], [32, region], [32, count], [64, value])
    const data = Buffer.concat([
      words([64, 3]),
      one(BAR0, 0x28, 0x5000n, 8),
      one(BAR0, 0x28, 0x9000n, 4),
      one(CONFIG, 0x3c, 7n, 1),
    ])
    const { errno, data: answer } = client.ask(WRITE_MULTI, data)
    expect([errno, answer.byteLength, answer.getUint32(0, true)]).toEqual([0, 8, 3])
    expect(client.read32(BAR0, 0x28)).toBe(0x9000)
    expect(client.read32(CONFIG, 0x3c) & 0xff).toBe(7)
  })

  it('as many writes in one message as QEMU packs are carried out, and not as many as fit', () => {
    const many = (count: number, value: number) => {
      const one = words([64, 0x14], [32, BAR0], [32, 4], [64, value])
      return Buffer.concat([words([64, count]), ...Array.from({ length: count }, () => one)])
    }
    const client = new DirectClient().agree()
    expect(client.ask(WRITE_MULTI, many(200, 0x0046_0000)).errno).toBe(0)
    expect(client.ask(WRITE_MULTI, many(257, 0)).errno).toBe(EINVAL)
    // None of them was.
    expect(client.read32(BAR0, 0x14)).toBe(0x0046_0000)
    expect(textsOf(client.diagnostics.entries)).toEqual([
      'client sent REGION_WRITE_MULTI: expected at most 256 writes, got 257',
    ])
  })

  it.each([
    ['more than it has', Buffer.concat([words([64, 2]), new Uint8Array(24)])],
    ['a count beyond all sense', Buffer.concat([words([64, 2n ** 64n - 1n]), new Uint8Array(24)])],
    ['writes of more than 8 bytes', Buffer.concat([words([64, 1]), words([64, 0], [32, CONFIG], [32, 9], [64, 0])])],
    ['an access that does not exist', Buffer.concat([words([64, 1]), words([64, 1], [32, BAR0], [32, 4], [64, 0])])],
  ])('many writes that say %s are refused', (_name, data) => {
    expect(new DirectClient().agree().ask(WRITE_MULTI, data).errno).toBe(EINVAL)
  })
})

describe('everything else', () => {
  it('DEVICE_RESET resets the controller, and leaves configuration space as it is', () => {
    const client = new DirectClient().agree()
    client.write32(BAR0, 0x14, 0x0046_0000)
    client.write(CONFIG, 4, words([16, 0x0406]))
    expect(client.ask(RESET).errno).toBe(0)
    expect(client.read32(BAR0, 0x14)).toBe(0)
    expect(client.read32(CONFIG, 4) & 0xffff).toBe(0x0406)
  })

  it.each([0, 6, 11, 12, 14, 16, 17, 18, 19, 65535])('command %i is not supported', (command) => {
    const client = new DirectClient().agree()
    expect(client.ask(command, new Uint8Array(64)).errno).toBe(ENOTSUP)
    expect(client.session.end).toBeUndefined()
    expect(client.diagnostics.entries[0]?.text).toMatch(/^client sent [A-Z_]+|command \d+: unsupported command$/)
  })

  it.each([1, 2, 15])('a message of type %i is no command, and ends it', (type) => {
    const client = new DirectClient().agree()
    expect(client.send(GET_INFO, new Uint8Array(16), [], type)?.errno).toBe(EINVAL)
    expect(client.session.end).toBe('not a command')
  })

  it.each([
    [VERSION, 3],
    [DMA_UNMAP, 23],
    [GET_INFO, 15],
    [GET_REGION_INFO, 31],
    [7, 15],
    [8, 19],
    [REGION_READ, 15],
    [REGION_WRITE, 15],
    [WRITE_MULTI, 7],
  ])('command %i with %i bytes says too little', (command, bytes) => {
    const client = new DirectClient()
    if (command !== VERSION) client.agree()
    expect(client.ask(command, new Uint8Array(bytes)).errno).toBe(EINVAL)
  })

  it('power is lost unexpectedly under a client that has the controller enabled, and each client is a cycle', () => {
    const client = new DirectClient().agree()
    const { health } = client.served.device
    const [cycles, losses] = [health.powerCycles, health.unexpectedPowerLosses]
    client.reconnect()
    expect([health.powerCycles, health.unexpectedPowerLosses]).toEqual([cycles + 1, losses])
    client.agree()
    // CC.EN without Admin queues: CSTS.CFS, and enabled all the same.
    client.write(0, 0x14, Uint8Array.of(0x01, 0x00, 0x46, 0x00))
    client.reconnect()
    expect([health.powerCycles, health.unexpectedPowerLosses]).toEqual([cycles + 2, losses + 1])
  })
})
