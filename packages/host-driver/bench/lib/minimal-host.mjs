// The least that reads blocks: no deadlines, no identifiers with a memory, no plan, no look at CSTS. What a driver is
// compared with over the same channel.

const CC_ENABLED = 0x0046_0001

/** Resets and enables the controller, and gives it one I/O queue pair of `entries`. */
export async function minimalHost({ bar, dma, clock }, entries) {
  const wait = async (ready) => {
    while ((bar.read32(0x1c) & 1) !== ready) await clock.idle(clock.now() + 1e6)
  }
  bar.write32(0x14, 0)
  await wait(0)
  const adminSq = dma.alloc(4096)
  const adminCq = dma.alloc(4096)
  bar.write32(0x24, 15 | (15 << 16))
  bar.write64(0x28, BigInt(adminSq.iovaAt(0)))
  bar.write64(0x30, BigInt(adminCq.iovaAt(0)))
  bar.write32(0x14, CC_ENABLED)
  await wait(1)
  let tail = 0
  const admin = async (opcode, iova, cdw10, cdw11) => {
    adminSq.view.setUint32(tail * 64, opcode | (tail << 16), true)
    adminSq.view.setBigUint64(tail * 64 + 24, BigInt(iova), true)
    adminSq.view.setUint32(tail * 64 + 40, cdw10, true)
    adminSq.view.setUint32(tail * 64 + 44, cdw11, true)
    adminSq.forDevice(0, 4096)
    bar.write32(0x1000, ++tail)
    const dw3 = tail * 16 - 4
    do {
      await clock.idle(clock.now() + 1e6)
      adminCq.forHost(0, 4096)
    } while (adminCq.view.getUint32(dw3, true) === 0)
    if (adminCq.view.getUint32(dw3, true) >>> 17 !== 0) throw new Error(`admin opcode ${opcode} failed`)
  }
  const sq = dma.alloc(entries * 64)
  const cq = dma.alloc(entries * 16)
  await admin(0x05, cq.iovaAt(0), 1 | ((entries - 1) << 16), 1)
  await admin(0x01, sq.iovaAt(0), 1 | ((entries - 1) << 16), 1 | (1 << 16))
  const state = { tail: 0, head: 0, phase: 1 }
  return {
    /** Reads `commands` times 4 KiB, block after block, with `entries - 1` in flight. */
    async read(commands, blockBytes, spanBlocks) {
      const depth = entries - 1
      const data = dma.alloc(depth * 4096)
      const blocks = 4096 / blockBytes
      const free = Array.from({ length: depth }, (_, slot) => slot)
      let submitted = 0
      for (let completed = 0; completed < commands;) {
        const from = state.tail
        while (free.length > 0 && submitted < commands) {
          const slot = free.pop()
          const at = state.tail * 64
          sq.view.setUint32(at, 0x02 | (slot << 16), true)
          sq.view.setUint32(at + 4, 1, true)
          sq.view.setBigUint64(at + 24, BigInt(data.iovaAt(slot * 4096)), true)
          sq.view.setUint32(at + 40, (submitted * blocks) % spanBlocks, true)
          sq.view.setUint32(at + 48, blocks - 1, true)
          state.tail = (state.tail + 1) % entries
          submitted++
        }
        if (state.tail !== from) {
          sq.forDevice(0, sq.lengthBytes)
          bar.write32(0x1008, state.tail)
        }
        cq.forHost(0, cq.lengthBytes)
        const before = state.head
        for (;;) {
          const dw3 = cq.view.getUint32(state.head * 16 + 12, true)
          if (((dw3 >>> 16) & 1) !== state.phase) break
          if (dw3 >>> 17 !== 0) throw new Error(`status ${(dw3 >>> 17).toString(16)}`)
          const slot = dw3 & 0xffff
          data.forHost(slot * 4096, 4096)
          free.push(slot)
          completed++
          state.head = (state.head + 1) % entries
          if (state.head === 0) state.phase ^= 1
        }
        if (state.head !== before) bar.write32(0x100c, state.head)
        else await clock.idle(clock.now() + 1e6)
      }
      data.free()
    },
    async close() {
      bar.write32(0x14, 0)
      await wait(0)
      for (const memory of [adminSq, adminCq, sq, cq]) memory.free()
    },
  }
}
