import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { requireProgram } from './require-program.js'

const folder = scratch()
const program = join(folder, 'program')
writeFileSync(program, '#!/bin/sh\n')
chmodSync(program, 0o755)
mkdirSync(join(folder, 'a-folder'))

test('a program is found by its path, and by its name in a folder of PATH', () => {
  expect(() => requireProgram(program, '')).not.toThrow()
  expect(() => requireProgram('program', `/nowhere:${folder}`)).not.toThrow()
  expect(() => requireProgram(process.execPath, undefined)).not.toThrow()
})

test('one that is not there, or cannot be run, is refused', () => {
  expect(() => requireProgram('program', '/nowhere')).toThrow('Cannot run program: no such program (ENOENT)')
  expect(() => requireProgram(`${program}s`, folder)).toThrow('no such program (ENOENT)')
  expect(() => requireProgram('a-folder', `/nowhere:${folder}`)).toThrow('permission denied (EACCES)')
})

test('where there is no PATH the system looks', () => {
  expect(() => requireProgram('program', undefined)).not.toThrow()
})
