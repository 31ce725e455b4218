import { expect, test } from 'vitest'
import { machineOptions } from './qtest/options.js'
import { openSysfs } from './sysfs.js'
import { openVfio } from './vfio/index.js'
import { openVfioUser } from './vfio-user/index.js'

test.each([
  [{ vramByte: 1 }, "startQemu: unknown 'vramByte'; known are program, controllers, memoryBytes,"],
  [{ controllers: [{ mdst: 5 }] }, "controllers[0]: unknown 'mdst'; known are serial, mdts,"],
  [
    { controllers: [{ namespaces: [{ blocks: 8 }] }] },
    "controllers[0].namespaces[0]: unknown 'blocks'; known are nsid,",
  ],
  [{ vramView: 1 }, 'vramView: expected true or false, got 1'],
])('rejects the options %j by name', (options, says) => {
  expect(() => machineOptions(options as never)).toThrow(TypeError)
  expect(() => machineOptions(options as never)).toThrow(says)
})

test('openVfioUser rejects a host without sockets', async () => {
  const opened = openVfioUser({ host: { waitReadable: () => false } as never, socket: '/tmp/none' })
  await expect(opened).rejects.toThrow(
    new TypeError('host: expected loadSocketHost() of @gpunvme/cuda-native/host, got Object'),
  )
})

test('openVfio and openSysfs reject missing and unknown options', async () => {
  await expect(openVfio(undefined as never)).rejects.toThrow('openVfio: options: expected an object, got undefined')
  await expect(openSysfs(undefined as never)).rejects.toThrow('openSysfs: options: expected an object, got undefined')
  const given = { host: {}, bdf: '0000:0b:00.0', interupts: 3 } as never
  await expect(openVfio(given)).rejects.toThrow("openVfio: unknown 'interupts'; known are host, bdf,")
  await expect(openSysfs(given)).rejects.toThrow("openSysfs: unknown 'interupts'; known are host, bdf,")
})
