import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openFileSource } from './index.js'

const folder = mkdtempSync(join(tmpdir(), 'gpunvme-fifo-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a pipe is refused as a model file, and its other end is not waited for', async () => {
  const fifo = join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  await expect(openFileSource(fifo)).rejects.toThrow('it is a pipe, socket or character device')
})
