// Identify data and the SMART log, as nvme-cli prints them through the kernel's driver, and as this driver reads them.
import { execFileSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import { Controller } from '@gpunvme/host-driver'
import { LID, SmartHealthLog } from '@gpunvme/nvme-spec'
import { fixed, kernelDevices, openTransport, print, take } from './lib.js'

const { controller, namespace } = await kernelDevices(fixed)
const nvme = (...args: string[]) => execFileSync('/usr/sbin/nvme', [...args, '-o', 'json'], { encoding: 'utf8' })
const printed = {
  controller: nvme('id-ctrl', controller),
  namespace: nvme('id-ns', namespace),
  health: nvme('smart-log', controller),
}
await using binding = await take(fixed)
await using transport = await openTransport(binding)
await using ctrl = await Controller.open(transport)
const raw = ({ buffer, byteOffset, byteLength }: DataView) =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('base64')
const page = await ctrl.logPage(LID.SMART_HEALTH_INFORMATION, { lengthBytes: SmartHealthLog.bytes })
const health = await ctrl.smartLog()
const read = {
  controller: raw(ctrl.identity.raw),
  namespace: raw(ctrl.namespace(1).identity.raw),
  health: raw(page),
}
print({ printed, read, decoded: isDeepStrictEqual(health, SmartHealthLog.decode(page)), reads: String(health.HRC) })
