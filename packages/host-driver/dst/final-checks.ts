import { holds, RunFailure } from '@gpunvme/nvme-sim/dst'
import type { Host } from './host.js'
import type { FaultKind } from './random-faults.js'
import type { World } from './world.js'

type Cause = FaultKind | 'loss of power'

/**
 * Diagnostics that faults excuse: part of the text, then the faults. One of them is sufficient; the faults of an inner
 * list must occur together.
 */
const EXCUSED: readonly (readonly [text: string, ...kinds: (Cause | readonly Cause[])[]])[] = [
  ['host cleared CC.EN before CSTS.RDY became 1', 'ready-never-rises', 'fatal-status', 'read-value', 'delay-write'],
  ['host set CC.EN before CSTS.RDY became 0', 'read-value'],
  ['but the queue does not exist', 'read-value'],
  // The reset came between the driver's read of CSTS and the access.
  ['but CSTS.RDY is 0', 'read-value', 'surprise-reset', 'loss of power'],
  // A reset cleared AQA after the driver had written it, and before the delayed write of CC.EN arrived.
  ['AQA gives 1 and 1 entries', ['delay-write', 'surprise-reset']],
  // `faulty` clears Bus Master Enable when it removes the device; a delayed doorbell write arrives after that.
  ['but Bus Master Enable is 0', ['delay-write', 'remove-device']],
]

/** Checks the diagnostics of the simulator. @throws RunFailure for a diagnostic that no fault excuses. */
export function checkDiagnostics({ injected, powerLosses, simulation }: World): void {
  const causes = [...Object.keys(injected), ...(powerLosses > 0 ? ['loss of power'] : [])]
  const wereInjected = (together: Cause | readonly Cause[]) => [together].flat().every((kind) => causes.includes(kind))
  const first = simulation.diagnostics.find(
    ({ text }) => !EXCUSED.some(([part, ...by]) => text.includes(part) && by.some(wereInjected)),
  )
  if (first !== undefined) throw new RunFailure('diagnostics', first.text)
}

/** Compares the media with their possible contents, without the driver. @throws RunFailure */
export function checkMedium({ medium, world }: Host): void {
  const began = medium.tick()
  for (const { shape, media } of world.media.values()) {
    const { nsid, blockBytes, blocks } = shape
    const block = new Uint8Array(blockBytes)
    for (let lba = 0; lba < blocks; lba++) {
      media.read(lba * blockBytes, block)
      if (medium.possibleContents(nsid, lba, began).some((content) => holds(block, content))) continue
      throw new RunFailure('medium', `NSID ${nsid} LBA ${lba} has none of its possible contents`)
    }
  }
  const { withMetadata } = world
  if (withMetadata === undefined) return
  const bytes = new Uint8Array(withMetadata.capacityBytes)
  withMetadata.read(0, bytes)
  if (bytes.some((byte) => byte !== 0)) throw new RunFailure('medium', 'the namespace with metadata was written to')
}
