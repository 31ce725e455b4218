import { Controller, HostEngine, type Namespace } from '@gpunvme/host-driver'
import { CAP } from '@gpunvme/nvme-spec'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { controllerFacts } from '../admin/identity-facts.js'
import { formatBytes, plural } from '../terminal/units.js'
import { compareReads, ORACLES, readExtents, readReference, type Reference } from './extents.js'
import type { Redactor } from './redact.js'
import type { ReadFacts, StepFacts } from './report.js'
import { secretsOfDrive } from './secrets.js'

/** Unit of CAP.TO: 500 ms (Base 2.1 §3.1.4.1). */
const TO_MS = 500
/** A stride of 0 stands for doorbells of 4 bytes. */
const DOORBELL_BYTES = 4

/** Brings the controller up, and records what it is. From here on, the redactor knows its identifiers. */
export async function identifyDrive(
  transport: Transport,
  redactor: Redactor,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const startMs = performance.now()
  const controller = await Controller.open(transport)
  const bringUpMs = Math.round(performance.now() - startMs)
  try {
    redactor.add(secretsOfDrive(controller))
    const cap = controller.registers.read(CAP)
    const { model, firmware, version, maxTransferBytes, maxQueueEntries } = controllerFacts(
      controller.identity.raw,
      cap,
    )
    const namespaces = controller.namespaces.map(({ nsid, blocks, blockBytes, identity }) => {
      return { nsid, blocks, blockBytes, isSupported: identity.unsupported === undefined }
    })
    record({
      controller: {
        model: redactor.text(model),
        firmware: redactor.text(firmware),
        nvmeVersion: version ?? null,
        namespaces,
        queues: controller.queues,
        queueDepth: controller.queueDepth,
        maxTransferBytes: maxTransferBytes ?? null,
        readyTimeoutMs: CAP.TO.of(cap) * TO_MS,
        maxQueueEntries: maxQueueEntries!,
        doorbellStrideBytes: DOORBELL_BYTES * 2 ** CAP.DSTRD.of(cap),
        bringUpMs,
      },
    })
    const bytes = namespaces.reduce((sum, { blocks, blockBytes }) => sum + blocks * blockBytes, 0)
    return `${model}, firmware ${firmware}, ${plural(namespaces.length, 'namespace')}, ${formatBytes(bytes)}`
  } finally {
    await controller.close()
  }
}

/**
 * Reads by the engine host, and compares with the reference; without one, reads twice.
 * @returns the reference for further reads, and the result as text
 */
export async function readByCpu(
  transport: Transport,
  nsid: number | undefined,
  reference: Reference | undefined,
  signal: AbortSignal,
  record: (facts: StepFacts) => void,
): Promise<{ readonly reference: Reference; readonly text: string }> {
  return withNamespace(transport, new HostEngine(transport), nsid ?? reference?.nsid, async (namespace) => {
    if (reference === undefined) {
      const own = await readReference(namespace, signal, record)
      return { reference: own, text: `${plural(own.extents.length, 'extent')} read twice with the same result` }
    }
    const reads = compareReads(reference, await readExtents(namespace, reference.extents, signal), record)
    return { reference, text: describeReads(reads) }
  })
}

export function describeReads({ extents, bytes, comparedWith }: ReadFacts): string {
  return `${plural(extents, 'extent')}, ${formatBytes(bytes)}: every byte as in ${ORACLES[comparedWith]}`
}

/**
 * Opens a controller, lends a namespace of it, by default the first one, and closes it.
 * @param onUnclosed called if the controller could not be closed, and may still access memory
 */
export async function withNamespace<T>(
  transport: Transport,
  engine: Engine,
  nsid: number | undefined,
  use: (namespace: Namespace) => Promise<T>,
  onUnclosed?: () => void,
): Promise<T> {
  const controller = await Controller.open(transport, { engine })
  let result: T
  try {
    result = await use(controller.namespace(nsid ?? controller.namespaces[0]?.identity.nsid ?? 1))
  } catch (error) {
    // The first error is reported.
    await controller.close().catch(() => onUnclosed?.())
    throw error
  }
  try {
    await controller.close()
  } catch (error) {
    onUnclosed?.()
    throw error
  }
  return result
}
