import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { findSignatures } from '../guard/signatures.js'

const KIB = 1024
const MIB = 1024 * KIB

/** A controller whose smallest memory page has 64 KiB: CAP.MPSMIN is 4 (Base 2.1 §3.1.4.1). It has no SGLs. */
const profile = deriveProfile('ideal', { CAP: { MPSMIN: 4, MPSMAX: 4 }, identify: { SGLS: 0 } })

test.each([
  ['contiguous', false],
  ['scattered', true],
])(
  'memory for transfers fits a controller with pages of 64 KiB and no SGLs, if memory is %s',
  async (_, fragmented) => {
    const simulation = simulate({ profile, fragmented, namespaces: [{ capacityBytes: 64 * MIB }] })
    const serial = profile.identify.SN!
    const ctrl = await Controller.open(simulation.transport, { write: { serial } })
    const ns = ctrl.namespace(1)
    for (const alignBytes of [undefined, 512, 65_536, MIB]) {
      const memory = ns.dma.alloc(MIB, alignBytes === undefined ? {} : { alignBytes })
      expect(memory.iovaAt(0) % Math.max(alignBytes ?? 0, 65_536)).toBe(0)
      new Uint8Array(memory.view!.buffer).fill(0x5a)
      await ns.write(0, (MIB - 4 * KIB) / ns.blockBytes, memory, { offsetBytes: 4 * KIB })
      await ns.read(0, MIB / ns.blockBytes, memory)
      expect(await ns.compare(0, MIB / ns.blockBytes, memory)).toBe(true)
      memory.free()
    }
    expect(new Set(await ns.readBytes(1000, MIB - 8 * KIB))).toEqual(new Set([0x5a]))
    expect(await findSignatures(ns)).toEqual([])
    expect(() => ns.dma.alloc(4096, { alignBytes: 3 })).toThrow('power of two')
    await ctrl.close()
    expect(simulation.diagnostics).toEqual([])
  },
)
