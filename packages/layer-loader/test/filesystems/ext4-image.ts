import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceExtent } from '../../src/filesystems/index.js'
import { emptyImage, MIB, noise, run } from './images.js'

/** Content of a file with about a hundred fragments at any block size up to 4 KiB. */
export const BIG = noise(1_500_000, 1)

/** Creates more fragments than four extent leaves in blocks of 1 KiB can hold, 4 × 84. */
const FILLERS = 900

/** Creates the content of a new image: fillers, directories and links. */
function contents(folder: string): string {
  const files = join(folder, 'contents')
  mkdirSync(join(files, 'models', 'deep', 'deeper'), { recursive: true })
  for (let index = 0; index < FILLERS; index++) writeFileSync(join(files, `filler-${index}`), noise(3000, index))
  writeFileSync(join(files, 'models', 'small.bin'), noise(777, 5))
  writeFileSync(join(files, 'models', 'größe ✓.bin'), noise(5000, 6))
  writeFileSync(join(files, 'empty'), '')
  writeFileSync(join(files, 'tiny'), 'short enough for an inode')
  // A block of 1 KiB holds three names of this length. The hash tree has a second level above 123 blocks.
  mkdirSync(join(files, 'hashed'))
  for (let index = 0; index < 600; index++) writeFileSync(join(files, 'hashed', `${index}-`.padEnd(240, 'x')), '')
  symlinkSync('../../big.gguf', join(files, 'models', 'deep', 'link'))
  symlinkSync(
    `./././././././././././././././././././././././././././././././././small.bin`,
    join(files, 'models', 'slow-link'),
  )
  symlinkSync('/big.gguf', join(files, 'absolute'))
  symlinkSync('loop', join(files, 'loop'))
  symlinkSync('../out', join(files, 'out'))
  return files
}

/** Returns a function that creates a named ext4 image with these mkfs options. Images with equal options are copied. */
export function ext4Images(folder: string): (name: string, mkfs: readonly string[]) => string {
  let files: string | undefined
  writeFileSync(join(folder, 'big'), BIG)
  const base = new Map<string, string>()
  return (name, mkfs) => {
    const made = base.get(mkfs.join(' ')) ?? make(mkfs)
    return (cpSync(made, join(folder, name)), join(folder, name))
  }

  /** Deletes every second filler, so that the last file is fragmented over the gaps. */
  function make(mkfs: readonly string[]): string {
    files ??= contents(folder)
    const image = emptyImage(join(folder, `base-${base.size}`), (mkfs.includes('65536') ? 160 : 24) * MIB)
    run('mkfs.ext4', ['-q', '-F', '-L', 'weights', '-d', files, ...mkfs, image])
    const removed = Array.from({ length: FILLERS / 2 }, (_, index) => `rm filler-${index * 2 + 1}`)
    debugfs(image, ...removed, 'write big big.gguf')
    base.set(mkfs.join(' '), image)
    return image
  }

  /** Runs requests of debugfs from a script file. */
  function debugfs(image: string, ...requests: string[]): void {
    writeFileSync(join(folder, 'requests'), requests.join('\n'))
    run('debugfs', ['-w', '-f', join(folder, 'requests'), image], { cwd: folder })
  }
}

/** Runs one request of debugfs on an image, and returns its output. */
export function debugfs(image: string, request: string): string {
  return run('debugfs', ['-w', '-R', request, image])
}

/** Returns the extents of a file by debugfs. Adjacent runs are merged, and the last ends at the end of the file. */
export function judgedExtents(image: string, path: string, blockBytes: number, sizeBytes: number): DeviceExtent[] {
  const found: DeviceExtent[] = []
  // 0/ 1 1/ 67 0 - 0 1421 - 1421 1: level, entry, logical, physical, length.
  for (const line of debugfs(image, `dump_extents -l ${path}`).split('\n').slice(1)) {
    const [, logical, physical, blocks] = /(\d+) - +\d+ +(\d+) - +\d+ +(\d+)\s*$/.exec(line)?.map(Number) ?? []
    if (blocks === undefined) continue
    const last = found.at(-1)
    const deviceOffsetBytes = physical! * blockBytes
    if (last !== undefined && last.deviceOffsetBytes + last.lengthBytes === deviceOffsetBytes) {
      found[found.length - 1] = { ...last, lengthBytes: last.lengthBytes + blocks * blockBytes }
    } else {
      found.push({ fileOffsetBytes: logical! * blockBytes, deviceOffsetBytes, lengthBytes: blocks * blockBytes })
    }
  }
  const last = found.at(-1)
  if (last !== undefined) {
    found[found.length - 1] = { ...last, lengthBytes: sizeBytes - last.fileOffsetBytes }
  }
  return found
}

/** Returns the names in the root directory by debugfs: lines of /inode/mode/uid/gid/name/size/, inode 0 if deleted. */
export function judgedNames(image: string): string[] {
  return debugfs(image, 'ls -p /')
    .split('\n')
    .map((line) => line.split('/'))
    .filter(([, inode, , , , name]) => name !== undefined && inode !== '0' && name !== '.' && name !== '..')
    .map((fields) => fields[5]!)
}
