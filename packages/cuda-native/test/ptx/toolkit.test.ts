import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeAssembly, describeCompilation } from './toolkit-cases.js'
import { compiledByDefault, hasToolkit, run, skippedWithoutToolkit, targets } from './toolkit.js'

const script = join(import.meta.dirname, '../../scripts/build-ptx.mjs')

describe.skipIf(!hasToolkit)(`with CUDA's compiler${skippedWithoutToolkit}`, () => {
  test('the shipped PTX is identical to the output of nvcc', ({ skip }) => {
    const { status, stdout, stderr } = run(process.execPath, [script, '--check'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    if (stdout !== '') skip(`[cuda] ${stdout.trim()}`)
  })

  test('ptxas supports the target GPUs', () => {
    expect(targets).toEqual(expect.arrayContaining([75, 80, 86, 89, 90]))
  })

  describeAssembly(targets)
  // toolkit-variants.test.ts compiles for the others.
  describeCompilation(compiledByDefault)
})
