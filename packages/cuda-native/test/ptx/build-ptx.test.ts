import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'

const repository = join(import.meta.dirname, '../../../..')
const script = join(repository, 'packages/cuda-native/scripts/build-ptx.mjs')
const shown = 'packages/cuda-native/cuda/kernels.ptx'
const remedy = 'run npm run gen on a machine with nvcc, and commit the result'

/** Copy of the files that the script reads. */
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
  if (!from.test(text)) throw new Error(`${file} does not contain ${from.source}: choose another place`)
  writeFileSync(path, text.replace(from, to))
}

test('the shipped PTX is up to date with its sources', () => {
  const { status, stderr } = build(['--check'], repository)
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

describe('without nvcc', () => {
  test('a copy is checked by its checksums', () => {
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
  ])('a change of %s makes the PTX stale, and the error suggests npm run gen', (file, from, to, name) => {
    change(file, from, to)
    const stderr = `build-ptx: ${shown} does not match its sources: ${name} changed; ${remedy}\n`
    expect(build()).toEqual({ status: 1, stdout: '', stderr })
    // Without --check, the script cannot write the PTX either, and fails with the same error.
    expect(build([])).toEqual({ status: 1, stdout: '', stderr })
  })

  test('an added or removed header makes the PTX stale', () => {
    writeFileSync(join(root, 'packages/cuda-native/cuda/more.cuh'), '#pragma once\n')
    change('packages/cuda-native/cuda/prp.cuh', /#include "share\.cuh"/, '#include "more.cuh"\n$&')
    expect(build().stderr).toContain('sources: cuda/more.cuh, cuda/prp.cuh changed')
    change('packages/cuda-native/cuda/kernels.cu', /#include "pattern\.cuh"\n/, '')
    expect(build().stderr).toContain('cuda/pattern.cuh changed')
  })

  test('changes of comments, whitespace and CPU headers do not make the PTX stale', () => {
    change('packages/cuda-native/cuda/serve.cuh', /$/, '\r\n  // "seen" /* alone\n\n')
    change('packages/cuda-native/cuda/leader.cuh', /struct Task \{/, 'struct  Task /* one */ { // two')
    change('packages/cuda-native/cuda/cpu_port.cuh', /empty_polls % \d+/, 'empty_polls % 7')
    expect(build().status).toBe(0)
    // Comment syntax inside a string is significant.
    change('packages/cuda-native/cuda/gpu_port.cuh', /"fence\.sc\.sys;"/, '"fence.sc.sys; // strong"')
    expect(build().stderr).toContain('cuda/gpu_port.cuh changed')
  })

  test('a missing PTX file is an error', () => {
    rmSync(join(root, shown))
    expect(build().stderr).toBe(`build-ptx: ${shown} is missing; ${remedy}\n`)
  })
})
