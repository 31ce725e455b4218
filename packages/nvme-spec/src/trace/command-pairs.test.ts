import { expect, test } from 'vitest'
import { encoded } from '../../test/encoded.js'
import { CQE } from '../entries.js'
import { Read } from '../nvm/commands.js'
import { traceCqe, traceSqe } from './entries.js'
import type { TraceEvent } from '../transport/index.js'
import { CommandPairs } from './command-pairs.js'

const submitted = (timeNs: number, CID: number, track = 'sq 1'): TraceEvent => ({
  ...{ timeNs, track, name: 'submit' },
  command: traceSqe(1, encoded(Read, { CID, NSID: 1 })),
})

const completed = (timeNs: number, CID: number, track = 'cq 1'): TraceEvent => ({
  ...{ timeNs, track, name: 'complete' },
  completion: traceCqe(CQE.create({ SQID: 1, CID }).data),
})

/** Returns the kinds of all events, and submission and completion times of commands. */
function pairsOf(...events: TraceEvent[]): unknown[] {
  const pairs = new CommandPairs()
  return events.map((event) => {
    const found = pairs.add(event)
    return found?.kind === 'completed' ? [found.drive, found.submittedNs, found.completedNs] : found?.kind
  })
}

test('completions are matched with their commands, in any order', () => {
  expect(pairsOf(submitted(1, 7), submitted(2, 8), completed(5, 8), completed(6, 7))).toEqual([
    'submitted',
    'submitted',
    ['', 2, 5],
    ['', 1, 6],
  ])
})

test('a command is matched by its submission queue, whatever the completion queue', () => {
  expect(pairsOf(submitted(1, 7), completed(2, 7, 'cq 3'))).toEqual(['submitted', ['', 1, 2]])
})

test('drives with the same queues and identifiers are kept apart', () => {
  expect(pairsOf(submitted(1, 7), submitted(2, 7, '2: sq 1'), completed(3, 7), completed(4, 7, '2: cq 1'))).toEqual([
    'submitted',
    'submitted',
    ['', 1, 3],
    ['2: ', 2, 4],
  ])
})

test('in a trace of both host and controller, the side with the first event counts', () => {
  const fetched = { ...submitted(2, 7), name: 'fetch' }
  const posted = { ...completed(4, 7), name: 'post' }
  expect(pairsOf(submitted(1, 7), fetched, posted, completed(5, 7))).toEqual([
    'submitted',
    undefined,
    undefined,
    ['', 1, 5],
  ])
  expect(pairsOf(fetched, submitted(3, 8), posted)).toEqual(['submitted', undefined, ['', 2, 4]])
})

test('a reused identifier belongs to the later command; a completion without a command is stray', () => {
  expect(pairsOf(submitted(1, 7), submitted(2, 7), completed(3, 7), completed(4, 7))).toEqual([
    'submitted',
    'submitted',
    ['', 2, 3],
    'stray',
  ])
  expect(pairsOf({ timeNs: 0, track: 'sq 1', name: 'ring tail' })).toEqual([undefined])
})
