import { CNS, Flush, Identify, IdentifyController, LID, TemperatureThreshold } from '@gpunvme/nvme-spec'
import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.js'

const MIB = 1024 * 1024
const SERIAL = 'SIM00001'

/** Opens a managed controller, and records the commands that it fetches afterwards. */
async function open() {
  const fetched: string[] = []
  const simulation = simulate({
    profile: deriveProfile('ideal', { identify: { SN: SERIAL } }),
    namespaces: [{ capacityBytes: 8 * MIB }],
    spareCapacityBytes: 16 * MIB,
    trace: ({ name, command }) => {
      if (name === 'fetch') fetched.push(command!.text)
    },
  })
  const ctrl = await Controller.open(simulation.transport, { write: { serial: SERIAL }, manage: true })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await ns.write(0, 8, memory)
  fetched.length = 0
  return { ctrl, ns, memory, fetched }
}

type Opened = Awaited<ReturnType<typeof open>>

const calls: Readonly<Record<string, (opened: Opened, options: { timeoutNs: number }) => Promise<unknown>>> = {
  read: ({ ns, memory }, options) => ns.read(0, 8, memory, options),
  write: ({ ns, memory }, options) => ns.write(0, 8, memory, options),
  verify: ({ ns }, options) => ns.verify(0, 8, options),
  compare: ({ ns, memory }, options) => ns.compare(0, 8, memory, options),
  writeZeroes: ({ ns }, options) => ns.writeZeroes(0, 8, options),
  deallocate: ({ ns }, options) => ns.deallocate([{ slba: 0, blocks: 8 }], options),
  copy: ({ ns }, options) => ns.copy([{ slba: 0, blocks: 8 }], 64, options),
  flush: ({ ns }, options) => ns.flush(options),
  identify: ({ ctrl }, options) => ctrl.identify(CNS.CONTROLLER, IdentifyController, options),
  smartLog: ({ ctrl }, options) => ctrl.smartLog(options),
  errorLog: ({ ctrl }, options) => ctrl.errorLog(1, options),
  logPage: ({ ctrl }, options) => ctrl.logPage(LID.SMART_HEALTH_INFORMATION, { lengthBytes: 512, ...options }),
  getFeature: ({ ctrl }, options) => ctrl.getFeature(TemperatureThreshold, options),
  featureCapabilities: ({ ctrl }, options) => ctrl.featureCapabilities(TemperatureThreshold, options),
  setFeature: ({ ctrl }, options) =>
    ctrl.management.setFeature(TemperatureThreshold, { CDW11: { TMPTH: 343 }, ...options }),
  format: ({ ctrl }, options) => ctrl.management.format(1, { lbaFormat: 0, ...options }),
  createNamespace: ({ ctrl }, options) => ctrl.management.createNamespace({ blocks: 2048 }, options),
  attach: ({ ctrl }, options) => ctrl.management.attach(1, undefined, options),
  detach: ({ ctrl }, options) => ctrl.management.detach(1, undefined, options),
  deleteNamespace: ({ ctrl }, options) => ctrl.management.deleteNamespace(1, options),
  submitAdmin: ({ ctrl }, options) => ctrl.management.submitAdmin(Identify, { CNS: CNS.CONTROLLER }, options),
  submitIo: ({ ctrl }, options) => ctrl.management.submitIo(Flush, { NSID: 1 }, options),
}

describe.each(Object.entries(calls))('%s', (_, call) => {
  test('rejects an invalid time-out before anything is sent', async () => {
    const opened = await open()
    for (const timeoutNs of [Infinity, NaN, 0, -1, null as never, '5' as never]) {
      const refusal = call(opened, { timeoutNs })
      await expect(refusal).rejects.toThrow(typeof timeoutNs === 'number' ? RangeError : TypeError)
      await expect(refusal).rejects.toThrow('timeoutNs: expected a finite number of nanoseconds above 0')
    }
    expect(opened.fetched).toEqual([])
    await opened.ctrl.close()
  })
})
