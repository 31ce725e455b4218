import { readdirSync, readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  BAR0,
  DATA_BOOL,
  DATA_EVENTFD,
  DATA_NONE,
  DirectClient,
  EINVAL,
  ENOTSUP,
  GET_IRQ_INFO,
  INTX,
  MASK,
  MSIX,
  SET_IRQS,
  TRIGGER,
  UNMASK,
  words,
} from '../../test/vfio-user/direct-client.js'
import { deriveProfile } from '../profiles/index.js'
import { CompletionQueue } from '../queues/queue.js'
import { eventfdsOf } from './eventfds.js'

/** A client of a controller with four vectors: three I/O queue pairs and the Admin queue. */
function connected(): DirectClient {
  return new DirectClient({ profile: deriveProfile('ideal', { ioQueuePairs: 3 }) }).agree()
}

/** Returns a completion queue; only its identifier matters. */
const queue = (qid: number) => new CompletionQueue(qid, 16, 0, [new Uint8Array(256)])

/** Reports a posted completion queue entry of a vector to the interrupt logic. */
function post(client: DirectClient, vector: number): void {
  const { interrupts } = client.served.device
  const counted = interrupts.vector(vector)!
  counted.waiting++
  interrupts.posted(counted, queue(vector), false)
  client.run()
}

/** Releases all completion queue entries of vector 0. */
function release(client: DirectClient): void {
  const { interrupts } = client.served.device
  interrupts.vector(0)!.waiting = 0
  interrupts.released()
}

/** Disables closing descriptors of rejected messages: the fake's numbers are not descriptors of this process. */
function withoutClosing(client: DirectClient): void {
  const { message } = client as unknown as { message: { descriptors: number[]; closeDescriptors(): void } }
  message.closeDescriptors = () => void message.descriptors.splice(0)
}

const setEventfds = DATA_EVENTFD | TRIGGER
const disable = DATA_NONE | TRIGGER

describe('DEVICE_GET_IRQ_INFO', () => {
  it.each([
    ['INTx: one interrupt, auto-masked', 0, 0b111, 1],
    ['MSI: none', 1, 0, 0],
    ['MSI-X: a vector for each queue pair', 2, 1, 4],
    ['errors: none', 3, 0, 0],
    ['requests: none', 4, 0, 0],
  ])('%s', (_name, index, flags, count) => {
    const { errno, data } = connected().ask(GET_IRQ_INFO, words([32, 16], [32, 0], [32, index], [32, 0]))
    expect(errno).toBe(0)
    expect([0, 4, 8, 12].map((at) => data.getUint32(at, true))).toEqual([16, flags, index, count])
  })

  it('rejects an unknown interrupt index with EINVAL', () => {
    expect(connected().ask(GET_IRQ_INFO, words([32, 16], [32, 0], [32, 5], [32, 0])).errno).toBe(EINVAL)
  })
})

describe('MSI-X', () => {
  it('signals the eventfd of a vector; a vector without one stays pending and signals once an eventfd is set', () => {
    const client = connected()
    const [first, second] = client.eventfds.make(2)
    expect(client.irqs(setEventfds, MSIX, 1, 1, [first!])).toBe(0)
    post(client, 1)
    post(client, 2)
    expect(client.eventfds.signals).toEqual([first])
    expect(client.read32(BAR0, 0x3000)).toBe(0b100)
    expect(client.irqs(setEventfds, MSIX, 2, 1, [second!])).toBe(0)
    client.run()
    expect(client.eventfds.signals).toEqual([first, second])
    expect(client.read32(BAR0, 0x3000)).toBe(0)
  })

  it('signals once for all entries posted in one turn', () => {
    const client = connected()
    const [only] = client.eventfds.make()
    client.irqs(setEventfds, MSIX, 0, 1, [only!])
    const { interrupts } = client.served.device
    for (let i = 0; i < 5; i++) interrupts.posted(interrupts.vector(0)!, queue(0), false)
    client.run()
    expect(client.eventfds.signals).toEqual([only])
    expect(interrupts.fired[0]).toBe(5)
  })

  it('replaces the eventfd of a vector and closes the previous one', () => {
    const client = connected()
    const [first, second] = client.eventfds.make(2)
    client.irqs(setEventfds, MSIX, 0, 1, [first!])
    client.irqs(setEventfds, MSIX, 0, 1, [second!])
    post(client, 0)
    expect(client.eventfds).toMatchObject({ closed: [first], signals: [second] })
  })

  it('DATA_EVENTFD without descriptors removes the eventfds; MSI-X stays enabled', () => {
    const client = connected()
    const four = client.eventfds.make(4)
    client.irqs(setEventfds, MSIX, 0, 4, four)
    expect(client.irqs(setEventfds, MSIX, 1, 2)).toBe(0)
    for (const vector of [0, 1, 2, 3]) post(client, vector)
    expect(client.eventfds).toMatchObject({ closed: four.slice(1, 3), signals: [four[0], four[3]] })
    expect(client.served.device.pci.isMessageSignaled).toBe(true)
  })

  it('DATA_NONE with a count of 0 closes all eventfds and disables MSI-X', () => {
    const client = connected()
    const four = client.eventfds.make(4)
    client.irqs(setEventfds, MSIX, 0, 4, four)
    expect(client.irqs(disable, MSIX, 0, 0)).toBe(0)
    expect(client.eventfds.closed).toEqual(four)
    expect(client.served.device.pci.isMessageSignaled).toBe(false)
  })

  it('keeps a masked vector pending until it is unmasked', () => {
    const client = connected()
    const [only] = client.eventfds.make()
    client.irqs(setEventfds, MSIX, 3, 1, [only!])
    expect(client.irqs(DATA_NONE | MASK, MSIX, 3, 1)).toBe(0)
    post(client, 3)
    expect(client.eventfds.signals).toEqual([])
    expect(client.irqs(DATA_NONE | UNMASK, MSIX, 3, 1)).toBe(0)
    client.run()
    expect(client.eventfds.signals).toEqual([only])
  })

  it('triggers a range of vectors (DATA_NONE), or those with a nonzero byte (DATA_BOOL)', () => {
    const client = connected()
    const four = client.eventfds.make(4)
    client.irqs(setEventfds, MSIX, 0, 4, four)
    expect(client.irqs(DATA_NONE | TRIGGER, MSIX, 1, 2)).toBe(0)
    client.run()
    expect(client.eventfds.signals.splice(0)).toEqual(four.slice(1, 3))
    const fields = words([32, 24], [32, DATA_BOOL | TRIGGER], [32, MSIX], [32, 0], [32, 4])
    expect(client.ask(SET_IRQS, Buffer.concat([fields, Uint8Array.of(1, 0, 0, 7)])).errno).toBe(0)
    client.run()
    expect(client.eventfds.signals).toEqual([four[0], four[3]])
  })

  it('keeps its eventfds across DEVICE_RESET', () => {
    const client = connected()
    const [only] = client.eventfds.make()
    client.irqs(setEventfds, MSIX, 0, 1, [only!])
    expect(client.ask(13).errno).toBe(0)
    post(client, 0)
    expect(client.eventfds.signals).toEqual([only])
  })

  it('closes all eventfds when the client disconnects', () => {
    const client = connected()
    const four = client.eventfds.make(4)
    client.irqs(setEventfds, MSIX, 0, 4, four)
    client.reconnect()
    expect(client.eventfds.closed).toEqual(four)
    post(client, 0)
    expect(client.eventfds.signals).toEqual([])
  })
})

describe('INTx', () => {
  it('signals when it becomes active, masks itself, and signals again when it is unmasked and still active', () => {
    const client = connected()
    const [pin] = client.eventfds.make()
    expect(client.irqs(setEventfds, INTX, 0, 1, [pin!])).toBe(0)
    post(client, 0)
    post(client, 0)
    expect(client.eventfds.signals).toEqual([pin])
    expect(client.irqs(DATA_NONE | UNMASK, INTX, 0, 1)).toBe(0)
    client.run()
    expect(client.eventfds.signals).toEqual([pin, pin])
    release(client)
    client.irqs(DATA_NONE | UNMASK, INTX, 0, 1)
    client.run()
    expect(client.eventfds.signals).toHaveLength(2)
    post(client, 0)
    expect(client.eventfds.signals).toHaveLength(3)
  })

  it('does not signal while masked, and signals at once if it is active when its eventfd is set', () => {
    const client = connected()
    post(client, 0)
    const [pin] = client.eventfds.make()
    client.irqs(setEventfds, INTX, 0, 1, [pin!])
    client.run()
    expect(client.eventfds.signals.splice(0)).toEqual([pin])
    release(client)
    client.irqs(DATA_NONE | MASK, INTX, 0, 1)
    post(client, 0)
    expect(client.eventfds.signals).toEqual([])
    expect(client.irqs(disable, INTX, 0, 0)).toBe(0)
    expect(client.eventfds.closed).toEqual([pin])
  })

  it('can be unmasked by an eventfd, as hypervisors do', () => {
    const client = connected()
    const [pin, unmask] = client.eventfds.make(2)
    client.irqs(setEventfds, INTX, 0, 1, [pin!])
    expect(client.irqs(DATA_EVENTFD | UNMASK, INTX, 0, 1, [unmask!])).toBe(0)
    post(client, 0)
    post(client, 0)
    expect(client.eventfds.signals).toEqual([pin])
    expect(client.unmaskPin()).toBe(unmask)
    expect(client.eventfds).toMatchObject({ signals: [pin, pin], drained: [unmask] })
    expect(client.irqs(disable, INTX, 0, 0)).toBe(0)
    expect(client.eventfds.closed).toEqual([pin, unmask])
  })

  it('does not signal while MSI-X is enabled', () => {
    const client = connected()
    const [pin, message] = client.eventfds.make(2)
    client.irqs(setEventfds, INTX, 0, 1, [pin!])
    client.irqs(setEventfds, MSIX, 0, 1, [message!])
    post(client, 0)
    expect(client.eventfds.signals).toEqual([message])
  })
})

describe('DEVICE_SET_IRQS is rejected', () => {
  it.each([
    ['without data or action', 0, MSIX, 0, 1, 0, EINVAL],
    ['with two kinds of data', DATA_NONE | DATA_BOOL | TRIGGER, MSIX, 0, 1, 0, EINVAL],
    ['with two actions', DATA_NONE | MASK | UNMASK, MSIX, 0, 1, 0, EINVAL],
    ['with unknown flags', DATA_NONE | TRIGGER | 64, MSIX, 0, 1, 0, EINVAL],
    ['for vectors that do not exist', setEventfds, MSIX, 3, 2, 2, EINVAL],
    ['for a start after the last vector', disable, MSIX, 4, 0, 0, EINVAL],
    ['for a start and count whose sum overflows', setEventfds, MSIX, 1, 0xffff_ffff, 1, EINVAL],
    ['for an index without interrupts', setEventfds, 1, 0, 1, 1, EINVAL],
    ['for an unknown index', disable, 99, 0, 0, 0, EINVAL],
    ['with fewer descriptors than vectors', setEventfds, MSIX, 0, 3, 2, EINVAL],
    ['with more descriptors than vectors', setEventfds, MSIX, 0, 1, 2, EINVAL],
    ['with descriptors that its flags do not announce', DATA_NONE | TRIGGER, MSIX, 0, 1, 1, EINVAL],
    ['with a count of 0 and another action', DATA_NONE | MASK, MSIX, 0, 0, 0, EINVAL],
    ['with fewer bytes than vectors', DATA_BOOL | TRIGGER, MSIX, 0, 4, 0, EINVAL],
    ['to mask by eventfd', DATA_EVENTFD | MASK, INTX, 0, 1, 1, ENOTSUP],
    ['to unmask a vector by eventfd', DATA_EVENTFD | UNMASK, MSIX, 0, 1, 1, ENOTSUP],
  ])('%s', (_name, flags, index, start, count, descriptors, errno) => {
    const client = connected()
    const beside = client.eventfds.make(descriptors)
    withoutClosing(client)
    expect(client.irqs(flags, index, start, count, beside)).toBe(errno)
    expect(client.diagnostics.entries).toHaveLength(1)
    expect(client.served.device.pci.isMessageSignaled).toBe(false)
  })

  it('with descriptors that are not eventfds: a pipe could block the server', () => {
    const client = connected()
    client.eventfds.isOne = () => false
    withoutClosing(client)
    expect(client.irqs(setEventfds, MSIX, 0, 1, client.eventfds.make())).toBe(EINVAL)
    expect(client.diagnostics.entries).toMatchObject([
      { code: 'client-message', text: 'client sent DEVICE_SET_IRQS: a descriptor is not an eventfd' },
    ])
  })
})

it('eventfds are signalled and drained by the native host module', () => {
  const calls: string[] = []
  const eventfds = eventfdsOf({
    signalEventfd: (fd) => void calls.push(`signal ${fd}`),
    drainEventfd: (fd) => calls.push(`drain ${fd}`) === 0,
  })
  eventfds.signal(7)
  eventfds.drain(8)
  expect(calls).toEqual(['signal 7', 'drain 8'])
})

it('isOne distinguishes an eventfd from any other descriptor', () => {
  const unused = () => {
    throw new TypeError('must not be called')
  }
  const eventfds = eventfdsOf({ signalEventfd: unused, drainEventfd: unused })
  const links = readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [[Number(name), readlinkSync(`/proc/self/fd/${name}`)] as const]
    } catch {
      // The descriptor that readdirSync used.
      return []
    }
  })
  // The event loop of this process uses at least one.
  const ones = links.filter(([, link]) => link === 'anon_inode:[eventfd]')
  expect(ones.length).toBeGreaterThan(0)
  expect(ones.every(([descriptor]) => eventfds.isOne(descriptor))).toBe(true)
  const others = links.filter(([, link]) => link !== 'anon_inode:[eventfd]')
  expect(others.some(([descriptor]) => eventfds.isOne(descriptor))).toBe(false)
})
