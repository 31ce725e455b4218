import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { missingBaseline } from './baselines.js'

const root = scratch()
const engines = new Set(['psync', 'io_uring'])

afterEach(() => rmSync(root, { recursive: true, force: true }))

function loadNvidiaFs(): void {
  mkdirSync(join(root, 'proc/driver/nvidia-fs'), { recursive: true })
  writeFileSync(join(root, 'proc/driver/nvidia-fs/version'), 'version: 2.17.5\n')
}

test('a baseline is available if fio has its engine', () => {
  expect(missingBaseline('pread', engines, root)).toBeUndefined()
  expect(missingBaseline('io_uring', engines, root)).toBeUndefined()
  expect(missingBaseline('io_uring', new Set(['psync']), root)).toEqual({
    reason: 'the installed fio lacks the engine io_uring',
    next: 'install fio 3.13 or later',
  })
})

test('without fio every baseline is missing, and the package to install is named', () => {
  for (const name of ['pread', 'io_uring', 'cufile'] as const) {
    expect(missingBaseline(name, undefined, root)).toEqual({
      reason: 'it requires fio, which is not installed',
      next: 'install the package fio',
    })
  }
})

test('cuFile is missing without its kernel module, since it would copy through host memory', () => {
  expect(missingBaseline('cufile', new Set(['libcufile']), root)?.reason).toContain('nvidia-fs is not loaded')
  loadNvidiaFs()
  expect(missingBaseline('cufile', new Set(['libcufile']), root)).toBeUndefined()
  loadNvidiaFs()
  expect(missingBaseline('cufile', engines, root)?.reason).toBe('the installed fio lacks the engine libcufile')
})
