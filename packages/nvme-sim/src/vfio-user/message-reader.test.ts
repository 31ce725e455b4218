import { closeSync, openSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOpen } from '../../test/vfio-user/fake-host.js'
import { MessageReader } from './message-reader.js'

const NONE = Int32Array.of(0)

/** Encodes a message: ID, command, size, flags, error (vfio-user 0.9.2 Header), then its data. */
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

/** Returns all complete messages: ID, command, data, descriptors. */
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
  it('are read as they were sent, whatever parts they arrive in', () => {
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

  it('of 1 MiB of data are read from several parts', () => {
    const reader = new MessageReader()
    const data = Uint8Array.from({ length: 16 + 1024 * 1024 }, (_, i) => i & 0xff)
    const stream = message(1, 10, data)
    for (let at = 0; at < stream.length; at += 60_000) give(reader, stream.subarray(at, at + 60_000))
    const [found] = take(reader)
    expect(Buffer.compare(found!.data, data)).toBe(0)
  })

  it.each([0, 15, 16 + 16 + 1024 * 1024 + 1, 0xffff_ffff])('of size %i are rejected', (size) => {
    const reader = new MessageReader()
    give(reader, message(7, 9, new Uint8Array(), size))
    expect(reader.next()).toBe(`expected a message of 16 to 1048608 bytes, got ${size}`)
    // The error reply needs the ID.
    expect(reader.message.id).toBe(7)
  })
})

describe('descriptors', () => {
  it('belong to the last message that begins in the bytes received with them', () => {
    const reader = new MessageReader()
    give(reader, Buffer.concat([message(1, 9), message(2, 10), message(3, 8)]), Int32Array.of(2, 101, 102))
    expect(take(reader).map(({ descriptors }) => descriptors)).toEqual([[], [], [101, 102]])
  })

  it('belong to that message even if it is incomplete', () => {
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

  it('received with the rest of a message are added to those received with its beginning', () => {
    const reader = new MessageReader()
    const whole = message(1, 2, new Uint8Array(32))
    give(reader, whole.subarray(0, 20), Int32Array.of(1, 101))
    give(reader, whole.subarray(20), Int32Array.of(1, 102))
    expect(take(reader).map(({ descriptors }) => descriptors)).toEqual([[101, 102]])
  })

  it('are all closed if one message has more than 16', () => {
    const reader = new MessageReader()
    const opened = Array.from({ length: 17 }, () => openSync('/dev/null', 'r'))
    give(reader, message(1, 8, new Uint8Array(8)).subarray(0, 20), Int32Array.of(16, ...opened.slice(0, 16)))
    expect(give(reader, new Uint8Array(1), Int32Array.of(1, opened[16]!))).toBe(false)
    expect(opened.filter(isOpen)).toEqual([])
  })

  it('of an incomplete message are closed when the client disconnects', () => {
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
