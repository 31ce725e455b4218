import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import { fileMedia } from '@gpunvme/nvme-sim/file-media'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fileOnDiskSource, findPartitions, openFileSystem } from '../../src/filesystems/index.js'
import type { ByteSource } from '../../src/formats/byte-source.js'
import { openFileSource } from '../../src/formats/file-source.js'
import { Catalogue, openModel, writeDemoModel, type Model } from '../../src/formats/index.js'
import { modelInPlace, streamLayers } from '../../src/index.js'
import { storeSource } from '../../src/store/index.js'
import { emptyImage, MIB, missing, run, SLOW_MS } from './images.js'

const images = scratch()
const lacks = missing('sfdisk', 'mkfs.ext4', 'mkfs.vfat', 'mcopy')

/** Returns a checksum for each tensor of a model, read from a source. */
async function digestsOf(source: ByteSource, model: Model): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name, offsetBytes, lengthBytes } of model.tensors) {
    const bytes = new Uint8Array(lengthBytes)
    await source.read(offsetBytes, bytes)
    found[name] = createHash('sha256').update(bytes).digest('hex')
  }
  return found
}

/** Returns the same checksums, with partitions, file system, headers and layers read through the NVMe driver. */
async function streamedDigests(drive: string, kind: string, path: string): Promise<Record<string, string>> {
  const media = fileMedia(drive, { readOnly: true })
  const controller = await Controller.open(simulate({ profile: 'sn740', namespaces: [{ media }] }).transport)
  const namespace = controller.namespace(1)
  const source = storeSource(namespace)
  const found: Record<string, string> = {}
  for (const partition of (await findPartitions(source)).partitions) {
    const fileSystem = await openFileSystem(source, { partition })
    if (fileSystem.kind !== kind) continue
    const file = await fileSystem.file(path)
    const catalogue = new Catalogue(await openModel(fileOnDiskSource(source, file)))
    const model = modelInPlace(catalogue, namespace, [file.extents])
    for await (using layer of streamLayers(model, { verify: 'off', slots: 2 })) {
      for (const { name } of layer.tensors) {
        found[name] = createHash('sha256').update(layer.tensor(name)).digest('hex')
      }
    }
  }
  await controller.close()
  media.close()
  return found
}

describe.skipIf(lacks !== undefined)(`a drive with partitions${lacks ? ` (skipped: ${lacks})` : ''}`, () => {
  test(
    'a model in an ext4 or FAT32 partition is streamed identical to the original file',
    async () => {
      const folder = join(images, 'models')
      mkdirSync(folder)
      const path = join(folder, 'demo.gguf')
      const { sizeBytes } = await writeDemoModel(path, { layers: 4, targetBytes: 8 * MIB })
      const drive = emptyImage(join(images, 'drive'), 128 * MIB)
      run('sfdisk', ['-q', drive], { input: 'label: gpt\nsize=48MiB, name=linux\nsize=64MiB, name=shared\n' })

      await using source = await openFileSource(drive)
      const { kind, partitions } = await findPartitions(source)
      expect([kind, ...partitions.map(({ name }) => name)]).toEqual(['GPT', 'linux', 'shared'])
      const [linux, shared] = partitions
      run('mkfs.ext4', ['-q', '-F', '-E', `offset=${linux!.startBytes}`, '-d', folder, drive, '48m'])
      const sectors = String(shared!.startBytes / 512)
      run('mkfs.vfat', ['-F', '32', '--offset', sectors, drive, String(shared!.lengthBytes / 1024)])
      run('mcopy', ['-i', `${drive}@@${shared!.startBytes}`, path, '::/demo.gguf'])

      await using original = await openFileSource(path)
      const expected = await openModel(original)
      const expectedDigests = await digestsOf(original, expected)
      expect(Object.keys(expectedDigests).length).toBeGreaterThan(30)
      for (const [partition, fileSystemKind] of [
        [linux, 'ext4'],
        [shared, 'FAT32'],
      ] as const) {
        const fileSystem = await openFileSystem(source, { partition: partition! })
        expect(fileSystem.kind).toBe(fileSystemKind)
        const file = await fileSystem.file('demo.gguf')
        expect(file.sizeBytes).toBe(sizeBytes)
        const inPlace = fileOnDiskSource(source, file)
        const model = await openModel(inPlace)
        expect(model.tensors).toEqual(expected.tensors)
        expect(await digestsOf(inPlace, model)).toEqual(expectedDigests)
        expect(await streamedDigests(drive, fileSystemKind, 'demo.gguf')).toEqual(expectedDigests)
      }
    },
    SLOW_MS,
  )
})
