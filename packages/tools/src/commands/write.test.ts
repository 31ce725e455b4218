import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { failureOf } from '../../test/gpunvme.js'
import { compareWritten, ReadBackError } from '../block-io/compare-written.js'
import { InterruptedError } from '../command-line/interrupt.js'

vi.mock(import('../block-io/compare-written.js'), async (original) => ({
  ...(await original()),
  compareWritten: vi.fn(),
}))

const folder = scratch()

test.each<[string, () => Error]>([
  ['finds a difference', () => new ReadBackError(0, 8)],
  ['is interrupted', () => new InterruptedError('SIGINT')],
])(
  'a new image with flushed bytes is kept when the comparison %s',
  async (_, reason) => {
    const [bytes, image] = [join(folder, 'bytes'), join(folder, 'new.img')]
    writeFileSync(bytes, Buffer.alloc(4096, 7))
    vi.mocked(compareWritten).mockRejectedValueOnce(reason())
    const words = ['nvme', 'write', bytes, '--image', image, '--capacity', '16MiB', '--lba', '0', '--verify', '--quiet']
    expect(await failureOf(...words)).toEqual(reason())
    expect(existsSync(image)).toBe(true)
    rmSync(image)
  },
  60_000,
)
