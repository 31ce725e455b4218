import { openSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DirectClient } from '../../test/vfio-user/direct-client.js'
import { another, unnamedFile } from '../../test/vfio-user/fake-host.js'
import { FILE_PAGES, PAGE, RandomClient, WRITABLE } from '../../test/vfio-user/random-client.js'

/** For each seed; many more by hand. */
const MESSAGES = Number(process.env['GPUNVME_RANDOM_MESSAGES'] ?? 5000)

const openDescriptors = () => readdirSync('/proc/self/fd').length

it.each([1, 2, 3, 4, 5, 6])(
  'whatever a client sends, each message is answered, and no memory that it has not mapped is touched: seed %i',
  (seed) => {
    const random = new RandomClient(seed)
    const client = new DirectClient({ seed }).agree()
    const file = unnamedFile(FILE_PAGES * PAGE)
    const memory = client.memory.bytesOf(file)
    memory.fill(0xa5)
    const descriptors = openDescriptors()
    const { message } = client as unknown as { message: { descriptors: number[]; closeDescriptors(): void } }
    const closeReal = message.closeDescriptors.bind(message)
    // Those of the fake are no descriptors of this process.
    message.closeDescriptors = () => {
      message.descriptors.splice(0, Infinity, ...message.descriptors.filter((each) => each < 1000))
      closeReal()
    }
    let [completed, refused] = [0, 0]
    for (let i = 0; i < MESSAGES; i++) {
      if (random.below(2) === 0) random.scribble(memory)
      const { command, data, flags, beside, count } = random.next()
      const given = Array.from({ length: beside === undefined ? 0 : count }, () => {
        if (beside === 'eventfds') return client.eventfds.make()[0]!
        return beside === 'memory' ? another(file) : openSync('/', 'r')
      })
      const answer = client.send(command, data, given, flags)
      // An answer whenever one is wanted; a refusal says nothing else.
      expect(answer === undefined).toBe((flags & 0x10) !== 0)
      if (answer !== undefined && answer.errno !== 0) {
        refused++
        expect(answer.data.byteLength).toBe(0)
      }
      client.run()
      if (client.session.end !== undefined || random.below(500) === 0) {
        client.reconnect()
        client.agree()
      }
    }
    const { admin, io } = client.served.device.counters
    for (const counts of [admin, io]) completed += counts.reduce((sum, count) => sum + count, 0)
    // It has come to something: a driver that is as bad as that still has commands carried out.
    expect(completed).toBeGreaterThan(0)
    expect(refused).toBeGreaterThan(MESSAGES / 10)
    client.leave()
    expect(openDescriptors()).toBe(descriptors)
    expect(client.memory.mapped.size).toBe(0)
    const kept = [memory.subarray(0, WRITABLE.first * PAGE), memory.subarray(WRITABLE.end * PAGE)]
    expect(kept.every((part) => part.every((byte) => byte === 0xa5))).toBe(true)
  },
  Math.max(120_000, MESSAGES * 5),
)
