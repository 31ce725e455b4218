import { afterAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '@gpunvme/nvme-sim/conformance'
import { startQemu, type Qemu, type QemuNamespaceOptions } from '../src/transport/qtest/index.js'
import { qemuMissing, skippedNote } from './qemu.js'

// Validates the controller cases against QEMU's controller, an independent implementation. The specification decides in
// case of disagreement. Known deviations of QEMU are listed.

const noManagement = 'OACS bit 3 is 1, and Namespace Management (0Dh) is an Invalid Command Opcode'
// QEMU reads the descriptor that led to a segment again, after the segment has overwritten it.
const segmentOfSegment = 'a segment that ends in a Last Segment descriptor is taken for a last segment'

/** Cases that every version of QEMU fails, and how QEMU deviates. A case that passes must be removed from its list. */
const differences: Readonly<Record<string, string>> = {
  'aqa-reserved-bits-read-zero': 'AQA reads as it was written, reserved bits included',
  'asq-acq-reserved-bits-read-zero': 'ASQ and ACQ read as they were written, bits 11:0 included',
  'cc-reserved-bits-read-zero': 'CC reads as it was written, reserved bits included',
  'function-reset': 'AQA, ASQ and ACQ outlive a reset of the function',
  'reset-restores-features': 'a Controller Reset leaves Temperature Threshold as the host set it',
  'create-sq-on-the-admin-cq': 'every CQID that is wrong is Completion Queue Invalid (1/00)',
  'create-sq-on-a-cq-above-the-number-of-queues': 'every CQID that is wrong is Completion Queue Invalid (1/00)',
  'create-sq-before-iosqes':
    'CC.EN = 1 with IOSQES = 0h sets CSTS.CFS; from 10.0 on no CQ is created until IOSQES is set',
  'delete-cq-of-qid-0':
    'a CQ that cannot be deleted is Completion Queue Invalid (1/00), which is no status of this command',
  'delete-cq-that-does-not-exist': 'the same',
  'doorbell-event-cq-head-past-the-tail': 'a head past the entries that were posted is believed',
  'doorbell-mistake-stops-its-queue': 'an invalid tail is forgotten, and a valid one is taken after it',
  'admin-nsid-not-used': 'NSID of these commands is ignored',
  'io-opcodes-not-supported': 'Verify (0Ch) is done, and ONCS bit 7 is 0',
  'identify-descriptor-list': 'namespace 1, which the controller has by drive=, has no descriptor of NIDT 1h, 2h or 3h',
  'identify-without-nsid': 'Identify Controller ignores NSID',
  'feature-temperature-threshold-default': 'a Controller Reset leaves Temperature Threshold as the host set it',
  'features-select-default': 'a Controller Reset leaves Temperature Threshold as the host set it',
  'log-of-controller-with-nsid': 'the error log is returned for any NSID',
  'event-is-configured': 'setting a bit of Asynchronous Event Configuration reports no warning that is there already',
  'rw-prp1-not-dword-aligned': 'PRP1 is used with its bits 1:0',
  'sgl-segments': segmentOfSegment,
  'sgl-segments-of-bytes': segmentOfSegment,
  'sgl-type-reserved': 'a reserved type in the command itself is an Invalid SGL Segment Descriptor (0/0d)',
  'sgl-sub-type-reserved': 'the sub type of a descriptor is ignored',
  'format-secure-erase-reserved': 'a reserved SES is ignored',
  'namespace-life': noManagement,
  'namespace-attachment-outlives-a-reset': noManagement,
  'namespace-create-refusals': noManagement,
  'namespace-attachment-refusals': noManagement,
  'namespace-management-of-wrong-nsids': noManagement,
  'namespace-changes-are-listed': noManagement,
}

/** Cases that QEMU 7.2 fails, and 10.0 and 11.1 pass. */
const differencesBefore10: Readonly<Record<string, string>> = {
  'create-cq-before-iocqes': 'CC.EN = 1 with IOCQES = 0h sets CSTS.CFS',
  'entry-sizes-set-after-enabling': 'CC.EN = 1 with IOSQES = IOCQES = 0h sets CSTS.CFS',
  'admin-opcodes-not-supported': 'Virtualization Management (1Ch) is answered, and OACS bit 7 is 0',
  'identify-controller-lists': 'without a subsystem CNS 12h and 13h are refused, and OACS bit 3 is 1',
  'event-cleared-before-its-request': 'reading the log page leaves an event that waits for a request',
  'copy-above-its-limits': 'an invalid source range is an Internal Error (0/06)',
  'copy-out-of-range': 'an invalid source range is an Internal Error (0/06)',
}

/** Cases that QEMU 7.2 passes, and 10.0 and 11.1 fail. */
const differencesSince10: Readonly<Record<string, string>> = {
  'rw-namespace-broadcast': 'NSID FFFFFFFFh is an Invalid Namespace or Format (0/0b)',
}

/** Returns whether this version of QEMU is known to fail the case. Versions 8 and 9 are untested. */
function differs(id: string, major: number): boolean {
  return id in differences || id in (major < 10 ? differencesBefore10 : differencesSince10)
}

const noSubsystemReset = 'CAP.NSSRS is 0: no NVM Subsystem Reset'
const noWeights = 'CAP.AMS: no weighted round robin with urgent priority class'
const version1 = 'VS is 1.4, the requirement applies from 2.0 on'
const noFused = 'FUSES bit 0 is 0: no fused Compare and Write'
const noUncorrectable = 'ONCS bit 1 is 0: no Write Uncorrectable'
const noVerify = 'ONCS bit 7 is 0: no Verify'

/** Cases that are skipped for QEMU's controller: id and reason. */
const skips: Readonly<Record<string, string>> = {
  'nssr-reads-zero': noSubsystemReset,
  'subsystem-reset': noSubsystemReset,
  'subsystem-reset-occurred-is-cleared-by-one': noSubsystemReset,
  'subsystem-reset-ends-a-shutdown': noSubsystemReset,
  'round-robin-starves-no-queue': 'Arbitration Burst has no limit: all commands of a queue may be fetched in one turn',
  'weighted-round-robin-serves-all': noWeights,
  'urgent-commands-first': noWeights,
  'weights-share-the-controller': noWeights,
  'identify-broadcast-namespace': version1,
  'identify-command-set-controller': version1,
  'identify-command-set-namespace': version1,
  'logs-supported-are-those-that-answer': version1,
  'features-log-agrees': version1,
  'feature-write-cache-absent': 'VWC bit 0 is 1: there is a write cache',
  'features-saved': 'Temperature Threshold is not saveable',
  'error-log-entry': 'M is 0: the error log has no details',
  'sgl-not-dword-aligned': 'SGLS bits 1:0 are 01b: any alignment',
  'sgl-bit-bucket': 'SGLS bit 16 is 0: no Bit Buckets',
  'write-uncorrectable-out-of-range': noUncorrectable,
  'write-uncorrectable': noUncorrectable,
  'verify-out-of-range': noVerify,
  verify: noVerify,
  'fused-compare-and-write': noFused,
  'fused-compare-fails': noFused,
  'fused-in-turn': noFused,
  'fused-around-the-end-of-the-queue': noFused,
  'fused-second-missing': noFused,
  'fused-first-missing': noFused,
  'fused-ranges-differ': noFused,
}

const MIB = 1024 * 1024

/** NSID 3 is inactive, and the other namespaces have other block formats than namespace 1. */
const namespaces: readonly QemuNamespaceOptions[] = [
  { nsid: 1, imageBytes: 32 * MIB },
  { nsid: 2, imageBytes: 8 * MIB, blockBytes: 4096 },
  { nsid: 4, imageBytes: 8 * MIB, metadataBytes: 8 },
  { nsid: 5, imageBytes: 8 * MIB, metadataBytes: 64, metadataInData: true },
]

let machine: Qemu | undefined
let major = 0

/** Opens the controller, which earlier cases have left disabled, and keeps it for the next case. */
async function open() {
  machine ??= await startQemu({ controllers: [{ namespaces }] })
  major = machine.version.major
  return { ...machine.controllers[0]!.transport, close: () => Promise.resolve() }
}

/** Closes QEMU, since the state of its controller is unknown after a failure. */
async function discard(): Promise<void> {
  await machine?.close()
  machine = undefined
}

describe.skipIf(qemuMissing)(`controller cases on QEMU${skippedNote}`, () => {
  const skipped: Record<string, string> = {}
  afterAll(discard)

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      // A case that QEMU fails may wait for the whole limit. Other cases need a long limit only on a busy machine.
      const limit = differs(each.id, major) ? { commandLimitNs: 1e9 } : {}
      const result = await runControllerCase(each, open, limit)
      if (result.outcome === 'skipped') {
        skipped[each.id] = result.reason
        skip(result.reason)
      }
      if (result.outcome === 'failed') await discard()
      if (differs(each.id, major)) expect(result.outcome, 'the case passes: remove it from the list').toBe('failed')
      else if (result.outcome === 'failed') throw result.error
    })
  }

  it('skips exactly the listed cases, for the listed reasons', () => {
    expect(skipped).toEqual(skips)
  })

  it('lists only existing cases as differences', () => {
    const ids = controllerCases.map(({ id }) => id)
    const listed = [differences, differencesBefore10, differencesSince10].flatMap((list) => Object.keys(list))
    expect(listed.filter((id) => !ids.includes(id))).toEqual([])
  })
})
