import { CNS, IdentifyController, IdentifyNamespace, LID, TemperatureThreshold, Timestamp } from '@gpunvme/nvme-spec'
import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller, type ManagedController } from '../controller.js'
import { CommandError } from '../commands/errors.js'
import type { RawCommand } from '../management/raw.js'
import { AdminReader, type AdminExchange } from './reader.js'

/** Sends single commands by another way, such as another driver's passthrough. */
function passedOn(ctrl: ManagedController, sent: string[]): AdminExchange {
  return async (command, values, options) => {
    sent.push(command.name)
    const memory = ctrl.management.dma.alloc(4096)
    const { dw0, status } = await ctrl.management.submitAdmin(command as RawCommand<typeof values>, values, {
      data: { memory },
    })
    const { lengthBytes = 4096 } = options ?? {}
    const copy = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, lengthBytes).slice()
    memory.free()
    if (status.sc !== 0) throw new CommandError(command.name, '', (status.sct << 8) | status.sc, dw0)
    return { dw0, data: new DataView(copy.buffer) }
  }
}

test('AdminReader returns the same data as the controller handle, and sends only commands that read', async () => {
  const { transport } = simulate({ namespaces: [{ capacityBytes: 8 * 1024 * 1024 }] })
  const write = { serial: 'GPUNVME-SIM-1' }
  const ctrl = await Controller.open(transport, { write, manage: true })
  const sent: string[] = []
  const reader = await AdminReader.open(passedOn(ctrl, sent))
  expect(IdentifyController.view(reader.identity.raw).SN).toBe('GPUNVME-SIM-1')
  expect(await reader.identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })).toMatchObject({ NSZE: 16_384 })
  expect(await reader.smartLog()).toEqual(await ctrl.smartLog())
  expect(await reader.errorLog()).toEqual([])
  const page = { lengthBytes: 256, offsetBytes: 128 }
  expect(await reader.logPage(LID.SMART_HEALTH_INFORMATION, page)).toEqual(
    await ctrl.logPage(LID.SMART_HEALTH_INFORMATION, page),
  )
  const threshold = await reader.getFeature(TemperatureThreshold)
  expect(threshold).toEqual(await ctrl.getFeature(TemperatureThreshold))
  const { rawData, data } = await reader.getFeature(Timestamp)
  expect(rawData.getUint32(0, true) + rawData.getUint16(4, true) * 2 ** 32).toBe(data.TSTMP)
  expect(await reader.featureCapabilities(TemperatureThreshold)).toMatchObject({ CHANGEABLE: 1 })
  await expect(reader.identify(0xc7, IdentifyNamespace)).rejects.toThrow('Invalid Field in Command')
  expect(new Set(sent)).toEqual(new Set(['Identify', 'Get Log Page', 'Get Features']))
  await ctrl.close()
})
