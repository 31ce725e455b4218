import { openSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FakeEventfds, words } from '../../test/vfio-user/direct-client.js'
import { FakeHost, isOpen, systemError, unnamedFile, type Sent } from '../../test/vfio-user/fake-host.js'
import { textsOf } from '../../test/diagnostics.js'
import { Diagnostics } from '../controller/diagnostics.js'
import { Namespaces } from '../nvm/namespaces.js'
import { profileOf } from '../profiles/index.js'
import { CompletionQueue } from '../queues/queue.js'
import { WallClock } from '../realtime/wall-clock.js'
import { CLOSING, REQUESTS, STATE } from './options.js'
import { ServedController } from './served-controller.js'
import { ServerLoop } from './server-loop.js'

/** The system clock; only tests advance it. */
let nowMs = 0
vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
afterEach(() => void (nowMs = 0))
const later = (ms: number) => () => void (nowMs += ms)

const [VERSION, DMA_MAP, SET_IRQS, REGION_READ, GET_INFO] = [1, 2, 8, 9, 4]

function message(command: number, data: Uint8Array = new Uint8Array(), id = 1, flags = 0): Uint8Array {
  return Buffer.concat([words([16, id], [16, command], [32, 16 + data.length], [32, flags], [32, 0]), data])
}

const version = message(VERSION, words([16, 0], [16, 1]))
const getInfo = message(GET_INFO, new Uint8Array(16), 7)

/** Runs a server loop: performs the next step whenever the loop is idle, then ends it. */
function run(
  steps: readonly ((parts: ReturnType<typeof build>) => void)[],
  options: { readonly mappedDoorbells?: boolean; readonly spinPolls?: number } = {},
) {
  const left = [...steps]
  const parts = build(options, () => {
    const step = left.shift()
    if (step !== undefined) step(parts)
    else Atomics.store(parts.control, STATE, CLOSING)
  })
  parts.loop.run()
  parts.loop.close()
  return parts
}

function build(options: { readonly mappedDoorbells?: boolean; readonly spinPolls?: number }, next: () => void) {
  const host = new FakeHost(next)
  const control = new Int32Array(new SharedArrayBuffer(8))
  const clock = new WallClock()
  const diagnostics = new Diagnostics(clock)
  const eventfds = new FakeEventfds()
  const questions: number[] = []
  const served = new ServedController({
    ...{ host, clock, namespaces: new Namespaces([{ capacityBytes: 2 ** 20 }]), profile: profileOf('ideal') },
    ...{ diagnostics, faults: undefined, seed: 1, trace: undefined, eventfds },
    mappedDoorbells: options.mappedDoorbells ?? false,
  })
  const loop = new ServerLoop({
    ...{ host, listener: 0, control, wake: 0, clock, diagnostics },
    idle: { spinPolls: options.spinPolls ?? 500, pollsPerYield: 4, minSleepNs: 1, maxSleepNs: 1 },
    welcome: () => served.welcome(),
    answer: () => questions.push(loop.messages),
  })
  return { host, control, clock, diagnostics, eventfds, served, loop, questions }
}

const arrive = ({ host }: ReturnType<typeof build>) => host.arrive()
const send = (bytes: Uint8Array, descriptors: readonly number[] = []) => give({ bytes, descriptors })
const give = (sent: Sent) => (parts: ReturnType<typeof build>) => parts.host.give(sent)
const idsOf = (host: FakeHost) => host.answers.map(({ bytes }) => new DataView(bytes.buffer).getUint16(0, true))
const errnosOf = (host: FakeHost) => host.answers.map(({ bytes }) => new DataView(bytes.buffer).getUint32(12, true))

describe('the loop', () => {
  it('answers each message of a client, and counts clients and messages', () => {
    const { host, loop } = run([arrive, send(Buffer.concat([version, getInfo])), send(getInfo)])
    expect(idsOf(host)).toEqual([1, 7, 7])
    expect(errnosOf(host)).toEqual([0, 0, 0])
    expect([loop.clients, loop.messages, loop.connected]).toEqual([1, 3, false])
  })

  it('serves the next client after one disconnects, and keeps no state of the first', () => {
    const { host, loop, diagnostics } = run([
      arrive,
      send(version),
      give('end'),
      arrive,
      send(getInfo),
      // This client is disconnected: it did not start with VERSION.
      arrive,
      send(version),
    ])
    expect(errnosOf(host)).toEqual([0, 22, 0])
    expect(loop.clients).toBe(3)
    expect(textsOf(diagnostics.entries)).toEqual([
      'client sent DEVICE_GET_INFO: expected VERSION first; client disconnected',
    ])
  })

  it('runs due events and signals interrupts before it sleeps', () => {
    const { eventfds } = run([
      arrive,
      send(version),
      ({ eventfds: own, host }) => {
        const [only] = own.make()
        const data = words([32, 20], [32, 0x24], [32, 2], [32, 0], [32, 1])
        host.give({ bytes: message(SET_IRQS, data), descriptors: [only!] })
      },
      ({ served, clock }) => {
        const { interrupts } = served.device
        const queue = new CompletionQueue(0, 16, 0, [new Uint8Array(256)])
        clock.schedule(0, () => interrupts.posted(interrupts.vector(0)!, queue, false))
      },
    ])
    expect(eventfds.signals).toEqual([1000])
  })

  it('answers questions of the main thread, with and without a client', () => {
    const ask = ({ control }: ReturnType<typeof build>) => void Atomics.add(control, REQUESTS, 1)
    expect(run([ask, arrive, send(version), ask]).questions).toEqual([0, 1])
  })

  it('polls mapped doorbells `spinPolls` times before it sleeps', () => {
    const steps = [arrive, send(version)]
    // It sleeps once before the client connects, then before each of the next two steps unless it is still polling.
    expect(run(steps).host.polls).toBe(3)
    expect(run(steps, { mappedDoorbells: true, spinPolls: 1_000_000 }).host.polls).toBe(1)
    expect(run(steps, { mappedDoorbells: true, spinPolls: 2 }).host.polls).toBe(3)
  })
})

describe('disconnects a client and serves the next one', () => {
  const nextIsServed = [arrive, send(version)]

  it.each([
    [
      'after a message size below the minimum',
      message(4).fill(0, 4, 8),
      'expected a message of 16 to 1048608 bytes, got 0',
    ],
    [
      'after a message size above the maximum',
      message(4).fill(255, 4, 8),
      'expected a message of 16 to 1048608 bytes, got 4294967295',
    ],
  ])('%s', (_name, bytes, why) => {
    const { host, diagnostics, loop } = run([arrive, send(Buffer.concat([version, bytes])), ...nextIsServed])
    expect(errnosOf(host)).toEqual([0, 22, 0])
    expect(textsOf(diagnostics.entries)).toEqual([`client sent DEVICE_GET_INFO: ${why}; client disconnected`])
    expect(loop.clients).toBe(2)
  })

  it('if it does not receive a reply in time', () => {
    const { host, diagnostics } = run([
      arrive,
      ({ host: own }) => {
        own.sendFails = systemError('ETIMEDOUT')
        own.give({ bytes: version })
      },
      ({ host: own }) => {
        own.sendFails = undefined
        own.arrive()
      },
      send(version),
    ])
    expect(errnosOf(host)).toEqual([0])
    expect(textsOf(diagnostics.entries)).toEqual(['client disconnected: cannot send a reply: ETIMEDOUT: it failed'])
  })

  it('if receiving fails with EMSGSIZE', () => {
    const { host, diagnostics } = run([arrive, give(systemError('EMSGSIZE')), ...nextIsServed])
    expect(errnosOf(host)).toEqual([0])
    expect(diagnostics.entries).toMatchObject([
      { code: 'client-disconnected', text: 'client disconnected: EMSGSIZE: it failed' },
    ])
  })

  it('if it truncates memory that it has mapped; the next client is not blamed for it', () => {
    const cut = ({ host }: ReturnType<typeof build>) => {
      host.lostBytes += 4096
      host.give({ bytes: getInfo })
    }
    const { diagnostics, loop, host } = run([arrive, send(version), cut, ...nextIsServed, send(getInfo), send(getInfo)])
    expect(textsOf(diagnostics.entries)).toEqual(['client disconnected: it truncated memory that it had mapped'])
    expect(errnosOf(host)).toEqual([0, 0, 0, 0, 0])
    expect(loop.clients).toBe(2)
  })

  it('if the connection ends inside a message, and closes the descriptors of that message', () => {
    const whole = message(DMA_MAP, words([32, 32], [32, 3], [64, 0], [64, 0x1000], [64, 0x1000]))
    for (let cut = 1; cut < whole.length; cut++) {
      const beside = unnamedFile(4096)
      const { host, loop } = run([
        arrive,
        send(version),
        send(whole.subarray(0, cut), [beside]),
        give('end'),
        ...nextIsServed,
      ])
      expect(isOpen(beside)).toBe(false)
      expect([errnosOf(host), loop.clients]).toEqual([[0, 0], 2])
    }
  })

  it('and discards the rest of the bytes received from the first one', () => {
    const bad = message(4).fill(0, 4, 8)
    const { host } = run([arrive, send(Buffer.concat([version, bad, getInfo, getInfo])), ...nextIsServed])
    expect(idsOf(host)).toEqual([1, 1, 1])
  })
})

it('closes descriptors sent with a message that uses none', () => {
  const beside = [1, 2, 3].map(() => openSync('/dev/null', 'r'))
  const read = message(REGION_READ, words([64, 8], [32, 0], [32, 4]))
  const { host } = run([arrive, send(version), send(read, beside)])
  expect(errnosOf(host)).toEqual([0, 0])
  expect(beside.filter(isOpen)).toEqual([])
})

it('rejects descriptors whose file system could block the thread', () => {
  const { host } = run([arrive, send(version)])
  expect([...host.kinds]).toEqual(['memory-and-eventfds'])
})

describe('a flood of messages', () => {
  const flood = Buffer.concat([version, ...Array.from({ length: 10_000 }, () => getInfo)])

  /** Sends the messages at once and calls `happens` while the hundredth reply is sent. */
  const floodUntil = (happens: (parts: ReturnType<typeof build>) => void) =>
    run([
      arrive,
      (parts) => {
        parts.host.give({ bytes: flood })
        parts.host.onSend = () => {
          if (parts.host.answers.length === 99) happens(parts)
        }
      },
    ])

  it('is answered completely and does not delay a question of the main thread', () => {
    const { host, loop, questions } = floodUntil(({ control }) => void Atomics.add(control, REQUESTS, 1))
    expect(questions).toEqual([100])
    expect(host.answers).toHaveLength(10_001)
    expect(loop.messages).toBe(10_001)
  })

  it('is abandoned when the server is closed', () => {
    const { host } = floodUntil(({ control }) => Atomics.store(control, STATE, CLOSING))
    expect(host.answers).toHaveLength(100)
  })

  it('does not delay due events', () => {
    let answersBefore = 0
    const { host } = floodUntil((parts) => parts.clock.schedule(0, () => (answersBefore = parts.host.answers.length)))
    expect(host.answers).toHaveLength(10_001)
    expect(answersBefore).toBe(128)
  })

  it('disconnects the client when all its replies together have been delayed too long', () => {
    const limits: number[] = []
    const { host, diagnostics } = run([
      arrive,
      ({ host: own }) => {
        own.give({ bytes: flood })
        own.onSend = (timeoutNs) => {
          limits.push(timeoutNs)
          if (timeoutNs < 300e6) throw systemError('ETIMEDOUT')
          nowMs += 300
        }
      },
    ])
    expect(limits).toEqual([1000e6, 700e6, 400e6, 100e6])
    expect(host.answers).toHaveLength(3)
    expect(textsOf(diagnostics.entries)).toEqual(['client disconnected: cannot send a reply: ETIMEDOUT: it failed'])
  })

  it('does not disconnect a client that was slow before but receives its replies', () => {
    const slow = ({ host }: ReturnType<typeof build>) => {
      host.give({ bytes: getInfo })
      host.onSend = later(700)
    }
    const { diagnostics, host } = run([arrive, send(version), slow, slow, slow, send(getInfo)])
    expect(host.answers).toHaveLength(5)
    expect(diagnostics.entries).toEqual([])
  })
})

describe('serves other clients', () => {
  it('after disconnecting a client that does not complete its first message in time', () => {
    const nothing = () => undefined
    for (const first of [nothing, send(version.subarray(0, 17))]) {
      const { diagnostics, host, loop } = run([arrive, first, later(11_000), nothing, arrive, send(version), nothing])
      expect(textsOf(diagnostics.entries)).toEqual(['client disconnected: it did not negotiate a version in time'])
      expect([loop.clients, errnosOf(host)]).toEqual([2, [0]])
    }
  })

  it('but lets a client stay silent after it has negotiated a version', () => {
    const { diagnostics, loop } = run([arrive, send(version), later(11_000), later(11_000), send(getInfo)])
    expect(diagnostics.entries).toEqual([])
    expect([loop.clients, loop.messages]).toEqual([1, 2])
  })

  it('after a pause if accept fails with EMFILE', () => {
    const { host, diagnostics, loop } = run([
      (parts) => {
        parts.host.acceptFails = systemError('EMFILE')
        parts.host.arrive()
      },
      // The loop does not accept again immediately.
      ({ host: own }) => (own.acceptFails = undefined),
      later(1100),
      send(version),
    ])
    expect(errnosOf(host)).toEqual([0])
    expect(diagnostics.entries).toMatchObject([
      { code: 'server-resources', text: 'cannot serve a client: EMFILE: it failed' },
    ])
    expect(loop.clients).toBe(1)
  })

  it('after a pause if doorbells cannot be mapped', () => {
    let map: FakeHost['mapForeign']
    const { host, diagnostics, loop } = run(
      [
        ({ host: own }) => {
          map = own.mapForeign.bind(own)
          own.mapForeign = () => {
            throw systemError('ENOSPC')
          }
          own.arrive()
        },
        ({ host: own }) => (own.mapForeign = map),
        later(1100),
        arrive,
        send(version),
        // It polls doorbells several times before it polls for messages.
        ...Array.from({ length: 100 }, () => () => undefined),
      ],
      { mappedDoorbells: true },
    )
    expect(errnosOf(host)).toEqual([0])
    expect(textsOf(diagnostics.entries)).toEqual(['cannot serve a client: ENOSPC: it failed'])
    expect(loop.clients).toBe(1)
  })

  it('but not after a programming error, which is thrown', () => {
    const fail = ({ host }: ReturnType<typeof build>) => {
      host.acceptFails = new TypeError('wrong')
      host.arrive()
    }
    expect(() => run([fail])).toThrow('wrong')
  })
})
