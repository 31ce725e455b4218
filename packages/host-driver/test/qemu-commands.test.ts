import { readFileSync, statSync } from 'node:fs'
import { CNS, IdentifyController, IdentifyNamespace, NamespaceManagement } from '@gpunvme/nvme-spec'
import { afterEach, describe, expect, test } from 'vitest'
import { Controller } from '../src/index.js'
import { startQemu, type Qemu, type QemuControllerOptions } from '../src/transport/qtest/index.js'
import { fillPattern, wrongBytes } from './pattern.js'
import { qemuMissing, skippedNote } from './qemu.js'

const MIB = 1024 * 1024
let qemu: Qemu

/** Starts QEMU, and opens its controller, whose first MiB contains a pattern. */
async function start(options: QemuControllerOptions = {}) {
  qemu = await startQemu({ controllers: [{ namespaces: [{ imageBytes: 64 * MIB }], ...options }] })
  const { transport, serial, namespaces } = qemu.controllers[0]!
  const ctrl = await Controller.open(transport, { write: { serial }, manage: true })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(MIB)
  fillPattern(memory, 0)
  await ns.write(0, MIB / ns.blockBytes, memory)
  await ns.flush()
  const pattern = new Uint8Array(memory.view!.buffer).slice(memory.view!.byteOffset, memory.view!.byteOffset + MIB)
  const image = namespaces[0]!.image
  const stored = (fromBlock: number, blocks: number) =>
    readFileSync(image).subarray(fromBlock * ns.blockBytes, (fromBlock + blocks) * ns.blockBytes)
  return { ctrl, ns, memory, pattern, image, stored }
}

describe.skipIf(qemuMissing)(`commands other than reads and writes on QEMU's controller${skippedNote}`, () => {
  afterEach(() => qemu.close())

  test('Write Zeroes and Deallocate change only their blocks of the image', async () => {
    const { ctrl, ns, image, pattern, stored } = await start()
    await ns.writeZeroes(100, 50)
    await ns.deallocate([{ slba: 1024, blocks: 512 }])
    await ns.flush()
    const expected = Buffer.from(pattern)
    expected.fill(0, 100 * 512, 150 * 512)
    expected.fill(0, 1024 * 512, 1536 * 512)
    expect(Buffer.compare(stored(0, 2048), expected)).toBe(0)
    // 256 KiB of the written MiB have become a hole.
    expect(statSync(image).blocks * 512).toBeLessThanOrEqual(MIB - 256 * 1024 + 64 * 1024)
    await ctrl.close()
    expect(qemu.misuse).toBe('')
  })

  test('Copy, which QEMU limits to 128 blocks per command, copies to the right blocks', async () => {
    const { ctrl, ns, pattern, stored } = await start()
    const sources = [
      { slba: 3, blocks: 300 },
      { slba: 1000, blocks: 5 },
    ]
    await ns.copy(sources, 9000)
    await ns.flush()
    expect(Buffer.compare(stored(9000, 300), pattern.subarray(3 * 512, 303 * 512))).toBe(0)
    expect(Buffer.compare(stored(9300, 5), pattern.subarray(1000 * 512, 1005 * 512))).toBe(0)
    expect(stored(9305, 1).every((byte) => byte === 0)).toBe(true)
    await ctrl.close()
    expect(qemu.misuse).toBe('')
  })

  test('Compare distinguishes equal and different blocks; Verify, which QEMU limits by VSL, succeeds', async () => {
    const { ctrl, ns, memory } = await start({ properties: { vsl: 1 } })
    expect(await ns.compare(0, 2048, memory)).toBe(true)
    memory.view!.setUint8(MIB - 1, memory.view!.getUint8(MIB - 1) ^ 1)
    expect(await ns.compare(0, 2048, memory)).toBe(false)
    expect(await ns.compare(0, 2047, memory)).toBe(true)
    // VSL allows 2 ^ 1 pages of 4 KiB. A longer command fails with Invalid Field in Command.
    await ns.verify(0, 100)
    await ctrl.close()
    // Only the Compare of different blocks failed: Compare Failure.
    expect(qemu.misuse).toMatch(/^pci_nvme_err_req_status cid \d+ nsid 1 status 0x285 opc 0x5\n$/)
  })

  test('Identify data and the SMART log match the options of QEMU', async () => {
    const { ctrl } = await start({ serial: 'LAB42', mdts: 6 })
    expect(await ctrl.identify(CNS.CONTROLLER, IdentifyController)).toMatchObject({ SN: 'LAB42', MDTS: 6 })
    expect(await ctrl.identify(CNS.NAMESPACE, IdentifyNamespace, { nsid: 1 })).toMatchObject({ NSZE: 131_072 })
    // Constants of QEMU: 323 K, and no warning of low spare capacity.
    const smart = await ctrl.smartLog()
    expect(smart).toMatchObject({ CTEMP: 323, CW: { ASCBT: 0 } })
    expect(smart.HWC).toBeGreaterThan(0n)
    expect(await ctrl.errorLog()).toEqual([])
    await ctrl.close()
    expect(qemu.misuse).toBe('')
  })

  test('Format NVM changes the block size of the namespace to 4096 bytes', async () => {
    const { ctrl, ns, memory } = await start()
    // QEMU's LBA formats 0 to 3 have blocks of 512 bytes, 4 to 7 of 4096. Formats 0 and 4 have no metadata.
    await ctrl.management.format(1, { lbaFormat: 4 })
    expect([ns.blockBytes, ns.blocks]).toEqual([4096, 16_384])
    fillPattern(memory, 9)
    await ns.write(16_000, 256, memory)
    memory.view!.setUint32(0, 0)
    await ns.read(16_000, 256, memory)
    expect(wrongBytes(memory, 9)).toBe(0)
    await ctrl.close()
    expect(qemu.misuse).toBe('')
  })

  test('a namespace can be detached and attached; Create, which QEMU lacks, returns its status', async () => {
    const { ctrl } = await start({ subsystem: 'nqn.2024-01.test:managed' })
    await ctrl.management.detach(1)
    expect(ctrl.namespaces).toEqual([])
    await ctrl.management.attach(1)
    expect(ctrl.namespaces.map(({ nsid }) => nsid)).toEqual([1])
    const { status } = await ctrl.management.submitAdmin(NamespaceManagement, { SEL: 0 })
    expect(status).toMatchObject({ sct: 0, sc: 1 })
    await ctrl.close()
  })
})
