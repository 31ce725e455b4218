import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { committedPath, kernels } from './committed.js'
import { machineKernels, ringsOf } from './sass.js'
import type { Rings } from './sass.js'
import { hasToolkit, run } from './toolkit.js'

const packageRoot = join(import.meta.dirname, '../..')
// Without the toolkit, all tests are skipped, and vitest would not run the hook that removes the folder.
const folder = hasToolkit ? scratch() : ''
let count = 0

function assemble(ptx: string, target: number) {
  const cubin = join(folder, `${count++}.cubin`)
  const { status, stdout, stderr } = run('ptxas', ['-v', `-arch=sm_${target}`, '-o', cubin, ptx])
  expect(status, stdout + stderr).toBe(0)
  const machine = machineKernels(readFileSync(cubin))
  return { said: stdout + stderr, rings: new Map(machine.map((each) => [each.name, ringsOf(each, target)])) }
}

/** Compiles kernels that use the headers as CUDA authors do. */
function compileAuthors(source: string, target: number) {
  const cubin = join(folder, `${count++}.cubin`)
  const args = [
    ...['-std=c++17', '-cubin', `-arch=sm_${target}`, '-Werror', 'all-warnings', '-Xptxas', '-v'],
    ...['-Xcompiler', '-Wall,-Wextra,-Werror', '-Icuda', '-I../nvme-spec/include'],
    ...['-o', cubin, source],
  ]
  const { status, stdout, stderr } = run('nvcc', args, packageRoot)
  expect(status, stdout + stderr).toBe(0)
  const rings = machineKernels(readFileSync(cubin)).map((each) => [each.name, ringsOf(each, target)])
  return { said: stdout + stderr, rings: Object.fromEntries(rings) as Readonly<Record<string, Rings>> }
}

/** Returns what ptxas -v prints for each kernel. */
function resources(said: string): Record<string, { spilled: number; stack: number; registers: number }> {
  const pattern =
    /Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\s+[^\n]*Used (\d+) registers/g
  return Object.fromEntries(
    [...said.matchAll(pattern)].map(([, name, stack, stores, loads, registers]) => [
      name!,
      { stack: Number(stack), spilled: Number(stores) + Number(loads), registers: Number(registers) },
    ]),
  )
}

/** Defines the tests of the committed PTX as ptxas assembles it for these compute capabilities. */
export function describeAssembly(targets: readonly number[]): void {
  describe.each(targets)('assembled for sm_%i', (target) => {
    let said: string
    let rings: ReadonlyMap<string, Rings>
    beforeAll(() => {
      ;({ said, rings } = assemble(committedPath, target))
    })

    test('assembles without warnings, without local memory, and within the register limits', () => {
      expect(said).not.toMatch(/warning/i)
      const found = resources(said)
      expect(Object.keys(found).sort()).toEqual(Object.keys(kernels).sort())
      for (const [name, { stack, spilled, registers }] of Object.entries(found)) {
        expect({ name, stack, spilled }).toEqual({ name, stack: 0, spilled: 0 })
        expect(registers, name).toBeLessThanOrEqual(kernels[name]!.registersAtMost)
      }
    })

    test('machine code has the doorbell writes of the PTX, tail doorbells after a fence, and no register reads', () => {
      const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((a, b) => a + b, 0)
      const expected = Object.entries(kernels).map(([name, each]) => [
        name,
        { stores: sum(each.rings), reads: 0, fenced: each.rings[each.queues?.tailDoorbell ?? ''] ?? 0 },
      ])
      expect(Object.fromEntries(rings)).toEqual(Object.fromEntries(expected))
    })
  })
}

/** Defines the tests that compile sources with nvcc for these compute capabilities, which takes seconds for each. */
export function describeCompilation(targets: readonly number[]): void {
  describe.each(targets)('compiled for sm_%i', (target) => {
    test('the kernels compile as C++17 without a warning', { timeout: 180_000 }, () => {
      const args = [
        ...['-std=c++17', '-ptx', `-arch=compute_${target}`, '-Werror', 'all-warnings'],
        ...['-Xcompiler', '-Wall,-Wextra,-Werror', '-I../nvme-spec/include'],
        ...['-o', join(folder, `${count++}.ptx`), 'cuda/kernels.cu'],
      ]
      const { status, stdout, stderr } = run('nvcc', args, packageRoot)
      expect(stdout + stderr).toBe('')
      expect(status).toBe(0)
    })

    test.each([
      ['gnv::Device', 'test/ptx/shared_queue.cu', 64, ['by_thread', 'by_warp']],
      ['gnv::Array', 'test/ptx/array.cu', 80, ['gather', 'gather_alone']],
      ['pages of a gnv::Array', 'examples/array_sum.cu', 96, ['sum_pages']],
      ['a fetch of experts', 'test/ptx/fetch.cu', 80, ['fetch_experts']],
    ])('kernels with %s do not spill, and fence before the doorbell of the SQ', (_, source, limit, names) => {
      const { said, rings } = compileAuthors(source, target)
      for (const [name, { stack, spilled, registers }] of Object.entries(resources(said))) {
        expect({ name, stack, spilled }).toEqual({ name, stack: 0, spilled: 0 })
        expect(registers, name).toBeLessThanOrEqual(limit)
      }
      // The other two are of the CQ: one in `submit`, one in `wait`.
      const expected = { stores: 3, reads: 0, fenced: 1 }
      expect(rings).toEqual(Object.fromEntries(names.map((name) => [name, expected])))
    })
  })
}
