import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { built } from './programs/build.mjs'
import { BUILD_MS, hasCompiler, skippedWithoutCompiler } from './programs/program.js'
import { hasStandin, skippedWithoutStandin, useStandin } from './standin/standin.js'

useStandin()
const examples = join(import.meta.dirname, '../examples')
const folder = scratch()
const hasNvcc = hasCompiler && spawnSync('nvcc', ['--version']).status === 0
const skippedWithoutNvcc = hasNvcc ? '' : skippedWithoutCompiler || ' (skipped: [cuda] nvcc is not installed)'

/** The parameters of read_block, for machines without nvcc. */
const DECLARATION = `.version 8.2
.target sm_75
.address_size 64

.visible .entry read_block(
	.param .align 8 .b8 read_block_param_0[32],
	.param .align 8 .b8 read_block_param_1[32],
	.param .u64 read_block_param_2,
	.param .u64 read_block_param_3
)
{
	ret;
}
`

/** Runs read_block.mjs on the stand-in. */
async function readBlock(ptx: string, lba: number) {
  process.env['GPUNVME_CUDA_LIBRARY'] = await built('standin/read-block')
  const args = [join(examples, 'read_block.mjs'), ptx, String(lba)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'latin1', timeout: 50_000 })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

/** Expected output for a block of the simulated drive. */
function expected(lba: number): string {
  const block = readFileSync(join(examples, 'read_block.mjs')).subarray(lba * 512, (lba + 1) * 512)
  const sum = block.reduce((before, byte) => before + byte, 0)
  return `ending 1, status 0, sum of the bytes ${sum}\n${block.toString('latin1')}\n`
}

describe('the example of a kernel that reads a block', () => {
  test.skipIf(!hasStandin)(
    `prints each requested block, on the stand-in${skippedWithoutStandin}`,
    async () => {
      const ptx = join(folder, 'declaration.ptx')
      writeFileSync(ptx, DECLARATION)
      for (const lba of [0, 2]) expect(await readBlock(ptx, lba)).toBe(expected(lba))
    },
    BUILD_MS,
  )

  test.skipIf(!hasNvcc || !hasStandin)(
    `compiles with the command in its comment, to a kernel with the same parameters${skippedWithoutNvcc}`,
    async () => {
      const source = readFileSync(join(examples, 'read_block.cu'), 'utf8')
      const [, command] = /^\/\/ {3}nvcc (.*) read_block\.cu$/m.exec(source)!
      const ptx = join(folder, 'read_block.ptx')
      const args = [...command!.split(' '), '-Werror=all-warnings', '-o', ptx, 'read_block.cu']
      const { status, stdout, stderr } = spawnSync('nvcc', args, { cwd: examples, encoding: 'utf8' })
      expect([status, stdout, stderr]).toEqual([0, '', ''])
      const parameters = (text: string) =>
        [.../\.entry read_block\(([^)]*)\)/.exec(text)![1]!.matchAll(/\.param .*?(?=,|\s*$)/gm)].map(([each]) => each)
      expect(parameters(readFileSync(ptx, 'utf8'))).toEqual(parameters(DECLARATION))
      expect(await readBlock(ptx, 1)).toBe(expected(1))
    },
    BUILD_MS,
  )
})
