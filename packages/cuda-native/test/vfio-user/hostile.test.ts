import { spawn } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { isBuilt, native, skipped, sockets } from '../native.js'
import { memoryFile } from '../scratch-file.js'
import { message, RawClient, words } from './raw-client.js'
import { serve, type Served } from './served.js'

const PAGE = 4096
const [VERSION, DMA_MAP, SET_IRQS, REGION_READ, REGION_WRITE] = [1, 2, 8, 9, 10]
const EINVAL = 22

const version = message(VERSION, words([16, 0], [16, 1]))
const mapData = (pages: number, flags = 3) => words([32, 32], [32, flags], [64, 0], [64, PAGE], [64, pages * PAGE])
const eventfdData = (count: number) => words([32, 20], [32, 0x24], [32, 2], [32, 0], [32, count])
const write32 = (offset: number, value: number) =>
  Buffer.concat([words([64, offset], [32, 0], [32, 4]), words([32, value])])

describe.runIf(isBuilt)(`a server with hostile clients${skipped}`, () => {
  let served: Served
  let clients = 0
  beforeEach(async () => {
    clients = 0
    served = await serve(() => ({ namespaces: [{ capacityBytes: 2 ** 20 }] }))
  })
  afterEach(() => served.close())

  /** Expects that the server accepts and serves a new client. */
  async function isServed(): Promise<void> {
    const client = new RawClient(served.socket).agree()
    client.send(message(REGION_READ, words([64, 8], [32, 0], [32, 4])))
    expect(client.replies(1)[0]!.getUint32(32, true)).toBe(0x0002_0100)
    const now = await served.server.statistics()
    // This client is counted separately.
    expect(now.connected).toBe(true)
    expect(now.clients).toBeGreaterThan(clients)
    clients = now.clients
    client.close()
  }

  it('serves the next client after one disconnects at any byte, and leaks no descriptors', async () => {
    const whole = [
      { bytes: version, beside: 0 },
      { bytes: message(DMA_MAP, mapData(2)), beside: 1 },
      { bytes: message(SET_IRQS, eventfdData(3)), beside: 3 },
      { bytes: message(REGION_READ, words([64, 0], [32, 7], [32, 4096])), beside: 0 },
    ]
    using file = memoryFile(new Uint8Array(2 * PAGE))
    const eventfds = [sockets.eventfd(), sockets.eventfd(), sockets.eventfd()]
    await isServed()
    const before = await settled()
    for (let cut = 1; cut < whole.reduce((sum, { bytes }) => sum + bytes.length, 0); cut++) {
      const client = new RawClient(served.socket)
      let left = cut
      for (const { bytes, beside } of whole) {
        const part = bytes.subarray(0, left)
        if (part.length > 0) client.send(part, beside === 1 ? [file.fd] : eventfds.slice(0, beside))
        left -= part.length
      }
      client.close()
    }
    await isServed()
    expect(await settled()).toBe(before)
    eventfds.forEach((each) => closeSync(each))
  }, 120_000)

  it('answers a message with an invalid size, then disconnects the client', async () => {
    for (const size of [0, 15, 2 ** 20 + 33, 2 ** 32 - 1]) {
      const client = new RawClient(served.socket).agree()
      const bytes = message(4, new Uint8Array(16))
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(4, size, true)
      client.send(bytes)
      const replies = client.replies(2)
      expect(replies.map((reply) => reply.getUint32(12, true))).toEqual([EINVAL])
      client.close()
    }
    await isServed()
    expect((await served.server.diagnostics())[0]?.text).toBe(
      'client sent DEVICE_GET_INFO: expected a message of 16 to 1048608 bytes, got 0; client disconnected',
    )
  })

  it('rejects descriptors of the wrong kind without blocking', async () => {
    const listener = createServer()
    const path = join(served.folder, 'other.sock')
    await new Promise<void>((resolve) => listener.listen(path, resolve))
    const wrong = [openSync(served.folder, 'r'), openSync('/dev/zero', 'r+'), sockets.connect(path), sockets.eventfd()]
    const client = new RawClient(served.socket).agree()
    for (const each of wrong) expect(client.ask(DMA_MAP, mapData(1), [each])).toBe(EINVAL)
    for (const each of wrong.slice(0, 3)) expect(client.ask(SET_IRQS, eventfdData(1), [each])).toBe(EINVAL)
    expect(client.ask(SET_IRQS, eventfdData(1), wrong.slice(3))).toBe(0)
    client.close()
    wrong.forEach((each) => closeSync(each))
    await isServed()
    await new Promise((resolve) => listener.close(resolve))
  })

  it('survives truncation of memory that contains queues', async () => {
    using file = memoryFile(new Uint8Array(8 * PAGE))
    const client = new RawClient(served.socket).agree()
    expect(client.ask(DMA_MAP, mapData(8), [file.fd])).toBe(0)
    const registers = [
      [0x24, 0x000f_000f],
      [0x28, PAGE],
      [0x30, 2 * PAGE],
      [0x14, 0x0046_0001],
    ] as const
    for (const [offset, value] of registers) expect(client.ask(REGION_WRITE, write32(offset, value))).toBe(0)
    ftruncateSync(file.fd, 0)
    // After the first doorbell, the controller accesses the memory, and the server disconnects the client.
    for (let tail = 1; tail < 16; tail++)
      expect([0, undefined]).toContain(client.ask(REGION_WRITE, write32(0x1000, tail)))
    client.close()
    await isServed()
    const texts = (await served.server.diagnostics()).map(({ text }) => text)
    expect(texts).toContain('client disconnected: it truncated memory that it had mapped')
  })

  it('is not blocked by blocking eventfds whose counters are full', async () => {
    const eventfd = sockets.eventfd()
    const client = new RawClient(served.socket).agree()
    expect(client.ask(SET_IRQS, eventfdData(1), [eventfd])).toBe(0)
    writeSync(eventfd, new BigUint64Array([2n ** 64n - 2n]))
    setBlocking(eventfd)
    expect(readFileSync(`/proc/self/fdinfo/${eventfd}`, 'utf8')).toMatch(/^flags:\s+0?2000002$/m)
    const trigger = words([32, 20], [32, 0x21], [32, 2], [32, 0], [32, 1])
    for (let i = 0; i < 3; i++) expect(client.ask(SET_IRQS, trigger)).toBe(0)
    client.close()
    await isServed()
    closeSync(eventfd)
  })

  it('maps pages of a sparse file, and pages after the file has grown', async () => {
    using file = memoryFile(new Uint8Array(PAGE))
    const client = new RawClient(served.socket).agree()
    const mapAt = (fileOffset: number, iova: number) =>
      client.ask(DMA_MAP, words([32, 32], [32, 3], [64, fileOffset], [64, iova], [64, PAGE]), [file.fd])
    expect(mapAt(PAGE, PAGE)).toBe(EINVAL)
    ftruncateSync(file.fd, 2 ** 43)
    for (let i = 1; i <= 64; i++) expect(mapAt(2 ** 43 - i * PAGE, i * PAGE)).toBe(0)
    ftruncateSync(file.fd, PAGE)
    expect(mapAt(PAGE, 1024 * PAGE)).toBe(EINVAL)
    expect(mapAt(0, 1025 * PAGE)).toBe(0)
    client.close()
    await isServed()
  })

  it('answers statistics requests during a flood, and disconnects a client that reads no replies', async () => {
    const before = (await served.server.statistics()).messages
    const flood = flooding(served.socket)
    const asked: number[] = []
    while (!flood.isOver()) asked.push((await served.server.statistics()).messages)
    expect(await flood.exitCode).toBe(0)
    await isServed()
    // Some of the requests were answered during the flood.
    const { messages } = await served.server.statistics()
    expect(asked.some((count) => count > before && count < messages)).toBe(true)
    const texts = (await served.server.diagnostics()).map(({ text }) => text)
    expect(texts).toContainEqual(expect.stringMatching(/^client disconnected: cannot send a reply: /))
  }, 120_000)
})

/** Starts a client process that sends messages and reads no replies until it is disconnected. */
function flooding(socket: string): { readonly isOver: () => boolean; readonly exitCode: Promise<number | null> } {
  const hex = (bytes: Uint8Array) => JSON.stringify(Buffer.from(bytes).toString('hex'))
  const program = `
    import host from ${JSON.stringify(nativeHostModule.href)}
    const socket = host.connect(${JSON.stringify(socket)})
    host.send(socket, Buffer.from(${hex(version)}, 'hex'), undefined, 60e9)
    const flood = Buffer.from(${hex(message(4, new Uint8Array(16)))}.repeat(1000), 'hex')
    try {
      for (;;) host.send(socket, flood, undefined, 60e9)
    } catch (error) {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error
    }
  `
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let isOver = false
  const exitCode = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      isOver = true
      resolve(code)
    })
  })
  return { isOver: () => isOver, exitCode }
}

/** ioctl that sets or clears non-blocking mode. */
const FIONBIO = 0x5421

/** Makes an eventfd blocking. The flag belongs to the open file description, which both processes share. */
function setBlocking(descriptor: number): void {
  native.ioctl(descriptor, FIONBIO, new Uint8Array(4))
}

/** Returns the number of open descriptors of this process once it is stable. */
async function settled(): Promise<number> {
  for (let last = -1; ;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const count = readdirSync('/proc/self/fd').length
    if (count === last) return count
    last = count
  }
}
