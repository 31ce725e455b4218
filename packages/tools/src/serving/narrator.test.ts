import { expect, test, vi } from 'vitest'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import type { Counters } from './counters.js'
import { Narrator } from './narrator.js'

const none: Counters = {
  ...{ clients: 0, connected: false, adminCommands: {}, ioCommands: {} },
  ...{ errors: 0, bytesRead: 0, bytesWritten: 0, queueDepth: 0, faultsInjected: 0 },
}

/** Returns the lines for a sequence of counters and mistakes. */
function linesOf(
  ...samples: readonly { readonly counters?: Partial<Counters>; readonly mistakes?: readonly string[] }[]
) {
  const output = new Output({}, testIo())
  const lines: string[] = []
  vi.spyOn(output, 'note').mockImplementation((...more) => void lines.push(...more.flat()))
  const narrator = new Narrator(output, { atMs: 0, counters: none }, false)
  for (const [index, { counters, mistakes = [] }] of samples.entries()) {
    const diagnostics = mistakes.map((text) => ({ code: 'doorbell-value', timeNs: 0, text }) as const)
    narrator.update({ atMs: 1000 * (index + 1), counters: { ...none, ...counters } }, diagnostics)
  }
  return lines
}

test('a client is reported on connection and disconnection, with its commands', () => {
  const busy = { clients: 1, connected: true, adminCommands: { 6: 3 }, ioCommands: { 2: 7 } }
  expect(
    linesOf(
      {},
      { counters: { clients: 1, connected: true, adminCommands: { 6: 1 } } },
      { counters: busy },
      { counters: { ...busy, connected: false } },
      { counters: { ...busy, connected: false } },
      { counters: { ...busy, clients: 2 } },
    ),
  ).toEqual(['Client 1 connected', 'Client 1 disconnected: 10 commands, 0 errors', 'Client 2 connected'])
})

test('clients that connected and disconnected between two samples are reported with their commands', () => {
  expect(
    linesOf(
      { counters: { clients: 1, adminCommands: { 6: 14 }, errors: 1, faultsInjected: 1 } },
      { counters: { clients: 4, adminCommands: { 6: 20 }, errors: 1, faultsInjected: 1 } },
    ),
  ).toEqual([
    'Client 1 connected and disconnected: 14 commands, 1 error, 1 fault injected',
    'Faults injected: 1',
    'Clients 2 to 4 connected and disconnected: 6 commands, 0 errors',
  ])
})

test('commands of several clients between two samples are reported together', () => {
  expect(
    linesOf(
      { counters: { clients: 1, connected: true } },
      { counters: { clients: 3, connected: true, ioCommands: { 2: 9 } } },
      { counters: { clients: 3, ioCommands: { 2: 11 } } },
    ),
  ).toEqual([
    'Client 1 connected',
    'Clients 1 to 2 connected and disconnected: 9 commands, 0 errors, including client 3',
    'Client 3 connected',
    'Client 3 disconnected: 2 commands, 0 errors',
  ])
})

test('a client that is connected at the end is reported as disconnected', () => {
  const [output, lines] = [new Output({}, testIo()), [] as string[]]
  vi.spyOn(output, 'note').mockImplementation((...more) => void lines.push(...more.flat()))
  const narrator = new Narrator(output, { atMs: 0, counters: none }, false)
  const counters = { ...none, clients: 2, connected: true, ioCommands: { 2: 5 }, queueDepth: 1 }
  narrator.update({ atMs: 1000, counters: { ...none, clients: 1 } }, [])
  narrator.update({ atMs: 2000, counters }, [])
  narrator.end()
  expect(lines).toEqual([
    'Client 1 connected and disconnected: 0 commands, 0 errors',
    'Client 2 connected',
    'Client 2 is disconnected with 1 command in flight: 5 commands, 0 errors',
  ])
})

test('faults are reported in the first 20 samples that have any', () => {
  const samples = Array.from({ length: 30 }, (_, index) => ({ counters: { faultsInjected: 2 * index } }))
  const lines = linesOf(...samples)
  expect(lines).toHaveLength(21)
  expect(lines[0]).toBe('Faults injected: 2')
  expect(lines.slice(19)).toEqual(['Faults injected: 2 more, 40 in total', 'Further faults are counted but not shown.'])
})

test('the first 20 mistakes of the host are reported', () => {
  const all = Array.from({ length: 1000 }, (_, index) => `mistake ${index}`)
  const lines = linesOf(
    { mistakes: all.slice(0, 2) },
    { mistakes: all.slice(0, 3) },
    { mistakes: all },
    { mistakes: all },
  )
  expect(lines).toHaveLength(21)
  expect(lines.slice(0, 3)).toEqual(['The host: mistake 0', 'The host: mistake 1', 'The host: mistake 2'])
  expect(lines.slice(19)).toEqual(['The host: mistake 19', 'Further mistakes of the host are counted but not shown.'])
})

test('control characters in mistakes are escaped', () => {
  expect(linesOf({ mistakes: ['a\u001b[31m'] })).toEqual([String.raw`The host: a\u{1b}[31m`])
})

test('a redrawn status line has the counters, and is cleared at the end', () => {
  const output = new Output({}, testIo())
  const status = vi.spyOn(output, 'setStatus').mockImplementation(() => undefined)
  for (const isRedrawn of [false, true]) {
    const narrator = new Narrator(output, { atMs: 0, counters: none }, isRedrawn)
    narrator.update({ atMs: 1000, counters: none }, [])
    narrator.end()
  }
  expect(status.mock.calls).toEqual([
    ['0 commands, 0 IOPS, 0 B/s read, 0 B/s written, 0 in flight, 0 faults, no client'],
    [''],
  ])
})
