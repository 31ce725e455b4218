import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { requireProgram } from './run-command.js'

const folder = scratch()
const program = join(folder, 'program')
writeFileSync(program, '#!/bin/sh\n')
chmodSync(program, 0o755)
mkdirSync(join(folder, 'a-folder'))

test('requireProgram finds a program by path, and by name in PATH', () => {
  expect(() => requireProgram(program, '')).not.toThrow()
  expect(() => requireProgram('program', `/nowhere:${folder}`)).not.toThrow()
  expect(() => requireProgram(process.execPath, undefined)).not.toThrow()
})

test('requireProgram rejects a missing program and a folder', () => {
  expect(() => requireProgram('program', '/nowhere')).toThrow('Cannot run program: no such program (ENOENT)')
  expect(() => requireProgram(`${program}s`, folder)).toThrow('no such program (ENOENT)')
  expect(() => requireProgram('a-folder', `/nowhere:${folder}`)).toThrow('permission denied (EACCES)')
})

test('requireProgram accepts any name without PATH', () => {
  expect(() => requireProgram('program', undefined)).not.toThrow()
})
