import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { openFileSource } from './index.js'

const folder = scratch()

test('openFileSource rejects a pipe without waiting for its writer', async () => {
  const fifo = join(folder, 'fifo')
  execFileSync('mkfifo', [fifo])
  await expect(openFileSource(fifo)).rejects.toThrow('it is a pipe, socket or character device')
})
