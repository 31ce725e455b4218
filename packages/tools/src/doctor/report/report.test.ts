import { expect, test } from 'vitest'
import { DRIVE, drive, facts, gpu, MACHINE, withFunction, textOf } from '../../../test/doctor/facts.js'
import { ELSEWHERE } from '../../terminal/invocation.js'
import type { Machine } from '../../machine/machine.js'
import { examine } from './examine.js'
import { nextStep } from './answer.js'
import { formatReport } from './report.js'

const HUGE = { ...MACHINE.memory, hugePages: [{ pageBytes: 2_097_152, node: undefined, pages: 768, freePages: 768 }] }

const VERBOSE = { verbose: true, invocation: ELSEWHERE }

function report(machine: Partial<Machine>, options = { verbose: false, invocation: ELSEWHERE }): string[] {
  return formatReport(examine(facts({ machine })), options)
}

test('the report begins with the answer, and numbers the steps of the best route', () => {
  const holders = [{ device: 'nvme1n1p2', use: 'mounted on /data' }]
  const lines = report({ drives: [drive({ holders })] })
  expect(lines[0]).toMatch(/^Works after 2 steps: /)
  expect(lines.slice(2, 14)).toEqual([
    'Next: sudo umount /data',
    '',
    'Steps',
    `  1  ${DRIVE} (WD SN740, nvme1) is in use: it cannot be bound to user space`,
    '     $ sudo umount /data',
    `  2  Bind ${DRIVE} (WD SN740, nvme1) to user space, by /sys and huge pages`,
    '     $ echo 768 | sudo tee /proc/sys/vm/nr_hugepages',
    `     $ sudo gpunvme bind ${DRIVE}`,
    '',
    'Also found',
    '  -  The IOMMU is off: a drive in user space can access all memory of this machine',
    '',
  ])
  expect(lines).toContain('Untested, may also work: tier 1 (cuda).')
  expect(lines).toContain('Tier 1 reads through host memory, tier 2 into GPU memory; 3 adds queues there.')
})

test('the report prints commands as the program was started', () => {
  const invocation = { program: 'npx gpunvme', sudo: 'sudo ' }
  const lines = report({ memory: HUGE }, { verbose: false, invocation })
  expect(lines[2]).toBe(`Next: sudo npx gpunvme bind ${DRIVE}`)
  expect(lines).toContain(`     $ sudo npx gpunvme bind ${DRIVE}`)
})

test('the next step of a copy is for the copied machine', () => {
  const machine = { ...withFunction(DRIVE, { driver: undefined }), memory: HUGE, root: 'b450' }
  expect(textOf(nextStep(examine(facts({ machine }))))).toBe(
    `on that machine: sudo gpunvme nvme identify --drive ${DRIVE}`,
  )
})

test('the to-do list omits steps that a permanent blocker makes useless', () => {
  const holders = [{ device: 'nvme1n1p2', use: 'mounted on /' }]
  const lines = report({ drives: [drive({ holders })] }, VERBOSE)
  const todo = lines.slice(lines.indexOf('To do'), lines.indexOf('Worth knowing'))
  expect(todo.filter((line) => /^ {2}\d /.test(line))).toHaveLength(1)
  expect(todo).toContain('     stops host memory')
})

test('the table refers to findings by their numbers', () => {
  const lines = report({}, VERBOSE)
  const numbers = lines
    .slice(lines.findIndex((line) => line.startsWith('What is possible')))
    .filter((line) => line.startsWith('    '))
    .flatMap((line) => /after (.*)$/.exec(line)?.[1]?.split(', ') ?? [])
  expect(numbers.length).toBeGreaterThan(0)
  for (const number of numbers) expect(lines.some((line) => line.startsWith(`${number.padStart(3)}  `))).toBe(true)
})

test('the report escapes control characters in names', () => {
  const machine = { drives: [drive({ model: 'x\u001b[2J' })], gpus: [gpu({ model: 'y\u202e' })] }
  const evil = [...report(machine), ...report(machine, VERBOSE)]
  for (const character of ['\u001b', '\u202e']) expect(evil.join('\n')).not.toContain(character)
})

test('the verbose report lists ok findings and evidence', () => {
  const lines = report({}, VERBOSE)
  expect(lines).toContain('Fine')
  expect(lines.some((line) => line.includes('/boot/config-6.17.0-5-generic: CONFIG_VFIO_NOIOMMU=y'))).toBe(true)
})

test('examine with only omits findings about other drives', () => {
  const other = '0000:0c:00.0'
  const machine = { drives: [drive(), drive({ address: other, name: 'nvme2' })] }
  const { pairs, findings } = examine(facts({ machine }), { only: [DRIVE] })
  expect(pairs.map((pair) => pair.drive)).toEqual([DRIVE])
  expect(findings.filter(({ subjects }) => subjects.includes(other))).toEqual([])
})
