import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceExtent } from '../../src/filesystems/index.js'
import { emptyImage, MIB, noise, run } from './images.js'

/** A file that lies in some hundred pieces, whatever the block size is. */
export const BIG = noise(1_500_000, 1)

/** More than a leaf of 1 KiB blocks has room for in each of the four entries of an inode: 4 x 84. */
const FILLERS = 900

/** What a new image is populated from: fillers, a directory, and links. */
function contents(folder: string): string {
  const files = join(folder, 'contents')
  mkdirSync(join(files, 'models', 'deep', 'deeper'), { recursive: true })
  for (let index = 0; index < FILLERS; index++) writeFileSync(join(files, `filler-${index}`), noise(3000, index))
  writeFileSync(join(files, 'models', 'small.bin'), noise(777, 5))
  writeFileSync(join(files, 'models', 'größe ✓.bin'), noise(5000, 6))
  writeFileSync(join(files, 'empty'), '')
  writeFileSync(join(files, 'tiny'), 'short enough for an inode')
  // Three names of this length fill a block of 1 KiB, and its hash tree has a second level above 123 blocks.
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

/** Makes ext4 images out of the same files: a copy of one for each set of options, under a name of its own. */
export function ext4Images(folder: string): (name: string, mkfs: readonly string[]) => string {
  let files: string | undefined
  writeFileSync(join(folder, 'big'), BIG)
  const base = new Map<string, string>()
  return (name, mkfs) => {
    const made = base.get(mkfs.join(' ')) ?? make(mkfs)
    return (cpSync(made, join(folder, name)), join(folder, name))
  }

  /** With holes between the fillers, into which the last file goes. */
  function make(mkfs: readonly string[]): string {
    files ??= contents(folder)
    const image = emptyImage(join(folder, `base-${base.size}`), (mkfs.includes('65536') ? 160 : 24) * MIB)
    run('mkfs.ext4', ['-q', '-F', '-L', 'weights', '-d', files, ...mkfs, image])
    const removed = Array.from({ length: FILLERS / 2 }, (_, index) => `rm filler-${index * 2 + 1}`)
    debugfs(image, ...removed, 'write big big.gguf')
    base.set(mkfs.join(' '), image)
    return image
  }

  /** As a script, which debugfs reads from a file. */
  function debugfs(image: string, ...requests: string[]): void {
    writeFileSync(join(folder, 'requests'), requests.join('\n'))
    run('debugfs', ['-w', '-f', join(folder, 'requests'), image], { cwd: folder })
  }
}

/** Runs one request of debugfs on an image, and gives what it printed. */
export function debugfs(image: string, request: string): string {
  return run('debugfs', ['-w', '-R', request, image])
}

/** Where debugfs finds a file: runs that follow each other on the disk as one, the last cut to the file's length. */
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

/** What debugfs lists in the root directory: /inode/mode/uid/gid/name/size/ a line, inode 0 for what was deleted. */
export function judgedNames(image: string): string[] {
  return debugfs(image, 'ls -p /')
    .split('\n')
    .map((line) => line.split('/'))
    .filter(([, inode, , , , name]) => name !== undefined && inode !== '0' && name !== '.' && name !== '..')
    .map((fields) => fields[5]!)
}
