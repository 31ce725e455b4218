import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { oneCell } from '../../test/bench-results.js'
import { withResultFiles } from './result-files.js'

const folder = scratch()
const path = (name: string) => join(folder, name)

test('withResultFiles writes each file in its format after the measurement', async () => {
  writeFileSync(path('old'), 'before')
  const wanted = [
    { path: path('old'), format: () => 'new' },
    { path: undefined, format: () => 'guess' },
    { path: path('model'), format: ({ drive }: { drive: { model: string } }) => drive.model },
  ]
  const results = await withResultFiles(wanted, () => {
    expect(readFileSync(path('old'), 'utf8')).toBe('before')
    return Promise.resolve(oneCell())
  })
  expect(results).toEqual(oneCell())
  expect(readFileSync(path('old'), 'utf8')).toBe('new')
  expect(readFileSync(path('model'), 'utf8')).toBe('WD PC SN740')
  expect(readdirSync(folder).toSorted()).toEqual(['model', 'old'])
})

test('withResultFiles keeps existing files if the measurement fails', async () => {
  const failing = withResultFiles([{ path: path('old'), format: () => 'never' }], () =>
    Promise.reject(new Error('gone')),
  )
  await expect(failing).rejects.toThrow('gone')
  expect(readFileSync(path('old'), 'utf8')).toBe('new')
  expect(readdirSync(folder).toSorted()).toEqual(['model', 'old'])
})

test('withResultFiles rejects unwritable and repeated paths before the measurement', async () => {
  let measured = false
  const use = () => {
    measured = true
    return Promise.resolve(oneCell())
  }
  await expect(withResultFiles([{ path: path('none/x'), format: () => '' }], use)).rejects.toMatchObject({
    category: 'not-found',
  })
  const twice = [1, 2].map(() => ({ path: path('same'), format: () => '' }))
  await expect(withResultFiles(twice, use)).rejects.toThrow('Two results have the same path')
  expect(measured).toBe(false)
})

test('withResultFiles rejects paths of its inputs, also by links', async () => {
  writeFileSync(path('drive.img'), 'a drive')
  symlinkSync('drive.img', path('link'))
  linkSync(path('drive.img'), path('hard'))
  const use = vi.fn(() => Promise.resolve(oneCell()))
  for (const name of ['drive.img', 'link', 'hard']) {
    const wanted = [{ path: path(name), format: () => '' }]
    await expect(withResultFiles(wanted, use, [path('none'), path('drive.img')])).rejects.toMatchObject({
      category: 'usage',
      message: expect.stringContaining(`${name} is measured or read`) as string,
    })
  }
  expect(use).not.toHaveBeenCalled()
  expect(readFileSync(path('drive.img'), 'utf8')).toBe('a drive')
})
