import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { hasCompiler, skippedWithoutCompiler } from '../programs/program.js'
import { end } from '../programs/run-program.js'

const hasNvcc = hasCompiler && spawnSync('nvcc', ['--version']).status === 0
const skipped = hasNvcc ? '' : skippedWithoutCompiler || ' (skipped: [cuda] nvcc is not installed)'
const root = resolve(import.meta.dirname, '../..')

// Turing (the oldest that nvcc 13 supports), A100, RTX 3090, RTX 4090, H100 and H200, B200, RTX 5090.
const architectures = [75, 80, 86, 89, 90, 100, 120]

describe.skipIf(!hasNvcc)(`the kernels${skipped}`, () => {
  test('compile for every GPU from Turing on without a warning', async () => {
    const folder = scratch()
    const targets = architectures.map((name) => `-gencode=arch=compute_${name},code=sm_${name}`)
    const args = [
      ...['-std=c++17', '--fatbin', '--threads=2', '-Werror=all-warnings', '-Xcompiler=-Wall,-Wextra,-Werror'],
      ...targets,
      `-I${resolve(root, '../nvme-spec/include')}`,
      ...['-o', join(folder, 'kernels.fatbin'), join(root, 'cuda/kernels.cu')],
    ]
    const { status, stdout, stderr } = await end('nvcc', args, { timeoutMs: 240_000 })
    expect(stdout + stderr).toBe('')
    expect(status).toBe(0)
  }, 300_000)

  test.each(readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.cu')))(
    '%s compiles with nvcc alone, without a warning',
    async (name) => {
      const args = [
        ...['-std=c++17', '-ptx', '-arch=compute_75', '-Werror=all-warnings', '-Xcompiler=-Wall,-Wextra,-Werror'],
        ...[`-I${join(root, 'cuda')}`, `-I${resolve(root, '../nvme-spec/include')}`],
        ...['-o', join(scratch(), 'example.ptx'), join(root, 'examples', name)],
      ]
      const { status, stdout, stderr } = await end('nvcc', args, { timeoutMs: 60_000 })
      expect(stdout + stderr).toBe('')
      expect(status).toBe(0)
    },
    60_000,
  )
})
