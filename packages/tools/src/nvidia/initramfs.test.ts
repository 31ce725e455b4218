import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { cpio, initramfs } from '../../test/nvidia/cpio.js'
import { describedModule } from '../../test/nvidia/described-driver.js'
import { moduleInInitramfs } from './initramfs.js'

const MODULE = describedModule({ version: '580.142', flavour: 'open', pfn: 'none' }, '6.12.43')
const EARLY = [{ path: 'kernel/x86/microcode/GenuineIntel.bin', contents: Buffer.alloc(100_001, 1) }]

function files(path: string, contents = MODULE) {
  return [
    { path: 'usr/lib/modules/6.12.43/kernel/drivers/nvidia-drm.ko', contents: Buffer.from('another module') },
    { path, contents },
    { path: 'etc/nvidia.ko', contents: Buffer.from('no module') },
  ]
}

test.each([
  ['Debian', 'usr/lib/modules/6.12.43/updates/dkms/nvidia.ko'],
  ['dracut', 'lib/modules/6.12.43/extra/nvidia.ko'],
])('moduleInInitramfs finds the module after microcode at the path of %s', async (_, path) => {
  expect(await moduleInInitramfs(initramfs(files(path), { early: EARLY }))).toEqual(MODULE)
})

test('moduleInInitramfs decompresses the module', async () => {
  const image = initramfs(files('usr/lib/modules/6.12.43/extra/nvidia.ko.gz', gzipSync(MODULE)))
  expect(await moduleInInitramfs(image)).toEqual(MODULE)
})

test('moduleInInitramfs searches uncompressed and concatenated archives', async () => {
  const path = 'usr/lib/modules/6.12.43/updates/nvidia.ko'
  const plain = Buffer.concat([cpio(EARLY), Buffer.alloc(1024), cpio(files(path))])
  expect(await moduleInInitramfs(plain)).toEqual(MODULE)
  const packed = gzipSync(Buffer.concat([cpio(EARLY), Buffer.alloc(512), cpio(files(path))]))
  expect(await moduleInInitramfs(packed)).toEqual(MODULE)
})

test('moduleInInitramfs returns undefined without the module', async () => {
  expect(
    await moduleInInitramfs(initramfs(files('usr/lib/modules/6.12.43/nvidia-uvm.ko'), { early: EARLY })),
  ).toBeUndefined()
  expect(await moduleInInitramfs(Buffer.alloc(0))).toBeUndefined()
})

test.for(['xz', 'zstd', 'lz4'])('moduleInInitramfs unpacks %s by its program', async (program, { skip }) => {
  const path = 'usr/lib/modules/6.12.43/updates/nvidia.ko'
  const options = program === 'xz' ? ['--check=crc32'] : program === 'lz4' ? ['-l'] : []
  const { error, stdout } = spawnSync(program, [...options, '-c', '-q'], { input: cpio(files(path)) })
  if (error) return skip(`[unpackers] ${program} is not installed`)
  expect(await moduleInInitramfs(Buffer.concat([cpio(EARLY), stdout]))).toEqual(MODULE)
})

test('moduleInInitramfs reports a missing decompressor', async () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  try {
    const found = await moduleInInitramfs(Buffer.concat([Buffer.from('28b52ffd', 'hex'), Buffer.alloc(64)]))
    expect(found).toEqual({ unknown: 'the decompressor zstd is not installed' })
  } finally {
    process.env['PATH'] = PATH
  }
})

test.each([
  ['is truncated in a header', (image: Buffer) => image.subarray(0, 60), 'it is truncated'],
  ['is truncated in a file', (image: Buffer) => image.subarray(0, 400), 'it is truncated'],
  ['begins with something else', () => Buffer.from('MZ'.repeat(200)), 'other than a cpio archive'],
  ['has a name that is too long', (image: Buffer) => put(image, 94, '00010000'), 'a name in it has 65536 bytes'],
])('moduleInInitramfs returns a reason for an initramfs that %s', async (_, change, reason) => {
  const found = await moduleInInitramfs(Buffer.from(change(cpio(EARLY))))
  expect(found).toEqual({ unknown: expect.stringContaining(reason) as string })
})

test('moduleInInitramfs returns a reason for a module that is too large', async () => {
  const [module] = files('usr/lib/modules/6.12.43/updates/nvidia.ko').slice(1)
  const found = await moduleInInitramfs(put(cpio([module!]), 54, 'fffffff0'))
  expect(found).toEqual({ unknown: expect.stringContaining('claims 4294967280 bytes') as string })
})

/** Replaces a field of the first header. */
function put(image: Buffer, at: number, text: string): Buffer {
  const changed = Buffer.from(image)
  changed.write(text, at, 'latin1')
  return changed
}
