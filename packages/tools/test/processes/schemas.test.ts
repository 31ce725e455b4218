import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gpunvme } from '../gpunvme.js'

const root = join(import.meta.dirname, '../..')

test('the schema files match the source', { timeout: 300_000 }, () => {
  execFileSync(process.execPath, [join(root, 'scripts/build-schemas.mjs'), '--check'], { stdio: 'pipe' })
})

test('schema prints the file of a verb, or any of several', async () => {
  const rm = readFileSync(join(root, 'schemas/rm-1.json'), 'utf8')
  for (const words of [['models', 'rm'], ['rm']])
    expect(JSON.parse((await gpunvme(['schema', ...words], { cwd: root })).stdout)).toEqual(JSON.parse(rm))
  const { anyOf } = JSON.parse((await gpunvme(['schema', 'pack'], { cwd: root })).stdout) as {
    anyOf: { $id: string }[]
  }
  expect(anyOf.map(({ $id }) => $id)).toEqual(['gpunvme.pack/1', 'gpunvme.pack-plan/1'])
})

test('schema on a narrow terminal prints the same text as on a pipe, neither folded nor coloured', async () => {
  const words = ['schema', 'nvme', 'smart']
  const { stdout } = await gpunvme(words, { cwd: root })
  expect(stdout.split('\n').some((line) => line.length > 60)).toBe(true)
  expect((await gpunvme(words, { cwd: root, columns: 60 })).stdout).toBe(stdout)
})

test('schema without a verb lists all files once', async () => {
  const { stdout } = await gpunvme(['schema'], { cwd: root })
  const names = [...stdout.matchAll(/gpunvme\.([a-z0-9.-]+)\/(\d+)/g)].map(
    ([, name, version]) => `${name}-${version}.json`,
  )
  expect(names.sort()).toEqual(readdirSync(join(root, 'schemas')).sort())
})

test('a verb without a schema is refused', async () => {
  const { code, stderr } = await gpunvme(['schema', 'nvme', 'trace'], { cwd: root })
  expect([code, stderr]).toEqual([
    2,
    "No schema for 'nvme trace'\n  Try: gpunvme schema, which lists the available schemas\n",
  ])
})
