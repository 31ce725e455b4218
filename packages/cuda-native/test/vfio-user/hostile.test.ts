import { closeSync, ftruncateSync, openSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isBuilt, skipped, sockets } from '../native.js'
import { scratchFile } from '../scratch-file.js'
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

describe.runIf(isBuilt)(`a server whose clients mean no good${skipped}`, () => {
  let served: Served
  beforeEach(async () => {
    served = await serve(() => ({ namespaces: [{ capacityBytes: 2 ** 20 }] }))
  })
  afterEach(() => served.close())

  /** The server lives, and has nothing of those before. */
  async function isServed(): Promise<void> {
    const client = new RawClient(served.socket).agree()
    client.send(message(REGION_READ, words([64, 8], [32, 0], [32, 4])))
    expect(client.replies(1)[0]!.getUint32(32, true)).toBe(0x0002_0100)
    client.close()
    expect((await served.server.statistics()).clients).toBeGreaterThan(0)
  }

  it('serves the next one where one leaves at any byte, and keeps none of its descriptors', async () => {
    const whole = [
      { bytes: version, beside: 0 },
      { bytes: message(DMA_MAP, mapData(2)), beside: 1 },
      { bytes: message(SET_IRQS, eventfdData(3)), beside: 3 },
      { bytes: message(REGION_READ, words([64, 0], [32, 7], [32, 4096])), beside: 0 },
    ]
    using file = scratchFile(new Uint8Array(2 * PAGE))
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

  it('sends those away whose messages have no size that can be, after an answer', async () => {
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
    expect((await served.server.diagnostics())[0]).toBe(
      'client sent DEVICE_GET_INFO: its size is 0, expected 16 to 1048608; it is sent away',
    )
  })

  it('takes no descriptor that is not what it should be, and is not held up by it', async () => {
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

  it('lives where memory is cut short under its queues', async () => {
    using file = scratchFile(new Uint8Array(8 * PAGE))
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
    for (let tail = 1; tail < 16; tail++) expect(client.ask(REGION_WRITE, write32(0x1000, tail))).toBe(0)
    client.close()
    await isServed()
  })

  it('answers questions while one floods it, and sends it away where it takes no reply', async () => {
    const client = new RawClient(served.socket).agree()
    const flood = Buffer.concat(Array.from({ length: 1000 }, () => message(4, new Uint8Array(16))))
    const before = (await served.server.statistics()).messages
    let rounds = 0
    // Without reading a reply: the server's are stuck before long, and then this side's messages.
    const isTaken = () => {
      try {
        return client.send(flood)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ETIMEDOUT' })
        return false
      }
    }
    while (rounds < 1000 && isTaken()) rounds++
    client.close()
    await isServed()
    const { messages } = await served.server.statistics()
    expect(messages).toBeGreaterThan(before)
    expect((await served.server.diagnostics()).at(-1)).toMatch(/^client was sent away: it takes no reply: /)
  }, 120_000)
})

/** How many descriptors this process has, when it has no other number any more. */
async function settled(): Promise<number> {
  for (let last = -1; ;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const count = readdirSync('/proc/self/fd').length
    if (count === last) return count
    last = count
  }
}
