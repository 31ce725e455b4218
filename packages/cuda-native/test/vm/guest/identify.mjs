// What the controller says of itself, as nvme-cli prints it by way of the kernel's driver and as we read it.
import { execFileSync } from 'node:child_process'
import { Controller } from '@gpunvme/host-driver'
import { blockDevice, fixed, openTransport, print, take } from './lib.mjs'

const { controller, path } = await blockDevice(fixed)
const nvme = (...args) => execFileSync('/usr/sbin/nvme', [...args, '-o', 'json'], { encoding: 'utf8' })
const printed = {
  controller: nvme('id-ctrl', `/dev/${controller}`),
  namespace: nvme('id-ns', path),
  health: nvme('smart-log', `/dev/${controller}`),
}
await using binding = await take(fixed)
const transport = await openTransport(binding)
try {
  await using ctrl = await Controller.open(transport)
  const raw = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('base64')
  print({
    printed,
    read: {
      controller: raw(ctrl.identity.raw),
      namespace: raw(ctrl.namespace(1).identity.raw),
    },
    blocks: ctrl.namespace(1).blocks,
  })
} finally {
  await transport.close()
}
