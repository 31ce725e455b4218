import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { Controller } from '@gpunvme/host-driver'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { createImageFile } from './drive/image-file.js'
import { ImageFileError, openEngine, openTransport, UnknownProfileError, UsageError, type EngineName } from './open.js'

const directory = scratch()

test('openTransport and openEngine open a usable controller by name', async () => {
  const { transport, link, time, close } = await openTransport('sim', { profile: 'sn740', capacityBytes: 1024 ** 3 })
  expect([time, link?.gen, link?.width, link?.mps]).toEqual(['modelled', 3, 4, 256])
  const controller = await Controller.open(transport, { engine: openEngine('host', transport) })
  expect(controller.namespace(1).capacityBytes).toBe(1024 ** 3)
  await controller.close()
  await close()
})

test('openTransport returns the serial number of a simulated drive, which allows writes', async () => {
  const { transport, serial, close } = await openTransport('sim')
  const controller = await Controller.open(transport, { write: { serial } })
  expect(controller.identity.serial).toBe(serial)
  await controller.close()
  await close()
})

test('openTransport creates an image file on request, and opens it again', async () => {
  const image = join(directory, 'drive.img')
  await expect(openTransport('sim', { image })).rejects.toThrow(ImageFileError)
  await expect(openTransport('sim', { image, create: true })).rejects.toThrow(UsageError)
  expect(existsSync(image)).toBe(false)
  const made = await openTransport('sim', { image, create: true, capacityBytes: 8 * 1024 * 1024 })
  await made.close()
  expect(statSync(image).size).toBe(8 * 1024 * 1024)
  const found = await openTransport('sim', { image, readOnly: true })
  const controller = await Controller.open(found.transport)
  expect(controller.namespace(1).capacityBytes).toBe(8 * 1024 * 1024)
  await controller.close()
  await found.close()
})

test('createImageFile does not overwrite an existing file', async () => {
  const image = join(directory, 'raced.img')
  await createImageFile(image, 4096)
  await expect(createImageFile(image, 512)).rejects.toMatchObject({
    category: 'privilege',
    message: expect.stringMatching(/raced\.img: it exists now.* \(EEXIST\)\n {2}Try: /) as string,
  })
  expect(statSync(image).size).toBe(4096)
})

test('openEngine rejects an engine that cannot drive the transport, and suggests the host engine', async () => {
  const { transport, close } = await openTransport('sim')
  for (const name of ['cpu-kernel', 'cuda'] as const) {
    // The error for cuda does not depend on a GPU.
    expect(() => openEngine(name, transport)).toThrow(EngineUnsuitableError)
    expect(() => openEngine(name, transport)).toThrow(`The engine '${name}' cannot drive the transport '`)
    expect(() => openEngine(name, transport)).toThrow('the host engine drives every transport')
  }
  await close()
})

test('openTransport and openEngine reject unknown names', async () => {
  await expect(openTransport('smi' as 'sim')).rejects.toThrow(UsageError)
  await expect(openTransport('smi' as 'sim')).rejects.toThrow('available: sim, qtest, sysfs, vfio, kmod, vfio-user')
  await expect(openTransport('sim', { profile: 'sn750' })).rejects.toThrow(UnknownProfileError)
  const { transport, close } = await openTransport('sim')
  expect(() => openEngine('hots' as EngineName, transport)).toThrow(UsageError)
  await close()
})
