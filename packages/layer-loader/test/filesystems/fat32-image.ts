import { closeSync, cpSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceExtent } from '../../src/filesystems/index.js'
import { emptyImage, MIB, noise, run } from './images.js'

/** Content of a file with more than a hundred fragments. */
export const BIG = noise(1_500_000, 2)
export const LONG_NAME = 'A model with a rather long name, in größe and ✓, part 00001-of-00002.safetensors'
const FILLERS = 400

/** Returns a function that creates a named FAT32 image with these mkfs options. Images with equal options are copied. */
export function fat32Images(folder: string): (name: string, mkfs: readonly string[], mib?: number) => string {
  const base = new Map<string, string>()
  return (name, mkfs, mib = 40) => {
    const key = mkfs.join(' ')
    if (!base.has(key)) base.set(key, make(join(folder, `base-${base.size}`), mkfs, mib))
    cpSync(base.get(key)!, join(folder, name))
    return join(folder, name)
  }

  function make(image: string, mkfs: readonly string[], mib: number): string {
    const files = join(folder, 'contents')
    mkdirSync(files, { recursive: true })
    const fillers = Array.from({ length: FILLERS }, (_, index) => join(files, `filler-${index}.bin`))
    for (const [index, filler] of fillers.entries()) writeFileSync(filler, noise(4000, index))
    writeFileSync(join(files, 'big'), BIG)
    writeFileSync(join(files, 'small'), noise(777, 5))
    writeFileSync(join(files, 'empty'), '')
    run('mkfs.vfat', ['-F', '32', '-n', 'WEIGHTS', ...mkfs, emptyImage(image, mib * MIB)])
    run('mmd', ['-i', image, '::/models', '::/models/Deep'])
    run('mcopy', ['-i', image, ...fillers, '::/models'])
    run('mdel', [
      '-i',
      image,
      ...fillers.filter((_, index) => index % 2 === 1).map((path) => `::/models/${path.split('/').at(-1)}`),
    ])
    // mtools allocates from FSI_Nxt_Free in the second sector. Reset it, so that the next file fills the gaps.
    const sectorBytes = mkfs.includes('4096') ? 4096 : 512
    const handle = openSync(image, 'r+')
    writeSync(handle, Uint8Array.of(2, 0, 0, 0), 0, 4, sectorBytes + 492)
    closeSync(handle)
    run('mcopy', ['-i', image, join(files, 'big'), `::/models/Deep/${LONG_NAME}`])
    run('mcopy', ['-i', image, join(files, 'small'), '::/models/Deep/SMALL.BIN'])
    run('mcopy', ['-i', image, join(files, 'empty'), '::/models/Deep/empty'])
    return image
  }
}

/** Returns the extents of a file by mshowfat, which prints clusters as <first-last> or <one>. */
export function judgedExtents(image: string, path: string, sizeBytes: number): DeviceExtent[] {
  const info = run('minfo', ['-i', image])
  const number = (pattern: RegExp) => Number(pattern.exec(info)![1])
  const sectorBytes = number(/sector size: (\d+) bytes/)
  const clusterBytes = number(/cluster size: (\d+) sectors/) * sectorBytes
  const reserved = number(/reserved \(boot\) sectors: (\d+)/)
  const tables = number(/fats: (\d+)/)
  const tableSectors = number(/Big fatlen=(\d+)/)
  const heapBytes = (reserved + tables * tableSectors) * sectorBytes
  const clusters = [...run('mshowfat', ['-i', image, `::${path}`]).matchAll(/<(\d+)(?:-(\d+))?>/g)]
  let fileOffsetBytes = 0
  return clusters.map(([, first, last = first]) => {
    const lengthBytes = Math.min((Number(last) - Number(first) + 1) * clusterBytes, sizeBytes - fileOffsetBytes)
    const extent = { fileOffsetBytes, deviceOffsetBytes: heapBytes + (Number(first) - 2) * clusterBytes, lengthBytes }
    fileOffsetBytes += lengthBytes
    return extent
  })
}
