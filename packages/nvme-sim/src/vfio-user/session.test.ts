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
  it('is answered with the common version and the capabilities of the server', () => {
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

  it('with a later minor version is answered with 0.1', () => {
    const { data } = new DirectClient().ask(VERSION, words([16, 0], [16, 7]))
    expect(data.getUint16(2, true)).toBe(1)
  })

  it.each([
    ['another major version', text(0, '', 1), 'expected major version 0, got 1'],
    ['invalid JSON', text(0, 'hello\0'), 'VERSION: expected JSON, got "hello"'],
    ['text without a final NUL', text(0, '{}'), 'VERSION: expected text that ends with a NUL'],
  ])('with %s ends the session', (_name, data, why) => {
    const client = new DirectClient()
    expect(client.ask(VERSION, data).errno).toBe(EINVAL)
    expect(client.session.end).toBe(why)
    expect(textsOf(client.diagnostics.entries)).toEqual([`client sent VERSION: ${why}; client disconnected`])
  })

  it('must be the first message', () => {
    const client = new DirectClient()
    expect(client.ask(GET_INFO, new Uint8Array(16)).errno).toBe(EINVAL)
    expect(client.session.end).toBe('expected VERSION first')
  })

  it('is rejected a second time', () => {
    const client = new DirectClient().agree()
    expect(client.ask(VERSION, words([16, 0], [16, 1])).errno).toBe(EINVAL)
    expect(client.session.end).toBeUndefined()
  })
})

describe('device and region information', () => {
  it('describes a PCI device that supports reset, with 9 regions and 5 interrupt types', () => {
    const { data } = new DirectClient().agree().ask(GET_INFO, words([32, 16], [32, 0], [32, 0], [32, 0]))
    expect([0, 4, 8, 12].map((at) => data.getUint32(at, true))).toEqual([16, 3, 9, 5])
  })

  it('BAR0 and configuration space are readable and writable; all other regions are empty', () => {
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
    ['for a region that does not exist', 9, 32],
    ['with an argsz that is too small', 0, 31],
  ])('rejects a query %s', (_name, index, room) => {
    const client = new DirectClient().agree()
    const data = words([32, room], [32, 0], [32, index], [32, 0], [64, 0], [64, 0])
    expect(client.ask(GET_REGION_INFO, data).errno).toBe(EINVAL)
  })

  it.each([1, 2, 3, 4, 5, 6, 8, 9, 0xffff_ffff])('region %i cannot be read or written', (region) => {
    const client = new DirectClient().agree()
    expect(client.read(region, 0, 4)).toBe(EINVAL)
    expect(client.write32(region, 0, 0)).toBe(EINVAL)
  })
})

describe('memory', () => {
  it('is mapped from the received descriptor, which is closed afterwards', () => {
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

  it('the reply to DMA_UNMAP repeats the request, that to DMA_MAP is empty', () => {
    const client = new DirectClient().agree()
    const mapped = client.ask(DMA_MAP, words([32, 32], [32, 1], [64, 0], [64, PAGE], [64, PAGE]))
    expect([mapped.errno, mapped.data.byteLength]).toEqual([0, 0])
    const asked = words([32, 24], [32, 0], [64, PAGE], [64, PAGE])
    const { data } = client.ask(DMA_UNMAP, asked)
    expect(new Uint8Array(data.buffer, data.byteOffset)).toEqual(asked)
  })

  it('is all unmapped by one DMA_UNMAP with the flag for all regions', () => {
    const client = new DirectClient().agree()
    for (const page of [1, 3, 5]) expect(client.map(page * PAGE, PAGE, 0, another(unnamedFile(PAGE)))).toBe(0)
    expect(client.unmap(PAGE, PAGE, 2)).toBe(EINVAL)
    expect(client.unmap(0, 0, 2)).toBe(0)
    expect(client.served.device.memory.has(PAGE, 1)).toBe(false)
    expect(client.memory.mapped.size).toBe(0)
  })

  it.each([
    ['unknown flags', () => words([32, 32], [32, 4], [64, 0], [64, 0], [64, PAGE]), 0, EINVAL],
    ['two descriptors', () => words([32, 32], [32, 3], [64, 0], [64, 0], [64, PAGE]), 2, EINVAL],
    ['too few bytes', () => new Uint8Array(31), 1, EINVAL],
  ])('DMA_MAP with %s is rejected, and its descriptors are closed', (_name, data, count, errno) => {
    const client = new DirectClient().agree()
    const beside = Array.from({ length: count }, () => unnamedFile(PAGE))
    expect(client.ask(DMA_MAP, data(), beside).errno).toBe(errno)
    expect(beside.filter(isOpen)).toEqual([])
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('has no dirty-page bitmap', () => {
    const client = new DirectClient().agree()
    client.map(0, PAGE, 0, another(unnamedFile(PAGE)))
    expect(client.unmap(0, PAGE, 1)).toBe(ENOTSUP)
    expect(client.served.device.memory.has(0, PAGE)).toBe(true)
  })

  it('is unmapped when its client disconnects', () => {
    const client = new DirectClient().agree()
    client.map(0, PAGE, 0, another(unnamedFile(PAGE)))
    client.reconnect()
    expect(client.served.device.memory.has(0, 1)).toBe(false)
    expect(client.memory.mapped.size).toBe(0)
  })
})

describe('reading and writing', () => {
  it('are answered with offset, region and count', () => {
    const client = new DirectClient().agree()
    const where = words([64, 8], [32, BAR0], [32, 4])
    const read = client.ask(REGION_READ, where)
    expect(read.data.byteLength).toBe(20)
    expect(new Uint8Array(read.data.buffer, read.data.byteOffset, 16)).toEqual(where)
    expect(read.data.getUint32(16, true)).toBe(0x0002_0100)
    const written = client.ask(REGION_WRITE, Buffer.concat([words([64, 0x0c], [32, BAR0], [32, 4]), words([32, 0])]))
    expect(written.data.byteLength).toBe(16)
  })

  it('a write with fewer bytes than its count is rejected', () => {
    const client = new DirectClient().agree()
    expect(client.ask(REGION_WRITE, words([64, 0x14], [32, BAR0], [32, 4], [16, 0])).errno).toBe(EINVAL)
    expect(textsOf(client.diagnostics.entries)).toEqual(['client sent REGION_WRITE: expected 4 bytes to write, got 2'])
  })

  it('a write with the flag for no reply gets none, even if it is rejected', () => {
    const client = new DirectClient().agree()
    const write = (offset: number) =>
      Buffer.concat([words([64, offset], [32, BAR0], [32, 4]), words([32, 0x0046_0000])])
    expect(client.send(REGION_WRITE, write(0x14), [], NO_REPLY)).toBeUndefined()
    expect(client.read32(BAR0, 0x14)).toBe(0x0046_0000)
    expect(client.send(REGION_WRITE, write(0x15), [], NO_REPLY)).toBeUndefined()
    expect(client.diagnostics.entries).toHaveLength(1)
  })

  it('several writes in one message are executed in order', () => {
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

  it('a message of 200 writes, as QEMU sends, is executed; one of more than 256 is rejected', () => {
    const many = (count: number, value: number) => {
      const one = words([64, 0x14], [32, BAR0], [32, 4], [64, value])
      return Buffer.concat([words([64, count]), ...Array.from({ length: count }, () => one)])
    }
    const client = new DirectClient().agree()
    expect(client.ask(WRITE_MULTI, many(200, 0x0046_0000)).errno).toBe(0)
    expect(client.ask(WRITE_MULTI, many(257, 0)).errno).toBe(EINVAL)
    // None of the 257 writes was executed.
    expect(client.read32(BAR0, 0x14)).toBe(0x0046_0000)
    expect(textsOf(client.diagnostics.entries)).toEqual([
      'client sent REGION_WRITE_MULTI: expected at most 256 writes, got 257',
    ])
  })

  it.each([
    ['fewer writes than its count', Buffer.concat([words([64, 2]), new Uint8Array(24)])],
    ['a count of 2^64 - 1', Buffer.concat([words([64, 2n ** 64n - 1n]), new Uint8Array(24)])],
    ['a write of more than 8 bytes', Buffer.concat([words([64, 1]), words([64, 0], [32, CONFIG], [32, 9], [64, 0])])],
    ['an invalid access', Buffer.concat([words([64, 1]), words([64, 1], [32, BAR0], [32, 4], [64, 0])])],
  ])('a message with %s is rejected', (_name, data) => {
    expect(new DirectClient().agree().ask(WRITE_MULTI, data).errno).toBe(EINVAL)
  })
})

describe('other messages', () => {
  it('DEVICE_RESET resets the controller and keeps configuration space', () => {
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

  it.each([1, 2, 15])('a message of type %i is not a command and ends the session', (type) => {
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
  ])('command %i with %i bytes is rejected as too short', (command, bytes) => {
    const client = new DirectClient()
    if (command !== VERSION) client.agree()
    expect(client.ask(command, new Uint8Array(bytes)).errno).toBe(EINVAL)
  })

  it('each client counts as a power cycle; leaving the controller enabled is an unexpected power loss', () => {
    const client = new DirectClient().agree()
    const { health } = client.served.device
    const [cycles, losses] = [health.powerCycles, health.unexpectedPowerLosses]
    client.reconnect()
    expect([health.powerCycles, health.unexpectedPowerLosses]).toEqual([cycles + 1, losses])
    client.agree()
    // CC.EN = 1 without Admin queues sets CSTS.CFS, but the controller is enabled.
    client.write(0, 0x14, Uint8Array.of(0x01, 0x00, 0x46, 0x00))
    client.reconnect()
    expect([health.powerCycles, health.unexpectedPowerLosses]).toEqual([cycles + 2, losses + 1])
  })
})
