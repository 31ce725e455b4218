import { openSync } from 'node:fs'
import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refusal } from '../../../test/fake-hardware-host.js'
import { Channel } from './channel.js'
import { VfioUserLostError } from './errors.js'

const REGION_READ = 9
/** A request of a target for memory, DMA_READ, that wants no answer: 16 bytes, of which there are no data. */
const request = Buffer.from('07000b00100000001000000000000000', 'hex')
/** What no bounded wait comes near to: a loop without an end is an error of the test in place of a test without one. */
const ENDLESS = 5_000_000
/** A machine that is busy must not be taken for a silent target. */
const LIMIT_NS = 60_000_000_000
const SILENT = { code: 'ERR_GPUNVME_VFIO_USER_LOST', reason: 'silent' }
const BROKEN = { code: 'ERR_GPUNVME_VFIO_USER_LOST', reason: 'broken' }

let taken = 0
let departures = 0
let sent: Buffer[] = []
let channel: Channel

/** A target of which `receive` is what it says, and which has always something to say. */
function connect(receive: (into: Uint8Array) => number, send: SocketHost['send'] = keep, limitNs = LIMIT_NS): void {
  const host = {
    poll: () => 1,
    receive(_: number, into: Uint8Array) {
      if (++taken > ENDLESS) throw new Error('there is no end to it')
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

/** Requests, one after another, for as long as somebody reads. */
function flood(): (into: Uint8Array) => number {
  let at = 0
  return (into) => {
    const part = request.subarray(at, at + into.length)
    into.set(part)
    at = (at + part.length) % request.length
    return part.length
  }
}

const read = () => channel.ask('REGION_READ', new Uint8Array(16), { leastBytes: 20, mostBytes: 20 })

beforeEach(() => {
  taken = departures = 0
  sent = []
})
afterEach(() => {
  channel.close()
})

describe('a target that asks on and on', () => {
  test('is silent to what it was asked itself, when the time is over', () => {
    connect(flood(), keep, 20_000_000)
    expect(read).toThrow(expect.objectContaining(SILENT))
    expect([departures, sent.length]).toEqual([1, 1])
    expect(sent[0]!.readUInt16LE(2)).toBe(REGION_READ)
  })

  test('holds up a look for a number of messages, and stays', () => {
    connect(flood())
    channel.look()
    expect(taken).toBe(64)
    channel.look()
    expect(taken).toBe(128)
    expect(channel.departure).toBeUndefined()
  })
})

describe('an answer', () => {
  /** Returns an answer of zeroes behind its header; the first command has number 1. */
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

describe('what this process cannot take or send all of', () => {
  test.each(['EMFILE', 'ENOMEM', 'ENOTCONN'])('%s in the middle of a message ends the connection', (code) => {
    const cause = refusal(code, 'recvmsg')
    connect((into) => {
      // The header of an answer with 20 bytes, of which nothing comes.
      if (taken > 1) throw cause
      into.set(Buffer.from('01000900240000000100000000000000', 'hex'))
      return 16
    })
    expect(read).toThrow(expect.objectContaining({ ...BROKEN, cause }))
    expect(channel.departure).toBeInstanceOf(VfioUserLostError)
    expect(departures).toBe(1)
    // What comes is taken for nothing any more.
    expect(read).toThrow(channel.departure!)
    expect([taken, sent.length]).toEqual([2, 1])
  })

  test('a look that cannot take what has come ends the connection, and throws nothing', () => {
    const cause = refusal('EMFILE', 'recvmsg')
    connect(() => {
      throw cause
    })
    channel.look()
    expect(channel.departure).toMatchObject({ ...BROKEN, cause })
  })

  test('a send that stops in the middle ends the connection', () => {
    const cause = refusal('ENOBUFS', 'sendmsg')
    connect(flood(), () => {
      throw cause
    })
    expect(read).toThrow(expect.objectContaining({ ...BROKEN, cause }))
    expect(channel.departure).toMatchObject(BROKEN)
    expect(taken).toBe(0)
  })
})
