import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'

const repository = join(import.meta.dirname, '../../../..')
const script = join(repository, 'packages/cuda-native/scripts/build-ptx.mjs')
const shown = 'packages/cuda-native/cuda/kernels.ptx'
const remedy = 'run npm run gen on a machine with nvcc, and commit the result'

/** A copy of all that the script reads. */
let root: string
beforeEach(() => {
  root = scratch()
  for (const part of ['packages/cuda-native/cuda', 'packages/nvme-spec/include'])
    cpSync(join(repository, part), join(root, part), { recursive: true })
})

/** Runs the script on a machine without nvcc. */
function build(args: readonly string[] = ['--check'], where = root) {
  const env = { PATH: '/nonexistent' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args, where], { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

function change(file: string, from: RegExp, to: string): void {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  if (!from.test(text)) throw new Error(`${file} has no ${from.source}: plant it elsewhere`)
  writeFileSync(path, text.replace(from, to))
}

test('the PTX that is shipped is of the sources beside it', () => {
  const { status, stderr } = build(['--check'], repository)
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

describe('without nvcc', () => {
  test('a copy is judged by its checksums', () => {
    const stdout = `${shown} matches the checksums of its sources; not recompiled: nvcc is not installed\n`
    expect(build()).toEqual({ status: 0, stdout, stderr: '' })
  })

  test.each([
    ['packages/cuda-native/cuda/kernels.cu', /serve<GpuTeam/, 'serve <GpuTeam', 'cuda/kernels.cu'],
    ['packages/cuda-native/cuda/gpu_port.cuh', /fence\.sc\.sys/, 'fence.sc.gpu', 'cuda/gpu_port.cuh'],
    ['packages/cuda-native/cuda/shared_queue.cuh', /Port::fence\(\);/, '', 'cuda/shared_queue.cuh'],
    [
      'packages/nvme-spec/include/gpunvme/nvme_spec.h',
      /^#define GPUNVME_/m,
      '#define GPUNVME_X',
      'gpunvme/nvme_spec.h',
    ],
  ])('a change of %s makes it stale, and npm run gen is what to do', (file, from, to, name) => {
    change(file, from, to)
    const stderr = `build-ptx: ${shown} does not match its sources: ${name} changed; ${remedy}\n`
    expect(build()).toEqual({ status: 1, stdout: '', stderr })
    // Nothing can be written here, and nobody is to believe that it was.
    expect(build([])).toEqual({ status: 1, stdout: '', stderr })
  })

  test('so does a header that comes, and one that goes', () => {
    writeFileSync(join(root, 'packages/cuda-native/cuda/more.cuh'), '#pragma once\n')
    change('packages/cuda-native/cuda/prp.cuh', /#include "share\.cuh"/, '#include "more.cuh"\n$&')
    expect(build().stderr).toContain('sources: cuda/more.cuh, cuda/prp.cuh changed')
    change('packages/cuda-native/cuda/kernels.cu', /#include "pattern\.cuh"\n/, '')
    expect(build().stderr).toContain('cuda/pattern.cuh changed')
  })

  test('comments, spaces and headers of the CPU are nothing that a kernel is made of', () => {
    change('packages/cuda-native/cuda/serve.cuh', /$/, '\r\n  // "seen" /* alone\n\n')
    change('packages/cuda-native/cuda/leader.cuh', /struct Task \{/, 'struct  Task /* one */ { // two')
    change('packages/cuda-native/cuda/cpu_port.cuh', /empty_polls % \d+/, 'empty_polls % 7')
    expect(build().status).toBe(0)
    // What looks like a comment inside of a string is none.
    change('packages/cuda-native/cuda/gpu_port.cuh', /"fence\.sc\.sys;"/, '"fence.sc.sys; // strong"')
    expect(build().stderr).toContain('cuda/gpu_port.cuh changed')
  })

  test('a text that is missing is stale', () => {
    rmSync(join(root, shown))
    expect(build().stderr).toBe(`build-ptx: ${shown} is missing; ${remedy}\n`)
  })
})
