import { expect, test } from 'vitest'
import { DRIVE, drive, facts, GPU, gpu, MACHINE, withFunction, textOf } from '../../test/doctor/facts.js'
import { ELSEWHERE } from '../command-line/invocation.js'
import type { Machine } from '../machine/machine.js'
import { examine } from './examine.js'
import { nextStep } from './outlook.js'
import { formatReport } from './report.js'

const HUGE = { ...MACHINE.memory, hugePages: [{ pageBytes: 2_097_152, node: undefined, pages: 768, freePages: 768 }] }

function report(machine: Partial<Machine>, options = { columns: 80, verbose: false, invocation: ELSEWHERE }): string[] {
  return formatReport(examine(facts({ machine })), options)
}

test('the report ends with the best route and one next step', () => {
  expect(report({ memory: HUGE }).slice(-3)).toEqual([
    `Best:  tier 1 (host) from ${DRIVE} to ${GPU}, after 1`,
    'Then:  to be tried: tier 1 (cuda)',
    `Next:  sudo gpunvme bind ${DRIVE}`,
  ])
  const free = { ...withFunction(DRIVE, { driver: undefined }), memory: HUGE }
  expect(report(free).at(-3)).toBe(`Best:  tier 1 (host) from ${DRIVE} to ${GPU}, ready`)
  expect(report(free).at(-1)).toBe(`Next:  sudo gpunvme nvme identify --drive ${DRIVE}`)
})

test('the report prints commands as the program was started', () => {
  const invocation = { program: 'npx gpunvme', sudo: 'sudo ' }
  const lines = report({ memory: HUGE }, { columns: 80, verbose: false, invocation })
  expect(lines.at(-1)).toBe(`Next:  sudo npx gpunvme bind ${DRIVE}`)
  expect(lines).toContain(`     $     sudo npx gpunvme bind ${DRIVE}`)
})

test('the report suggests the simulator without a usable drive', () => {
  const without = (changes: Parameters<typeof facts>[0]) =>
    formatReport(examine(facts({ machine: { drives: [] }, ...changes })), {
      columns: 80,
      verbose: false,
      invocation: ELSEWHERE,
    }).slice(-2)
  const simulated = ['Best:  the simulator: no drive here can be used from user space', 'Next:  gpunvme demo']
  expect(without({ process: null })).toEqual(simulated)
  expect(without({ process: { addon: { isLoaded: false, reasons: [], next: 'build it' } } })).toEqual(simulated)
  expect(without({})).toEqual([
    'Best:  the simulator, with this GPU: no drive here can be used from user space',
    'Next:  gpunvme bench --real-time --engines host,cpu-kernel,cuda',
  ])
  const machine = { ...withFunction(DRIVE, { driver: undefined }), memory: HUGE, root: 'b450' }
  expect(textOf(nextStep(examine(facts({ machine }))))).toBe(
    `on that machine: sudo gpunvme nvme identify --drive ${DRIVE}`,
  )
})

test('the to-do list omits steps that a permanent blocker makes useless', () => {
  const holders = [{ device: 'nvme1n1p2', use: 'mounted on /' }]
  const lines = report({ drives: [drive({ holders })] })
  const todo = lines.slice(lines.indexOf('To do'), lines.indexOf('Worth knowing'))
  expect(todo.filter((line) => /^ {2}\d /.test(line))).toHaveLength(1)
  expect(todo).toContain('     stops host memory')
})

test('the table refers to findings by their numbers', () => {
  const lines = report({})
  const numbers = lines
    .filter((line) => line.startsWith('    '))
    .flatMap((line) => /after (.*)$/.exec(line)?.[1]?.split(', ') ?? [])
  expect(numbers.length).toBeGreaterThan(0)
  for (const number of numbers) expect(lines.some((line) => line.startsWith(`${number.padStart(3)}  `))).toBe(true)
})

test('the report escapes control characters in names', () => {
  const evil = report({ drives: [drive({ model: 'x\u001b[2J' })], gpus: [gpu({ model: 'y\u202e' })] })
  for (const character of ['\u001b', '\u202e']) expect(evil.join('\n')).not.toContain(character)
})

test('the verbose report lists ok findings and evidence', () => {
  const lines = report({}, { columns: 80, verbose: true, invocation: ELSEWHERE })
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
