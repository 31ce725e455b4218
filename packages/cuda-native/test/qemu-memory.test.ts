import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Controller } from '@gpunvme/host-driver'
import { qemuIsInstalled, startQemu } from '@gpunvme/host-driver/qtest'
import { isBuilt, native, skipped } from './native.js'

const MIB = 1024 * 1024
const qemuSkipped = qemuIsInstalled() ? '' : ' (skipped: [qemu] qemu-system-x86_64 is not installed)'

test.skipIf(!isBuilt || !qemuIsInstalled())(
  `memory of a QEMU machine is mapped into this process, and the controller reads and writes it there${skipped || qemuSkipped}`,
  async () => {
    await using qemu = await startQemu({ host: native, vramBytes: 4 * MIB, vramView: true })
    const { transport, serial, namespaces } = qemu.controllers[0]!
    await using ctrl = await Controller.open(transport, { queues: 2, write: { serial } })
    const ns = ctrl.namespace(1)
    const source = ns.dma.alloc(2 * MIB)
    const view = new Uint8Array(source.view!.buffer, source.view!.byteOffset, 2 * MIB)
    for (let index = 0; index < view.length; index++) view[index] = (index * 7 + (index >>> 9)) & 0xff
    await ns.write(64, (2 * MIB) / 512, source)
    await ns.flush()
    const stored = readFileSync(namespaces[0]!.image).subarray(64 * 512, 64 * 512 + 2 * MIB)
    expect(Buffer.compare(stored, view)).toBe(0)

    const target = transport.dma.alloc(2 * MIB, { where: 'gpu' })
    await ns.read(64, (2 * MIB) / 512, target)
    expect(Buffer.compare(new Uint8Array(target.view!.buffer, target.view!.byteOffset, 2 * MIB), view)).toBe(0)
    expect(Buffer.compare(qemu.vram!.read(target.iovaAt(0) - qemu.vram!.iova, 2 * MIB), view)).toBe(0)
    expect(qemu.misuse).toBe('')
  },
)
