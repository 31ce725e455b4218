import { expect, test } from 'vitest'
import { countedByDrive } from './device-counters.js'
import { oneCell } from '../../test/bench-results.js'

const [cell] = oneCell().cells
const counters = (reads: number, writes: number) => ({
  dataUnitsRead: '0',
  dataUnitsWritten: '0',
  hostReadCommands: String(2n ** 64n + BigInt(reads)),
  hostWriteCommands: String(writes),
})
const repeat = { bytes: 1, commands: 100, seconds: 1, counters: { before: counters(5, 7), after: counters(103, 9) } }

test('countedByDrive adds reads and writes of counters above 2^64', () => {
  const repeats = [repeat, repeat, { ...repeat, problem: 'invalid' }, { bytes: 1, commands: 9, seconds: 1 }]
  expect(countedByDrive({ cells: [{ ...cell!, repeats }] })).toEqual({
    repeats: 2,
    reportedCommands: 200n,
    deviceCommands: 200n,
  })
})

test('countedByDrive is undefined without counters', () => {
  expect(countedByDrive({ cells: [{ ...cell!, repeats: [{ bytes: 1, commands: 9, seconds: 1 }] }] })).toBeUndefined()
})
