import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadHardwareHost, NativeAddonError } from '@gpunvme/cuda-native/host'
import { scratch } from '../../../../test/scratch.js'
import {
  captureFileExtents,
  checkCapturedFile,
  decodeFileMap,
  encodeFileMap,
  openCapturedFile,
  type CapturedFile,
} from '../../src/filesystems/index.js'
import { openFileSource } from '../../src/formats/file-source.js'
import { emptyImage, MIB, missing, noise, run, SLOW_MS, verdict } from './images.js'

const images = scratch()

/** Returns the addon, or the reason to skip. An addon that exists and does not load is a failure. */
function findHost() {
  try {
    return { host: loadHardwareHost() }
  } catch (error) {
    if (error instanceof NativeAddonError && error.tried.every(({ reason }) => reason === 'no such file')) {
      return { lacks: '[native] gpunvme_host is not built' }
    }
    throw error
  }
}
const { host, lacks = missing('filefrag') } = findHost()

/** Appends to two files in turn with a flush after each, so that both are fragmented. */
function writeFragmented(path: string, other: string, content: Buffer): void {
  const handles = [openSync(path, 'w'), openSync(other, 'w')]
  for (let at = 0; at < content.byteLength; at += 128 * 1024) {
    for (const handle of handles) {
      writeSync(handle, content.subarray(at, at + 128 * 1024))
      execFileSync('sync', ['-d', handle === handles[0] ? path : other])
    }
  }
  handles.forEach(closeSync)
}

/** Returns the runs of a file by filefrag, which does not merge all adjacent runs. */
function filefragRuns(path: string): { fileOffsetBytes: number; deviceOffsetBytes: number; lengthBytes: number }[] {
  return run('filefrag', ['-b1', '-v', path])
    .split('\n')
    .flatMap((line) => {
      const [, logical, physical, length] =
        /^ *\d+: +(\d+)\.\. *\d+: +(\d+)\.\. *\d+: +(\d+):/.exec(line)?.map(Number) ?? []
      return length === undefined
        ? []
        : [{ fileOffsetBytes: logical!, deviceOffsetBytes: physical!, lengthBytes: length }]
    })
}

/** Expects that every byte of filefrag's runs, up to the end of the file, has the same place in the map. */
function expectAgreement({ extents, sizeBytes, partitionStartBytes }: CapturedFile, path: string): void {
  const runs = filefragRuns(path)
  expect(runs.length).toBeGreaterThan(0)
  for (const { fileOffsetBytes, deviceOffsetBytes, lengthBytes } of runs) {
    const ours = extents.find(
      (one) => fileOffsetBytes >= one.fileOffsetBytes && fileOffsetBytes < one.fileOffsetBytes + one.lengthBytes,
    )!
    const place = ours.deviceOffsetBytes + (fileOffsetBytes - ours.fileOffsetBytes)
    expect(place - partitionStartBytes).toBe(deviceOffsetBytes)
    const endBytes = Math.min(sizeBytes, fileOffsetBytes + lengthBytes)
    expect(ours.fileOffsetBytes + ours.lengthBytes).toBeGreaterThanOrEqual(endBytes)
  }
}

describe.skipIf(lacks !== undefined)(`a file of this machine${lacks ? ` (skipped: ${lacks})` : ''}`, () => {
  test(
    'the map of a file has the runs that filefrag lists',
    async ({ skip }) => {
      const path = join(images, 'here')
      writeFileSync(path, noise(5_000_001, 1))
      try {
        expectAgreement(await captureFileExtents(path, { host: host! }), path)
      } catch (error) {
        const { code, message } = error as { code?: string; message: string }
        if (code !== 'ERR_GPUNVME_CAPTURE_MOUNT' && code !== 'ERR_GPUNVME_CAPTURE_STACKED') throw error
        skip(`the folder for temporary files is not on a drive's own ext4 or XFS: ${message.split('\n')[0]!}`)
      }
    },
    SLOW_MS,
  )
})

// captureFileExtents rejects loop devices, since their offsets are not those of a drive. A fake /sys makes the mounted
// device an NVMe drive instead, so that the map can be compared with the bytes of the image.
describeMounted('ext4', 4 * MIB, 40 * MIB, (image) => {
  run('mkfs.ext4', ['-q', '-F', '-E', `offset=${4 * MIB}`, image, '40960k'])
})
describeMounted('xfs', 0, 320 * MIB, (image) => {
  run('mkfs.xfs', ['-q', '-f', image])
})

function describeMounted(
  fileSystem: 'ext4' | 'xfs',
  startBytes: number,
  lengthBytes: number,
  format: (image: string) => void,
): void {
  const folder = join(images, fileSystem)
  const image = join(folder, 'image')
  const mounted = join(folder, 'mounted')
  const sysRoot = join(folder, 'root')
  const path = join(mounted, 'model.gguf')
  const content = noise(3_000_001, 2)
  const skipReason = mountImage()
  afterAll(() => {
    if (skipReason === undefined) run('umount', [mounted])
  })

  /** Mounts the image. Returns the reason if that is impossible. */
  function mountImage(): string | undefined {
    if (lacks !== undefined) return lacks
    const noTool = missing(`mkfs.${fileSystem}`, 'mount', 'umount', 'sync')
    if (noTool !== undefined) return noTool
    if (process.getuid?.() !== 0) return 'only root can mount an image'
    mkdirSync(mounted, { recursive: true })
    format(emptyImage(image, startBytes + lengthBytes))
    const { status, said } = verdict('mount', ['-o', `loop,offset=${startBytes}`, image, mounted])
    return status === 0 ? undefined : `an image cannot be mounted: ${said.split('\n')[0]!}`
  }

  /** Creates a tree in which the mounted device is an NVMe drive or a partition of one. */
  function makeSysRoot(): void {
    const disk = join(sysRoot, 'sys/block/nvme0n1')
    const device = startBytes === 0 ? disk : join(disk, 'nvme0n1p1')
    mkdirSync(device, { recursive: true })
    if (device !== disk) writeFileSync(join(device, 'partition'), '1\n')
    writeFileSync(join(device, 'start'), `${startBytes / 512}\n`)
    writeFileSync(join(device, 'size'), `${lengthBytes / 512}\n`)
    mkdirSync(join(sysRoot, 'sys/dev/block'), { recursive: true })
    symlinkSync(device, join(sysRoot, 'sys/dev/block', run('stat', ['-c', '%Hd:%Ld', path]).trim()))
    symlinkSync('/proc', join(sysRoot, 'proc'))
  }

  const title = `a file of a mounted ${fileSystem}${skipReason ? ` (skipped: ${skipReason})` : ''}`
  describe.skipIf(skipReason !== undefined)(title, () => {
    beforeAll(() => {
      writeFragmented(path, join(mounted, 'other'), content)
      makeSysRoot()
    }, SLOW_MS)

    const capture = (name = path) => captureFileExtents(name, { host: host!, sysRoot })
    /** Reads a complete file from the drive by its map. */
    const readBack = async (captured: CapturedFile) => {
      await using drive = await openFileSource(image)
      const source = await openCapturedFile(drive, captured)
      const into = Buffer.alloc(captured.sizeBytes, 0xa5)
      await source.read(0, into)
      return into
    }

    test(
      'a fragmented file is read from the drive by its encoded map',
      async () => {
        const captured = await capture()
        expect(captured).toMatchObject({
          sizeBytes: content.byteLength,
          partitionStartBytes: startBytes,
          device: { disk: 'nvme0n1', ...(startBytes > 0 && { partition: 'nvme0n1p1' }), fileSystem },
        })
        expect(captured.extents.length).toBeGreaterThan(1)
        expectAgreement(captured, path)
        expect((await readBack(decodeFileMap(encodeFileMap(captured)))).equals(content)).toBe(true)
        await checkCapturedFile(captured)
      },
      SLOW_MS,
    )

    test(
      'a file on a loop device is rejected, since its offsets are not those of a drive',
      async ({ skip }) => {
        if (!existsSync('/sys/dev/block')) return skip('[sysfs] /sys lists no block devices')
        await expect(captureFileExtents(path, { host: host! })).rejects.toMatchObject({
          code: 'ERR_GPUNVME_CAPTURE_STACKED',
          message: expect.stringContaining('loop') as string,
        })
      },
      SLOW_MS,
    )

    test(
      'a file that is only in the page cache is flushed before its map is created',
      async () => {
        const fresh = join(mounted, 'fresh')
        writeFileSync(fresh, noise(100_000, 3))
        expect((await readBack(await capture(fresh))).equals(noise(100_000, 3))).toBe(true)
      },
      SLOW_MS,
    )

    test(
      'a file with a hole, unwritten or shared blocks is rejected, and so is a directory',
      async () => {
        writeFileSync(join(mounted, 'sparse'), '')
        truncateSync(join(mounted, 'sparse'), MIB)
        appendFileSync(join(mounted, 'sparse'), 'end')
        await expect(capture(join(mounted, 'sparse'))).rejects.toMatchObject({ code: 'ERR_GPUNVME_CAPTURE_HOLE' })
        run('fallocate', ['-l', '100000', join(mounted, 'reserved')])
        await expect(capture(join(mounted, 'reserved'))).rejects.toThrow('FIEMAP_EXTENT_UNWRITTEN')
        await expect(capture(mounted)).rejects.toMatchObject({ code: 'ERR_GPUNVME_CAPTURE_NOT_A_FILE' })
        if (fileSystem === 'xfs') {
          run('cp', ['--reflink=always', path, join(mounted, 'twin')])
          await expect(capture(join(mounted, 'twin'))).rejects.toThrow('FIEMAP_EXTENT_SHARED')
        }
      },
      SLOW_MS,
    )

    test(
      'a file that changes while its map is created is rejected',
      async () => {
        const changing = join(mounted, 'changing')
        writeFileSync(changing, noise(100_000, 4))
        let calls = 0
        const changingHost = {
          ioctl(fd: number, request: number, argument: Uint8Array) {
            if (++calls === 2) appendFileSync(changing, 'more')
            return host!.ioctl(fd, request, argument)
          },
        }
        await expect(captureFileExtents(changing, { host: changingHost, sysRoot })).rejects.toMatchObject({
          code: 'ERR_GPUNVME_CAPTURE_CHANGED',
        })
      },
      SLOW_MS,
    )

    test(
      'a file that changed later has a stale map, by the file and by the drive',
      async () => {
        const stale = join(mounted, 'stale')
        writeFileSync(stale, noise(100_000, 5))
        const captured = await capture(stale)
        const handle = openSync(stale, 'r+')
        writeSync(handle, 'other', 0)
        closeSync(handle)
        run('sync', [])
        await expect(checkCapturedFile(captured)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_MAP_STALE' })
        await expect(readBack(captured)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE_MAP_STALE' })
      },
      SLOW_MS,
    )
  })
}
