import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
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

/** Code blocks of a page in a language. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].filter(([, of]) => of === language).map(([, , code]) => code!)
}

/** Expected output for a block of the simulated drive. */
function expected(lba: number): string {
  const block = readFileSync(join(examples, 'read_block.mjs')).subarray(lba * 512, (lba + 1) * 512)
  const sum = block.reduce((before, byte) => before + byte, 0)
  return `ending 1, status 0, sum of the bytes ${sum}\n${block.toString('latin1')}\n`
}

describe('the kernel of docs/cuda.md', () => {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8')
  const page = read('docs/cuda.md')
  const [kernel] = blocks(page, 'cpp')
  const [command] = blocks(page, 'sh')
  const [host] = blocks(page, 'js')

  test.skipIf(!hasNvcc)(
    `compiles with the command on the page, to a kernel that launch finds by its name${skippedWithoutNvcc}`,
    () => {
      const scope = join(folder, 'node_modules/@gpunvme')
      mkdirSync(scope, { recursive: true })
      for (const name of ['cuda-native', 'nvme-spec']) {
        symlinkSync(join(import.meta.dirname, '../..', name), join(scope, name))
      }
      writeFileSync(join(folder, 'sum_blocks.cu'), kernel!)
      const [program, ...args] = command!.trim().split(' ')
      const { status, stdout, stderr } = spawnSync(program!, [...args, '-Werror=all-warnings'], {
        cwd: folder,
        encoding: 'utf8',
      })
      expect([status, stdout, stderr]).toEqual([0, '', ''])
      const ptx = readFileSync(join(folder, 'sum_blocks.ptx'), 'utf8')
      expect(ptx.match(/\.entry sum_blocks\(/g)).toHaveLength(1)
      expect(host).toContain("cuda.loadKernels(readFileSync('sum_blocks.ptx'))")
      expect(host).toContain("cuda.launch('sum_blocks', ")
    },
    BUILD_MS,
  )

  test('is the one in the comment of gpunvme.cuh', () => {
    const [, code] = kernel!.split('#include "gpunvme.cuh"\n\n')
    expect(read('cuda/gpunvme.cuh')).toContain(code!.replace(/^(?=.)/gm, '//   '))
  })

  test('has a host program that Node can parse', () => {
    const program = join(folder, 'host.mjs')
    writeFileSync(program, host!)
    const { status, stderr } = spawnSync(process.execPath, ['--check', program], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

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
