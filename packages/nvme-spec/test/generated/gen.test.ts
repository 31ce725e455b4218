import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'

const packageRoot = join(import.meta.dirname, '..', '..')

const gen = (...args: string[]) => genIn(packageRoot, ...args)

function genIn(cwd: string, ...args: string[]) {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/gen.mjs', ...args], { cwd, encoding: 'utf8' })
  return { status, stderr }
}

test('generated files match the declarations (gen:check)', () => {
  expect(gen('--check')).toEqual({ status: 0, stderr: '' })
})

test('gen:check fails on a difference in any file, and names the command that writes the files', () => {
  const folder = scratch()
  const files = [
    'packages/nvme-spec/include/gpunvme/nvme_spec.h',
    'packages/nvme-spec/include/gpunvme/nvme_spec_check.c',
    'docs/reference/spec-map.md',
  ]
  gen(folder)
  for (const file of files) {
    const path = join(folder, file)
    const right = readFileSync(path, 'utf8')
    writeFileSync(path, `${right} `)
    const { status, stderr } = gen('--check', folder)
    expect(status).toBe(1)
    expect(stderr).toContain(`${file} differs from the declarations; run: pnpm gen`)
    writeFileSync(path, right)
  }
})

test('gen fails and names a declaration that is missing from all lists', () => {
  const folder = scratch()
  const copy = join(folder, 'packages', 'nvme-spec')
  for (const part of ['package.json', 'scripts', 'src', 'dist'])
    cpSync(join(packageRoot, part), join(copy, part), { recursive: true })
  const facts = `{ bytes: 4, doc: 'Left out', spec: 'gpunvme test' }`
  for (const file of ['src/admin/keep-alive.ts', 'dist/admin/keep-alive.js']) {
    appendFileSync(
      join(copy, file),
      `
import {
  adminCommand as aCommand, bit as aBit, codes as someCodes, feature as aFeature, register32 as aRegister,
  struct as aStruct, u32 as aDword, word32 as aWord,
} from '../layout/index.js'
export const ForgottenStruct = aStruct('Forgotten struct', ${facts}, { ONE: aDword(0, 'One') })
export const ForgottenCommand = aCommand('Forgotten command', { opcode: 0xfc, ...${facts} }, {})
export const ForgottenFeature = aFeature('Forgotten feature', { fid: 0xfe, ...${facts} }, { CDW11: { ONE: aBit(0, 'One') } })
export const ForgottenWord = aWord('Forgotten word', ${facts}, { ONE: aBit(0, 'One') })
export const FORGOTTEN_CODES = someCodes('FORGOTTEN_CODES', ${facts}, { ONE: 1 })
export const FORGOTTEN = aRegister('FORGOTTEN', { offset: 0xffc, access: 'ro', ...${facts} }, { ONE: aBit(0, 'One') })
`,
    )
  }
  const { status, stderr } = genIn(copy, folder)
  expect(status).toBe(1)
  const named = stderr.matchAll(
    /^gen: (.*): missing from the lists of src\/all\.ts and from the registers of src\/registers\.ts; add it$/gm,
  )
  expect(Array.from(named, ([, item]) => item)).toEqual(
    ['ForgottenStruct', 'ForgottenCommand', 'ForgottenFeature', 'ForgottenWord', 'FORGOTTEN_CODES', 'FORGOTTEN'].map(
      (name) => `${name} (src/admin/keep-alive.ts)`,
    ),
  )
})
