import { openSync } from 'node:fs'
import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refusal } from '../../../test/fake-hardware-host.js'
import { Channel } from './channel.js'
import { VfioUserLostError } from './errors.js'

const REGION_READ = 9
/** A DMA_READ request from a target that wants no reply: a 16-byte header without data. */
const request = Buffer.from('07000b00100000001000000000000000', 'hex')
/** More receives than any bounded wait makes; turns an endless loop into a failed test. */
const ENDLESS = 5_000_000
/** Long, so that a busy machine does not look like a silent target. */
const LIMIT_NS = 60_000_000_000
const SILENT = { code: 'ERR_GPUNVME_VFIO_USER_LOST', reason: 'silent' }
const BROKEN = { code: 'ERR_GPUNVME_VFIO_USER_LOST', reason: 'broken' }

let taken = 0
let departures = 0
let sent: Buffer[] = []
let channel: Channel

/** Connects to a target that always has data to read, which `receive` supplies. */
function connect(receive: (into: Uint8Array) => number, send: SocketHost['send'] = keep, limitNs = LIMIT_NS): void {
  const host = {
    poll: () => 1,
    receive(_: number, into: Uint8Array) {
      if (++taken > ENDLESS) throw new Error('endless receive loop')
      return receive(into)
    },
    send,
  }
  const fd = openSync('/dev/null', 'r')
  channel = new Channel(host as unknown as SocketHost, fd, 'socket', limitNs, () => departures++)
}

function keep(_: number, bytes: Uint8Array): void {
  sent.push(Buffer.from(bytes))
}

/** Returns a `receive` that supplies endless requests. */
function flood(): (into: Uint8Array) => number {
  let at = 0
  return (into) => {
    const part = request.subarray(at, at + into.length)
    into.set(part)
    at = (at + part.length) % request.length
    return part.length
  }
}

const read = () => channel.ask('REGION_READ', new Uint8Array(16), { minBytes: 20, maxBytes: 20 })

beforeEach(() => {
  taken = departures = 0
  sent = []
})
afterEach(() => {
  channel.close()
})

describe('a target that sends endless requests', () => {
  test('counts as silent at the time limit of a pending request', () => {
    connect(flood(), keep, 20_000_000)
    expect(read).toThrow(expect.objectContaining(SILENT))
    expect([departures, sent.length]).toEqual([1, 1])
    expect(sent[0]!.readUInt16LE(2)).toBe(REGION_READ)
  })

  test('delays look by at most 64 messages, and stays connected', () => {
    connect(flood())
    channel.look()
    expect(taken).toBe(64)
    channel.look()
    expect(taken).toBe(128)
    expect(channel.departure).toBeUndefined()
  })
})

describe('a reply', () => {
  /** Returns a reply with zeros after its header; the first command has number 1. */
  const answer = (id: number, command: number, sizeBytes: number): Buffer => {
    const header = Buffer.alloc(sizeBytes)
    header.writeUInt16LE(id, 0)
    header.writeUInt16LE(command, 2)
    header.writeUInt32LE(sizeBytes, 4)
    header.writeUInt32LE(1, 8)
    return header
  }
  const say = (bytes: Buffer): void => {
    let at = 0
    connect((into) => {
      const part = bytes.subarray(at, (at += into.length))
      into.set(part)
      return part.length
    })
  }

  test('of the expected length, with the command and number that were sent, is accepted', () => {
    say(answer(1, REGION_READ, 36))
    expect(read().data.byteLength).toBe(20)
    expect(departures).toBe(0)
  })

  test.each([
    ['to another number', answer(2, REGION_READ, 36), 'number 1, got one to command 9, number 2'],
    ['to another command', answer(1, 10, 36), 'expected the answer to command 9'],
    ['that is too short', answer(1, REGION_READ, 35), 'expected a message of 36 to 36 bytes, got one of 35'],
    ['that is too long', answer(1, REGION_READ, 37), 'expected a message of 36 to 36 bytes, got one of 37'],
  ])('%s ends the connection', (_, bytes, problem) => {
    say(bytes)
    expect(read).toThrow(problem)
    expect(channel.departure).toMatchObject({ code: 'ERR_GPUNVME_VFIO_USER_PROTOCOL' })
    expect(departures).toBe(1)
  })
})

describe('a failed receive or send', () => {
  test.each(['EMFILE', 'ENOMEM', 'ENOTCONN'])('with %s in the middle of a message ends the connection', (code) => {
    const cause = refusal(code, 'recvmsg')
    connect((into) => {
      // The header of a reply with 20 bytes of data, none of which arrive.
      if (taken > 1) throw cause
      into.set(Buffer.from('01000900240000000100000000000000', 'hex'))
      return 16
    })
    expect(read).toThrow(expect.objectContaining({ ...BROKEN, cause }))
    expect(channel.departure).toBeInstanceOf(VfioUserLostError)
    expect(departures).toBe(1)
    // Nothing more is received or sent.
    expect(read).toThrow(channel.departure!)
    expect([taken, sent.length]).toEqual([2, 1])
  })

  test('during look ends the connection, and look does not throw', () => {
    const cause = refusal('EMFILE', 'recvmsg')
    connect(() => {
      throw cause
    })
    channel.look()
    expect(channel.departure).toMatchObject({ ...BROKEN, cause })
  })

  test('in the middle of a send ends the connection', () => {
    const cause = refusal('ENOBUFS', 'sendmsg')
    connect(flood(), () => {
      throw cause
    })
    expect(read).toThrow(expect.objectContaining({ ...BROKEN, cause }))
    expect(channel.departure).toMatchObject(BROKEN)
    expect(taken).toBe(0)
  })
})
