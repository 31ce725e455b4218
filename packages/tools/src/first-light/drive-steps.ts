import { Controller, HostEngine, type Namespace } from '@gpunvme/host-driver'
import { CAP } from '@gpunvme/nvme-spec'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { controllerFacts } from '../admin/identity-facts.js'
import { ToolsError } from '../command-line/tools-error.js'
import { lend } from '../drive/with-drive.js'
import { printable, typedName } from '../terminal/printable.js'
import { formatBytes, plural } from '../terminal/units.js'
import {
  compareReads,
  countUniform,
  describeUniform,
  ORACLES,
  readExtents,
  readReference,
  requireSameSize,
  type Reference,
} from './extents.js'
import type { Secrets } from './redact.js'
import type { ReadFacts, StepFacts } from './report.js'
import { secretsOfDrive } from './secrets.js'

/** Unit of CAP.TO: 500 ms (Base 2.1 §3.1.4.1). */
const TO_MS = 500
/** A stride of 0 stands for doorbells of 4 bytes. */
const DOORBELL_BYTES = 4

/**
 * Brings the controller up, records what it is, and registers its identifiers as secrets.
 * @param expected address and requested serial number of a drive on the bus. @throws ToolsError (NOT_CONFIRMED)
 */
export async function identifyDrive(
  transport: Transport,
  expected: { readonly bdf: string; readonly serial: string | undefined } | undefined,
  addSecrets: (secrets: Partial<Secrets>) => void,
  record: (facts: StepFacts) => void,
): Promise<string> {
  const startMs = performance.now()
  const controller = await Controller.open(transport)
  const bringUpMs = Math.round(performance.now() - startMs)
  try {
    addSecrets(secretsOfDrive(controller))
    if (expected?.serial !== undefined)
      requireSerial(controller.identity.serial, { ...expected, serial: expected.serial })
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
        model,
        firmware,
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

/** Checks --serial, also for a drive that was already bound. A drive without a serial number has its address instead. */
function requireSerial(found: string, { bdf, serial }: { readonly bdf: string; readonly serial: string }): void {
  const given = typedName(serial.trim())
  if ((found.trim() || bdf) === given) return
  throw new ToolsError('ERR_GPUNVME_NOT_CONFIRMED', 'privilege', `${bdf} is not the drive of --serial`, {
    facts: [`expected ${printable(given)}, got ${printable(found.trim() || bdf)}`],
    next: { command: ['list'], note: 'which lists the drives' },
  })
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
      const { length } = own.extents
      const note = describeUniform(countUniform(own.contents), length)
      return { reference: own, text: `${plural(length, 'extent')} read twice with the same result${note}` }
    }
    requireSameSize(reference, namespace)
    const reads = compareReads(reference, await readExtents(namespace, reference.extents, signal), record)
    return { reference, text: describeReads(reads) }
  })
}

export function describeReads({ extents, bytes, comparedWith, uniform }: ReadFacts): string {
  return `${plural(extents, 'extent')}, ${formatBytes(bytes)}: same bytes as ${ORACLES[comparedWith]}${describeUniform(uniform, extents)}`
}

/** Opens a controller with an engine, and lends a namespace as `lend` does. */
export async function withNamespace<T>(
  transport: Transport,
  engine: Engine,
  nsid: number | undefined,
  use: (namespace: Namespace) => Promise<T>,
): Promise<T> {
  const controller = await Controller.open(transport, { engine })
  return lend(controller, { nsid }, ({ namespace }) => use(namespace))
}
