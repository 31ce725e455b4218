import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { requireSpace } from './enough-space.js'

test('requireSpace rejects a size above the free space, and reports both', async () => {
  await requireSpace('A file', tmpdir(), 1, 'less')
  await expect(requireSpace('A file', tmpdir(), 2 ** 60, 'less')).rejects.toMatchObject({
    category: 'infeasible',
    message: expect.stringMatching(
      /^A file would take 1024 PiB of disk space\n {2}.* has .*B free\n {2}Try: less$/,
    ) as string,
  })
})
