import {
  CNS,
  CSI,
  IdentifyController,
  IdentifyNamespace,
  LID,
  namespaceIds,
  PowerManagement,
  TemperatureThreshold,
  Timestamp,
  VolatileWriteCache,
} from '@gpunvme/nvme-spec'
import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import { afterEach, expect, test } from 'vitest'
import { CommandError } from '../commands/errors.js'
import { Controller } from '../controller.js'

let simulation: ReturnType<typeof simulate>
afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

function open(options: SimulationOptions = {}) {
  simulation = simulate({ namespaces: [{ capacityBytes: 8 * 1024 * 1024 }], ...options })
  return Controller.open(simulation.transport)
}

test('identify decodes structures of the controller and of a namespace, and lists', async () => {
  await using ctrl = await open()
  const controller = await ctrl.identify(CNS.CONTROLLER, IdentifyController)
  expect(controller).toMatchObject({ SN: 'GPUNVME-SIM-1', MDTS: 8, SQES: { MINSQES: 6, MAXSQES: 6 } })
  const namespace = await ctrl.identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })
  expect(namespace).toMatchObject({ NSZE: 16_384, NCAP: 16_384 })
  const ids = { decode: (data: DataView) => [...namespaceIds(data)].map(({ type }) => type) }
  // UUID (3h) and Command Set Identifier (4h).
  expect(await ctrl.identify(CNS.NAMESPACE_DESCRIPTOR_LIST, ids, { nsid: 1 })).toEqual([3, 4])
})

test('identify of an unsupported structure is a CommandError with its status', async () => {
  await using ctrl = await open()
  const refused = ctrl.identify(CNS.COMMAND_SET_CONTROLLER, IdentifyController, { csi: CSI.ZNS })
  await expect(refused).rejects.toMatchObject({ name: 'CommandError', sct: 0, sc: 0x02 })
})

test('smartLog returns the current health, with temperatures in kelvins', async () => {
  await using ctrl = await open()
  simulation.setHealth({ temperatureKelvins: 311, availableSparePercent: 77 })
  const before = await ctrl.smartLog()
  await ctrl.namespace(1).readBytes(0, 512)
  await ctrl.namespace(1).readBytes(512, 512)
  const after = await ctrl.smartLog()
  expect(after.HRC - before.HRC).toBe(2n)
  expect(after).toMatchObject({ CTEMP: 311, AVSP: 77, CW: { ASCBT: 0, AMRO: 0 } })
})

test('errorLog returns the latest error first, without unused entries', async () => {
  await using ctrl = await open()
  expect(await ctrl.errorLog()).toEqual([])
  const wrong = ctrl.identify(0xc7, IdentifyController)
  await expect(wrong).rejects.toThrow(CommandError)
  await expect(ctrl.identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 99 })).rejects.toThrow(CommandError)
  const errors = await ctrl.errorLog()
  // Invalid Namespace or Format (0h, 0Bh), then Invalid Field in Command (0h, 02h): both on the Admin queue.
  expect(errors.map(({ ECNT, SQID, STS }) => [ECNT, SQID, STS.SCT, STS.SC])).toEqual([
    [2n, 0, 0, 0x0b],
    [1n, 0, 0, 0x02],
  ])
  expect(await ctrl.errorLog(1)).toHaveLength(1)
})

test('logPage reads up to 4 KiB, or a part from any dword', async () => {
  await using ctrl = await open()
  const whole = await ctrl.logPage(LID.COMMANDS_SUPPORTED_AND_EFFECTS, { lengthBytes: 4096 })
  const long = await ctrl.logPage(LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS, { lengthBytes: 1024 })
  expect([whole.byteLength, long.byteLength]).toEqual([4096, 1024])
  // Dword 2 + 06h of Commands Supported and Effects: Identify is supported (CSUPP, bit 0).
  const part = await ctrl.logPage(LID.COMMANDS_SUPPORTED_AND_EFFECTS, { lengthBytes: 8, offsetBytes: 4 * 6 })
  expect(part.byteLength).toBe(8)
  expect(part.getUint32(0, true)).toBe(whole.getUint32(24, true))
  expect(whole.getUint32(24, true) & 1).toBe(1)
})

test.each([0, 3, -4, NaN])('a log page of %d bytes is rejected with a RangeError', async (lengthBytes) => {
  await using ctrl = await open()
  await expect(ctrl.logPage(LID.SMART_HEALTH_INFORMATION, { lengthBytes })).rejects.toThrow(RangeError)
})

test('log page offsets are rejected on a controller without LPA.LPEDS', async () => {
  await using ctrl = await open({ profile: deriveProfile('ideal', { identify: { LPA: { CSES: 1, LPEDS: 0 } } }) })
  await ctrl.logPage(LID.COMMANDS_SUPPORTED_AND_EFFECTS, { lengthBytes: 4096 })
  const offset = ctrl.logPage(LID.COMMANDS_SUPPORTED_AND_EFFECTS, { lengthBytes: 4, offsetBytes: 4 })
  await expect(offset).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNSUPPORTED_COMMAND' })
  await expect(ctrl.logPage(LID.ERROR_INFORMATION, { lengthBytes: 8192 })).rejects.toThrow('LPA.LPEDS is 0')
  expect(await ctrl.errorLog()).toEqual([])
})

test('getFeature decodes DW0 and data by the declaration of the feature', async () => {
  await using ctrl = await open()
  expect((await ctrl.getFeature(VolatileWriteCache)).DW0).toEqual({ WCE: 1 })
  const power = await ctrl.getFeature(PowerManagement)
  expect(power).toMatchObject({ DW0: { PS: 0 }, data: undefined, raw: 0 })
  const under = await ctrl.getFeature(TemperatureThreshold, { CDW11: { THSEL: 1 } })
  const over = await ctrl.getFeature(TemperatureThreshold)
  expect(over.DW0.TMPTH).toBeGreaterThan(under.DW0.TMPTH)
  const { data } = await ctrl.getFeature(Timestamp)
  expect(data.TSTMPS).toMatchObject({ TSTMPO: 0 })
})

test('featureCapabilities returns the capabilities of a feature', async () => {
  await using ctrl = await open()
  expect(await ctrl.featureCapabilities(VolatileWriteCache)).toMatchObject({ CHANGEABLE: 1 })
})

test('a controller without ONCS.SSFS supports only the current value of a feature', async () => {
  await using ctrl = await open({ profile: deriveProfile('ideal', { identify: { ONCS: { NVMCMPS: 1 } } }) })
  await ctrl.getFeature(VolatileWriteCache)
  await expect(ctrl.getFeature(VolatileWriteCache, { select: 'default' })).rejects.toMatchObject({
    code: 'ERR_GPUNVME_UNSUPPORTED_COMMAND',
  })
  await expect(ctrl.featureCapabilities(VolatileWriteCache)).rejects.toThrow('ONCS.SSFS is 0')
})
