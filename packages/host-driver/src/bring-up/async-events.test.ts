import { IdentifyController } from '@gpunvme/nvme-spec'
import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import type { Session } from './session.js'
import type { CommandQueue } from '../commands/command-queue.js'
import { Controller } from '../controller.js'
import { AsyncEvents } from './async-events.js'
import type { ControllerEvent } from '../events/controller-event.js'

test('reports a lasting critical warning once, and a further one once', async () => {
  const simulation = simulate({ profile: 'ideal' })
  const ctrl = await Controller.open(simulation.transport)
  const seen: ControllerEvent[] = []
  const watching = (async () => {
    for await (const event of ctrl.events()) seen.push(event)
  })()
  const pass = async () => {
    for (let read = 0; read < 20; read++) await ctrl.namespace(1).readBytes(0, 512)
    await ctrl.smartLog()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  // Available Spare below its threshold: bit 0 of the Critical Warning (Base 2.1 Figure 207).
  simulation.setHealth({ availableSparePercent: 9 })
  await pass()
  // Composite Temperature at or above the critical one: bit 1.
  simulation.setHealth({ temperatureKelvins: 400 })
  await pass()
  await ctrl.close()
  await watching
  expect(seen.map((event) => (event.kind === 'health' ? event.criticalWarning : event))).toEqual([1, 3])
})

/** A session whose Admin queue holds every request; other commands complete when `commands` resolves. */
function holding(commands: Promise<void>) {
  const held: ((status: number, dw0: number) => void)[] = []
  const room = { entries: Infinity }
  const queue = {
    hold: (_command: unknown, _values: unknown, arrived: (status: number, dw0: number) => void) =>
      held.length < room.entries && held.push(arrived) > 0,
    execute: () => Promise.resolve(0),
    executeForData: () => Promise.resolve(new DataView(new ArrayBuffer(4096))),
  } as unknown as CommandQueue
  const identity = { raw: IdentifyController.create({}).data, eventRequests: 256 }
  const session = { identity, admin: queue } as unknown as Session
  const emitted: ControllerEvent[] = []
  const events = new AsyncEvents({
    admin: async (run) => {
      await commands
      return run(queue)
    },
    emit: (event) => emitted.push(event),
    now: () => 0,
    namespacesChanged: () => Promise.resolve(),
    namespacesOutdated: () => undefined,
  })
  return { held, room, session, emitted, events }
}

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

test('handles events of four log pages at a time, and requests the next events afterwards', async () => {
  let answer!: () => void
  const { held, session, emitted, events } = holding(new Promise((resolve) => (answer = resolve)))
  await events.apply(session)
  let reported = 0
  for (; held.length > 0 && reported < 100; reported++) held.shift()!(0, reported << 16)
  expect([reported, emitted.length]).toEqual([4, 0])
  answer()
  await settle()
  expect([held.length, emitted.length]).toEqual([4, 4])
  await events.stop()
})

test('sends a request that found the Admin queue full when events are polled next', async () => {
  const { held, room, session, events } = holding(Promise.resolve())
  room.entries = 1
  await events.apply(session)
  expect([held.length, events.isHoldingBack]).toEqual([1, true])
  room.entries = Infinity
  events.resume()
  await settle()
  expect([held.length, events.isHoldingBack]).toEqual([4, false])
  await events.stop()
})

test('submits no request for an event from before a reset', async () => {
  let answer!: () => void
  const { held, session, emitted, events } = holding(new Promise((resolve) => (answer = resolve)))
  await events.apply(session)
  for (const [lid, arrived] of held.splice(0).entries()) arrived(0, lid << 16)
  await events.apply(session)
  answer()
  await settle()
  expect([held.length, emitted.length]).toEqual([4, 4])
  await events.stop()
})

test('reports an event after which no other can be requested, and the failure', async () => {
  let fail!: (error: Error) => void
  const { held, session, emitted, events } = holding(new Promise((_, reject) => (fail = reject)))
  await events.apply(session)
  held.shift()!(0, 0)
  await settle()
  fail(new Error('the transport is closed'))
  await events.stop()
  expect(emitted.map((event) => 'text' in event && event.text)).toEqual([
    expect.stringMatching(/it could not be handled: the transport is closed$/),
    'No further event can be requested: the transport is closed',
  ])
})
