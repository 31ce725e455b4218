import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import type { FaultRule, Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { onlyNeeded } from '../../test/only-needed.js'
import { Controller } from '../controller.js'
import { CutBar } from './cut-bar.js'

const MS = 1_000_000
const ALL_ONES = 0xffff_ffff
const LOST = { code: 'ERR_GPUNVME_DEVICE_LOST', csts: ALL_ONES }
/** Commands take time, so that the driver polls CSTS; the limits for CSTS are short. */
const PROFILE = deriveProfile('sn740', { enableNs: 3 * MS, resetNs: 2 * MS, shutdownNs: 3 * MS })

/** A simulated drive whose nth register read returns all ones; the drive itself does not change. */
class Blinking {
  readonly transport: Transport
  readonly simulation: ReturnType<typeof simulate>
  /** Number of the read that returns all ones, counted from now; 0 for none. */
  countdown = 0
  /** Every access after that read. */
  after: string[] = []
  private hasBlinked = false

  constructor(rules: readonly FaultRule[] = []) {
    this.simulation = simulate({ profile: PROFILE, faults: { rules } })
    const { transport } = this.simulation
    const { bar } = transport
    const read = <T>(offset: number, value: () => T, ones: T): T => {
      this.note('read', offset)
      if (this.countdown > 0 && --this.countdown === 0) {
        this.hasBlinked = true
        return ones
      }
      return value()
    }
    this.transport = {
      ...transport,
      bar: {
        lengthBytes: bar.lengthBytes,
        read32: (offset) => read(offset, () => bar.read32(offset), ALL_ONES),
        read64: (offset) => read(offset, () => bar.read64(offset), 0xffff_ffff_ffff_ffffn),
        write32: (offset, value) => {
          this.note('write', offset)
          bar.write32(offset, value)
        },
        write64: (offset, value) => {
          this.note('write', offset)
          bar.write64(offset, value)
        },
      },
    }
  }

  private note(verb: string, offset: number): void {
    if (this.hasBlinked) this.after.push(`${verb} ${offset.toString(16)}h`)
  }
}

/** Runs an action once for each of its register reads, which then returns all ones. Returns the codes of the errors. */
async function eachRead(action: (drive: Blinking, nth: number) => Promise<unknown>, rules?: FaultRule[]) {
  const errors: unknown[] = []
  for (let nth = 1; ; nth++) {
    const drive = new Blinking(rules)
    const error = await action(drive, nth).catch((thrown: unknown) => thrown)
    // The action has fewer reads.
    if (drive.countdown > 0) return errors
    expect(drive.after, `accesses after read ${nth}`).toEqual([])
    errors.push(error)
  }
}

describe('after a register was read as all ones', () => {
  test('open accesses no register and reports a lost device, for every read', async () => {
    // Identify takes so long that CSTS is read three times meanwhile.
    const slow = {
      match: { qid: 0, opcode: 6, nth: 1 },
      action: { kind: 'delay-completion', delayNs: 35 * MS },
    } as const
    const errors = await eachRead(
      (drive, nth) => {
        drive.countdown = nth
        return Controller.open(drive.transport)
      },
      [slow],
    )
    // VS, CAP, CC, AQA, ASQ, ACQ; and CSTS until the controller is ready and during Identify.
    expect(errors.length).toBe(14)
    for (const error of errors) expect(error).toMatchObject(LOST)
  })

  test.each([
    ['never falls', 'ready-never-falls', 8],
    ['never rises', 'ready-never-rises', 14],
  ] as const)('open of a controller whose CSTS.RDY %s accesses no register', async (_, kind, beforeGivingUp) => {
    const rules: FaultRule[] = [{ match: { fromNs: 1000 * MS }, action: { kind } }]
    const errors = await eachRead(async (drive, nth) => {
      const { clock, bar } = drive.transport
      // The state that a terminated process leaves.
      await Controller.open({ ...onlyNeeded(drive.transport), bar: new CutBar(bar) })
      while (clock.now() < 1000 * MS) await clock.idle(1000 * MS)
      drive.countdown = nth
      return Controller.open(onlyNeeded(drive.transport), { readyTimeoutNs: 3 * MS })
    }, rules)
    const codes = errors.map((error) => (error as { code?: string }).code)
    const lost = codes.filter((code) => code === LOST.code).length
    expect(lost).toBeGreaterThan(beforeGivingUp)
    // If disabling after a timeout also fails, the first error is reported.
    const later = codes.slice(lost)
    expect(later.length).toBeGreaterThan(0)
    expect(later.every((code) => code === 'ERR_GPUNVME_NOT_READY')).toBe(true)
  })

  test('close accesses no register and reports a lost device, for every read', async () => {
    const errors = await eachRead(async (drive, nth) => {
      const ctrl = await Controller.open(drive.transport)
      drive.countdown = nth
      return ctrl.close()
    })
    expect(errors.length).toBeGreaterThan(10)
    for (const error of errors) expect(error).toMatchObject(LOST)
  })

  test('a read of blocks reads CSTS once more to confirm the loss, and accesses no register after that', async () => {
    const drive = new Blinking([{ match: { qid: 1, opcode: 2 }, action: { kind: 'hang' } }])
    const { bar, ...others } = onlyNeeded(drive.transport)
    let isGone = false
    const read32 = (offset: number) => {
      if (isGone) drive.countdown = 1
      return bar.read32(offset)
    }
    const transport = { ...others, bar: { ...bar, read32 } }
    const ctrl = await Controller.open(transport)
    isGone = true
    await expect(ctrl.namespace(1).readBytes(0, 512)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    await ctrl.close()
    expect(drive.after).toEqual(['read 1ch'])
  })
})
