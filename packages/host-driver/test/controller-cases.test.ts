import { afterAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '@gpunvme/nvme-sim/conformance'
import { Qemu, qemuMissing } from './qemu.js'

// QEMU's controller was written by others: it judges the cases as they judge it. Where they disagree the specification
// decides, and what was found to be QEMU's own is listed.

/** Cases that QEMU fails, and why it is QEMU that differs. One that begins to pass must leave this list. */
const differences: Readonly<Record<string, string>> = {
  'aqa-reserved-bits-read-zero': 'AQA reads as it was written, reserved bits included',
  'asq-acq-reserved-bits-read-zero': 'ASQ and ACQ read as they were written, bits 11:0 included',
  'cc-reserved-bits-read-zero': 'CC reads as it was written, reserved bits included',
  'reset-restores-features': 'a Controller Reset leaves Temperature Threshold as the host set it',
}

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'

/** Cases that QEMU's controller need not pass: id and reason. */
const skips: Readonly<Record<string, string>> = {
  'nssr-reads-zero': noSubsystemReset,
  'subsystem-reset': noSubsystemReset,
  'subsystem-reset-occurred-is-cleared-by-one': noSubsystemReset,
  'subsystem-reset-ends-a-shutdown': noSubsystemReset,
  'function-reset': 'the transport cannot reset the function',
}

let machine: Qemu | undefined

/** The controller is left disabled by the case before, and nothing holds its memory. */
function open() {
  machine ??= new Qemu({ imageBytes: 32 * 1024 * 1024 })
  machine.forgetMemory()
  return Promise.resolve(machine.transport)
}

/** After a failure nobody knows what state the controller is in. */
function discard(): void {
  machine?.close()
  machine = undefined
}

describe.skipIf(qemuMissing)(`controller cases on QEMU${qemuMissing ? ` (skipped: ${qemuMissing})` : ''}`, () => {
  const skipped: Record<string, string> = {}
  afterAll(discard)

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open, { commandLimitNs: 1e9 })
      if (result.outcome === 'skipped') {
        skipped[each.id] = result.reason
        skip(result.reason)
      }
      if (result.outcome === 'failed') discard()
      if (each.id in differences) expect(result.outcome, 'it passes now: take it from the list').toBe('failed')
      else if (result.outcome === 'failed') throw result.error
    })
  }

  it('skips the cases that are listed, for the reasons that are listed', () => {
    expect(skipped).toEqual(skips)
  })

  it('lists as differences only cases that exist', () => {
    const ids = controllerCases.map(({ id }) => id)
    expect(Object.keys(differences).filter((id) => !ids.includes(id))).toEqual([])
  })
})
