import { closeSync, openSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOpen } from '../../test/vfio-user/fake-host.js'
import { MessageReader } from './message-reader.js'

const NONE = Int32Array.of(0)

/** A message as it is sent: ID, command, size, flags, error (vfio-user 0.9.2 Header), then its data. */
function message(
  id: number,
  command: number,
  data: Uint8Array = new Uint8Array(),
  size = 16 + data.length,
): Uint8Array {
  const bytes = new Uint8Array(16 + data.length)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, id, true)
  view.setUint16(2, command, true)
  view.setUint32(4, size, true)
  bytes.set(data, 16)
  return bytes
}

function give(reader: MessageReader, bytes: Uint8Array, descriptors = NONE): boolean {
  const space = reader.space()
  expect(space.length).toBeGreaterThanOrEqual(bytes.length)
  space.set(bytes)
  return reader.add(bytes.length, descriptors)
}

/** Everything that is there: ID, command, data. */
function take(reader: MessageReader) {
  const found: { id: number; command: number; data: Uint8Array; descriptors: number[] }[] = []
  for (let next = reader.next(); next !== false; next = reader.next()) {
    if (typeof next === 'string') throw new Error(next)
    const { id, command, at, lengthBytes, bytes, descriptors } = reader.message
    found.push({ id, command, data: bytes.slice(at, at + lengthBytes), descriptors: descriptors.splice(0) })
  }
  return found
}

describe('messages', () => {
  it('come out as they were sent, however they are cut on their way', () => {
    const sent = fc.array(fc.tuple(fc.nat(65535), fc.nat(65535), fc.uint8Array({ maxLength: 300 })), { maxLength: 30 })
    fc.assert(
      fc.property(sent, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (messages, cuts) => {
        const stream = Buffer.concat(messages.map(([id, command, data]) => message(id, command, data)))
        const reader = new MessageReader()
        const found = []
        for (let at = 0, i = 0; at < stream.length; i++) {
          const piece = stream.subarray(at, at + cuts[i % cuts.length]!)
          give(reader, piece)
          at += piece.length
          found.push(...take(reader))
        }
        expect(found.map(({ id, command, data }) => [id, command, data])).toEqual(messages)
      }),
      { numRuns: 200 },
    )
  })

  it('of 1 MiB of data are taken, in pieces', () => {
    const reader = new MessageReader()
    const data = Uint8Array.from({ length: 16 + 1024 * 1024 }, (_, i) => i & 0xff)
    const stream = message(1, 10, data)
    for (let at = 0; at < stream.length; at += 60_000) give(reader, stream.subarray(at, at + 60_000))
    const [found] = take(reader)
    expect(Buffer.compare(found!.data, data)).toBe(0)
  })

  it.each([0, 15, 16 + 16 + 1024 * 1024 + 1, 0xffff_ffff])('of a size of %i are none', (size) => {
    const reader = new MessageReader()
    give(reader, message(7, 9, new Uint8Array(), size))
    expect(reader.next()).toBe(`expected a message of 16 to 1048608 bytes, got ${size}`)
    // For the error reply.
    expect(reader.message.id).toBe(7)
  })
})

describe('descriptors', () => {
  it('belong to the last message that begins in what they came with', () => {
    const reader = new MessageReader()
    give(reader, Buffer.concat([message(1, 9), message(2, 10), message(3, 8)]), Int32Array.of(2, 101, 102))
    expect(take(reader).map(({ descriptors }) => descriptors)).toEqual([[], [], [101, 102]])
  })

  it('belong to a message of which only a part has come', () => {
    const reader = new MessageReader()
    const second = message(2, 2, new Uint8Array(32))
    give(reader, Buffer.concat([message(1, 9), second.subarray(0, 5)]), Int32Array.of(1, 101))
    expect(take(reader).map(({ id, descriptors }) => [id, descriptors])).toEqual([[1, []]])
    give(reader, Buffer.concat([second.subarray(5), message(3, 9)]))
    expect(take(reader).map(({ id, descriptors }) => [id, descriptors])).toEqual([
      [2, [101]],
      [3, []],
    ])
  })

  it('that came with the rest of a message are added to those that came with its beginning', () => {
    const reader = new MessageReader()
    const whole = message(1, 2, new Uint8Array(32))
    give(reader, whole.subarray(0, 20), Int32Array.of(1, 101))
    give(reader, whole.subarray(20), Int32Array.of(1, 102))
    expect(take(reader).map(({ descriptors }) => descriptors)).toEqual([[101, 102]])
  })

  it('that are more than 16 with one message are all closed', () => {
    const reader = new MessageReader()
    const opened = Array.from({ length: 17 }, () => openSync('/dev/null', 'r'))
    give(reader, message(1, 8, new Uint8Array(8)).subarray(0, 20), Int32Array.of(16, ...opened.slice(0, 16)))
    expect(give(reader, new Uint8Array(1), Int32Array.of(1, opened[16]!))).toBe(false)
    expect(opened.filter(isOpen)).toEqual([])
  })

  it('of a client that is gone are closed', () => {
    const reader = new MessageReader()
    const kept = openSync('/dev/null', 'r')
    const lost = openSync('/dev/null', 'r')
    give(reader, message(1, 2), Int32Array.of(1, kept))
    expect(take(reader)[0]!.descriptors).toEqual([kept])
    give(reader, message(2, 2).subarray(0, 10), Int32Array.of(1, lost))
    reader.clear()
    expect([isOpen(kept), isOpen(lost)]).toEqual([true, false])
    closeSync(kept)
    expect(reader.next()).toBe(false)
  })
})
