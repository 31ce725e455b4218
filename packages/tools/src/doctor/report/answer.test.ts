import { expect, test } from 'vitest'
import { DRIVE, drive, facts, GPU, gpu, MACHINE, withFunction } from '../../../test/doctor/facts.js'
import { ELSEWHERE } from '../../terminal/invocation.js'
import { unknown } from '../../machine/known.js'
import { answerLines, answerOf, assumptionLines } from './answer.js'
import { examine } from './examine.js'

const GIB = 1024 ** 3
const HUGE = { ...MACHINE.memory, hugePages: [{ pageBytes: 2_097_152, node: undefined, pages: 768, freePages: 768 }] }

/** Returns the first lines of the report and the assumptions. */
function linesOf(changes: Parameters<typeof facts>[0], only: readonly string[] = []): string[] {
  const diagnosis = examine(facts(changes), { only })
  const answer = answerOf(diagnosis)
  return [...answerLines(diagnosis, answer, { invocation: ELSEWHERE }), ...assumptionLines(answer)]
}

test('the answer is a verdict, an expectation with its assumptions, and a command', () => {
  expect(linesOf({ machine: { memory: HUGE } })).toEqual([
    'Works after 1 step: WD SN740 (nvme1) to RTX 3090 by tier 1.',
    'Expect 3.49 GB/s; 70B model: 1.5 s per token at Q4, 4.6 s at Q6.',
    `Next: sudo gpunvme bind ${DRIVE}`,
    [
      'Assumed: 80 layers of 459 MiB at Q4, 669 MiB at Q6',
      'the drive performs like preset sn740 (Gen3 x4, packets of 256 bytes)',
      'layers take 18 GiB of GPU memory and 24 GiB of host memory',
      'copies to the GPU at 14.4 GB/s (Gen3 x16)',
      'computation and checksums not included',
      'no throttling (7.2 s at Q6 once the drive throttles).',
    ].join('; '),
  ])
})

test('a drive without obstacles works now', () => {
  const [verdict, , next] = linesOf({ machine: { ...withFunction(DRIVE, { driver: undefined }), memory: HUGE } })
  expect([verdict, next]).toEqual([
    'Works: WD SN740 (nvme1) to RTX 3090 by tier 1.',
    `Next: sudo gpunvme nvme identify --drive ${DRIVE}`,
  ])
})

test('a model that fits in GPU memory has no time per token', () => {
  const memoryOf = (gib: number) => linesOf({ machine: { memory: HUGE, gpus: [gpu({ memoryBytes: gib * GIB })] } })[1]
  expect(memoryOf(141)).toBe('Expect 3.49 GB/s; 70B model: fits in GPU memory at Q4 and Q6.')
  expect(memoryOf(64)).toBe('Expect 3.49 GB/s; 70B model: fits in GPU memory at Q4, 0.54 s per token at Q6.')
  expect(memoryOf(1)).toBe('Expect 3.49 GB/s; 70B model: GPU memory too small for its buffers.')
})

test('without the size of GPU memory, every layer is read for each token', () => {
  const gpus = [gpu({ memoryBytes: unknown('only its driver reports it') })]
  const lines = linesOf({ machine: { memory: HUGE, gpus }, process: null })
  expect(lines[1]).toBe('Expect 3.49 GB/s; 70B model: 11 s per token at Q4, 16 s at Q6 (GPU memory unknown).')
  expect(lines[3]).toContain('GPU memory unknown, so every layer is read for each token')
})

test('a drive without a preset is limited by its link, about which a user other than root knows less', () => {
  const drives = [drive({ model: 'A drive' })]
  expect(linesOf({ machine: { drives } })[1]).toMatch(/^Expect up to 3\.6 GB\/s; /)
  const hidden = withFunction(DRIVE, { packets: unknown('needs root: configuration space past byte 64') })
  const lines = linesOf({ machine: { drives, ...hidden }, process: { isRoot: false } })
  expect(lines[0]).toMatch(/^Works after 1 step, as far as visible without root: /)
  expect(lines[1]).toMatch(/^Expect about 3\.32 GB\/s; /)
  expect(lines[3]).toContain('packets of 128 bytes: only root can read their size')
})

test('a preset that was measured on a slower link is a lower limit', () => {
  const link = { gen: 4, lanes: 4 }
  const functions = MACHINE.functions.map((each) => ({ ...each, link: { max: link, now: link } }))
  expect(linesOf({ machine: { functions, memory: HUGE } })[1]).toMatch(/^Expect at least 3\.49 GB\/s; /)
})

test('nothing is predicted in a virtual machine, whose links are emulated', () => {
  const hypervisor = { name: 'KVM', evidence: 'x' }
  const [, expectation, , assumed] = linesOf({ machine: { virtualisation: { ...MACHINE.virtualisation, hypervisor } } })
  expect(expectation).toBe('Expected rate unknown: links of a virtual machine are emulated.')
  expect(assumed).toBeUndefined()
})

test('the verdict names the reason why no drive can be used', () => {
  const holders = [{ device: 'nvme1n1p2', use: 'mounted on /' }]
  const system = { drives: [drive({ holders })] }
  expect(linesOf({ machine: system, process: null })).toEqual([
    'Does not work: WD SN740 (nvme1) is the system drive.',
    'No rate to expect: only simulated drives work here.',
    'Next: gpunvme demo',
  ])
  const both = { drives: [drive({ holders }), drive({ address: '0000:0c:00.0', name: 'nvme2' })] }
  expect(linesOf({ machine: both }, [DRIVE])[0]).toBe(
    'Does not work: WD SN740 (nvme1) is the system drive; other drives were not checked.',
  )
  expect(linesOf({ machine: { drives: [] }, process: null })[0]).toBe('Does not work: no NVMe drive on PCI.')
})

test('a simulated drive can be driven by a GPU', () => {
  expect(linesOf({ machine: { drives: [] } }).slice(1)).toEqual([
    'No rate to expect: only simulated drives work here, and this GPU can drive them.',
    'Next: gpunvme bench --real-time --engines host,cpu-kernel,cuda',
  ])
})

test('the verdict is unknown if the users of a drive are', () => {
  const machine = { drives: [drive({ holders: unknown('needs root') })] }
  expect(linesOf({ machine, process: { isRoot: false } })).toEqual([
    `Unknown whether ${DRIVE} (WD SN740, nvme1) is in use, so it is left alone.`,
    'Expected rate unknown.',
    'Next: sudo gpunvme doctor',
  ])
})

test('a machine without a GPU has a rate into host memory', () => {
  const machine = { gpus: [], functions: MACHINE.functions.filter(({ address }) => address !== GPU) }
  const [verdict, expectation] = linesOf({ machine })
  expect(verdict).toBe('Works after 1 step: WD SN740 (nvme1) to host memory (no GPU).')
  expect(expectation).toBe('Expect 3.49 GB/s into host memory.')
})
