import { existsSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { Scratch } from './scratch.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

function failure(action: () => void): unknown {
  try {
    action()
  } catch (error) {
    return error
  }
  return undefined
}

test('without mkfifo in PATH, the error names the missing program', () => {
  const scratch = new Scratch(4096)
  scratch.make()
  try {
    vi.stubEnv('PATH', '/nowhere')
    const error = failure(() => {
      scratch.fifos(scratch.file('qtest'))
    })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_FIFO' })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_FIFO', category: 'not-found' })
    expect((error as Error).message).toContain('Try: install mkfifo')
  } finally {
    scratch.remove()
  }
  expect(existsSync(scratch.file('qtest'))).toBe(false)
})

test('the error of a failed mkfifo contains its message', () => {
  const scratch = new Scratch(4096)
  const error = failure(() => {
    scratch.fifos(scratch.file('qtest')) // in a directory that does not exist
  })
  expect((error as Error).message).toContain('No such file or directory')
  expect((error as Error).message).toContain('Try: set TMPDIR to a writable directory')
})
